"""NVIDIA's device plugin: it tells the kubelet of the GPUs. Without it an AL2023 GPU node never becomes ready."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi

from spotproof.clouds.contract import Cluster, Scheduling
from spotproof.clouds.helm import mirrored, release
from spotproof.operators.common import options, required
from spotproof.operators.versions import GPU_PLUGIN
from spotproof.settings import Environment
from spotproof.vocabulary import TOLERATIONS

NAMESPACE: Final = "nvidia-device-plugin"
"""Its own: it mounts the host's paths, which a restricted namespace refuses."""


def install(name: str, environment: Environment, cluster: Cluster) -> pulumi.Resource | None:
    """Install the plugin on the pools that have accelerators; nothing where there is none."""
    pools = [cluster.pools[name] for name in sorted(cluster.pools) if cluster.pools[name].accelerator]
    if not pools:
        return None
    return release(
        f"{name}-gpu-plugin",
        GPU_PLUGIN,
        namespace=NAMESPACE,
        version=environment.operators.gpu_plugin.version,
        values=values(pools, environment.image_registry),
        mirror=environment.image_registry,
        opts=options(cluster),
    )


def values(pools: Sequence[Scheduling], mirror: str | None) -> Mapping[str, Any]:
    """One pod on every node of these pools, by the pools' own labels.

    The chart's own affinity waits for node feature discovery, or for a label the image may or may not write. The
    tolerations replace the chart's, which know the GPU taint alone and would leave spot nodes out.
    """
    own = [toleration for pool in pools for toleration in pool.tolerations]
    return {
        **({"image": {"repository": mirrored("nvcr.io/nvidia/k8s-device-plugin", mirror)}} if mirror else {}),
        "affinity": {"nodeAffinity": required(_terms(pools))},
        "tolerations": [dict(one) for one in dict.fromkeys(tuple(each.items()) for each in [*TOLERATIONS, *own])],
    }


def _terms(pools: Sequence[Scheduling]) -> list[dict[str, Any]]:
    """One term for all pools that are told by the value of one label, and one for each that has several labels."""
    values: dict[str, list[str]] = {}
    several: list[list[dict[str, Any]]] = []
    for pool in pools:
        labels = list(pool.node_selector.items())
        if len(labels) == 1:
            values.setdefault(labels[0][0], []).append(labels[0][1])
        else:
            several.append([_in(key, [value]) for key, value in labels])
    return [{"matchExpressions": term} for term in [*([_in(key, found)] for key, found in values.items()), *several]]


def _in(key: str, values: list[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": values}
