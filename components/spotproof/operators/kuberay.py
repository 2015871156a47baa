"""KubeRay: Ray clusters and RayJobs."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.clouds.helm import mirrored, release
from spotproof.operators.common import options, placed
from spotproof.operators.versions import KUBERAY
from spotproof.settings import Environment

NAMESPACE: Final = "kuberay-system"


def install(name: str, environment: Environment, cluster: Cluster) -> pulumi.Resource:
    """Install the KubeRay operator with its CRDs."""
    return release(
        f"{name}-kuberay",
        KUBERAY,
        namespace=NAMESPACE,
        version=environment.operators.kuberay.version,
        values=values(cluster, environment.image_registry),
        mirror=environment.image_registry,
        opts=options(cluster),
    )


def values(cluster: Cluster, mirror: str | None) -> Mapping[str, Any]:
    """Two replicas, one of which leads, on nodes that stay. The chart has no disruption budget.

    The chart's limits are 0.1 CPU and 512 MiB. It needs about 1 MB a Ray pod (the chart's own note), so 1 GiB serves a
    thousand; and a throttled operator is slow just when an eviction makes it busy.
    """
    return {
        **({"image": {"repository": mirrored("quay.io/kuberay/operator", mirror)}} if mirror else {}),
        "replicas": 2,
        "leaderElectionEnabled": True,
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
        **placed(KUBERAY.name, cluster.system_scheduling),
    }
