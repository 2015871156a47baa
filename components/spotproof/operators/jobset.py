"""JobSet: gangs of Jobs that restart together."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.clouds.helm import mirrored, release
from spotproof.operators.common import options, placed
from spotproof.operators.versions import JOBSET
from spotproof.settings import Environment

NAMESPACE: Final = "jobset-system"


def install(name: str, environment: Environment, cluster: Cluster) -> pulumi.Resource:
    """Install JobSet. While its manager is down no pod of a JobSet can be created: its webhook fails closed."""
    return release(
        f"{name}-jobset",
        JOBSET,
        namespace=NAMESPACE,
        version=environment.operators.jobset.version,
        values=values(cluster, environment.image_registry),
        mirror=environment.image_registry,
        opts=options(cluster),
    )


def values(cluster: Cluster, mirror: str | None) -> Mapping[str, Any]:
    """Two replicas, one of which leads, on nodes that stay; a drain takes one at a time.

    Both answer webhooks. The chart requests 0.5 CPU for each; half of that here, since two small nodes carry all
    operators, and the limit stays at the chart's 2.
    """
    return {
        **({"image": {"repository": mirrored("registry.k8s.io/jobset/jobset", mirror)}} if mirror else {}),
        "controller": {
            "replicas": 2,
            "leaderElection": {"enable": True},
            "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
            "resources": {"requests": {"cpu": "250m", "memory": "128Mi"}, "limits": {"memory": "4Gi"}},
            **placed(JOBSET.name, cluster.system_scheduling),
        },
    }
