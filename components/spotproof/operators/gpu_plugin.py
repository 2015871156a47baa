"""NVIDIA's device plugin: it tells the kubelet of the GPUs. Without it an AL2023 GPU node never becomes ready."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from spotproof.clouds.contract import Cluster
from spotproof.clouds.helm import mirrored, release
from spotproof.operators.common import options
from spotproof.operators.versions import GPU_PLUGIN
from spotproof.settings import Environment
from spotproof.vocabulary import POOL_LABEL, TOLERATIONS

NAMESPACE: Final = "nvidia-device-plugin"
"""Its own: it mounts the host's paths, which a restricted namespace refuses."""


def install(name: str, environment: Environment, cluster: Cluster) -> pulumi.Resource | None:
    """Install the plugin on the pools that have accelerators; nothing where there is none."""
    pools = sorted(pool for pool, scheduling in cluster.pools.items() if scheduling.accelerator)
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


def values(pools: list[str], mirror: str | None) -> Mapping[str, Any]:
    """One pod on every node of these pools, by the pool's own label.

    The chart's own affinity waits for node feature discovery, or for a label the image may or may not write. The
    tolerations replace the chart's, which know the GPU taint alone and would leave spot nodes out.
    """
    of_pools = {"key": POOL_LABEL, "operator": "In", "values": pools}
    return {
        **({"image": {"repository": mirrored("nvcr.io/nvidia/k8s-device-plugin", mirror)}} if mirror else {}),
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [of_pools]}]
                }
            }
        },
        "tolerations": [dict(one) for one in TOLERATIONS],
    }
