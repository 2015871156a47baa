"""How an operator hangs in its cluster."""

from typing import Any

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.manifests.scheduling import Placement


def options(cluster: Cluster) -> pulumi.ResourceOptions:
    """After the nodes it runs on; and gone with the cluster, not before.

    RayJobs carry a finalizer that only KubeRay lifts: an operator uninstalled first leaves namespaces that never go.
    Where the cluster stays, the operators are uninstalled, after the workspaces that were made after them.
    """
    return pulumi.ResourceOptions(
        provider=cluster.kubernetes_provider,
        depends_on=list(cluster.ready),
        deleted_with=cluster.lifetime,
    )


def placed(chart: str, scheduling: Placement) -> dict[str, Any]:
    """Where the pods of a chart run: on nodes for operators, two replicas on two of them where there are two."""
    return {
        "nodeSelector": dict(scheduling.node_selector),
        "tolerations": [dict(one) for one in scheduling.tolerations],
        "affinity": {**_apart(chart), **_off(scheduling)},
    }


def _off(scheduling: Placement) -> dict[str, Any]:
    """Node affinity that keeps off certain nodes; NotIn also holds for nodes without the label."""
    if not scheduling.keeps_off:
        return {}
    off = [{"key": key, "operator": "NotIn", "values": [*values]} for key, values in scheduling.keeps_off.items()]
    return {"nodeAffinity": required([{"matchExpressions": off}])}


def required(terms: list[dict[str, Any]]) -> dict[str, Any]:
    """Node affinity that a pod does not run without: one of the terms holds."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _apart(chart: str) -> dict[str, Any]:
    # By the label every one of these charts puts on its pods: `app.kubernetes.io/name`, the chart's name.
    term = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": chart}},
        "topologyKey": "kubernetes.io/hostname",
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
