"""How an operator hangs in its cluster."""

from typing import Any

import pulumi

from spotproof.clouds.contract import Cluster


def options(cluster: Cluster) -> pulumi.ResourceOptions:
    """After the nodes it runs on; and gone with the cluster, not before.

    RayJobs carry a finalizer that only KubeRay lifts: an operator uninstalled first leaves namespaces that never go.
    """
    return pulumi.ResourceOptions(
        provider=cluster.kubernetes_provider,
        depends_on=list(cluster.ready),
        deleted_with=cluster.lifetime,
    )


def apart(chart: str) -> dict[str, Any]:
    """Affinity that keeps two replicas of a chart on two nodes, where there are two; for charts that have none.

    By the label every one of these charts puts on its pods: `app.kubernetes.io/name`, the chart's name.
    """
    term = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": chart}},
        "topologyKey": "kubernetes.io/hostname",
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
