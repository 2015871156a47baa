"""The disk that holds container images is larger than the smallest that clouds offer."""

from collections.abc import Iterator
from typing import Any, Final

from spotproof_policies.aks_pools import AKS_AGENT_POOL
from spotproof_policies.gke_pools import GKE_NODE_POOL
from spotproof_policies.karpenter_pools import AKS_NODE_CLASS, EC2_NODE_CLASS
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import buys_spot, pools_in, trains
from spotproof_policies.reading import at, gibibytes, number, rows, text

# Karpenter's default volume on AWS, and too small: one training image with CUDA is 10 to 20 GB before it is unpacked.
_DEFAULT_GIB = 20
_BOTTLEROCKET_DATA = "/dev/xvdb"
_FIELDS: Final = {
    AKS_NODE_CLASS: "spec.osDiskSizeGB",
    AKS_AGENT_POOL: "osDiskSizeGB",
    GKE_NODE_POOL: "nodeConfig.diskSizeGb",
}


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield a disk that is left at, or below, the limit. Where a cloud's own default is larger, silence is fine."""
    if resource.type == EC2_NODE_CLASS:
        yield from _of_ec2(resource, config["moreThanGib"])
        return
    size = _written_gib(resource)
    if size is not None and size <= config["moreThanGib"]:
        yield _too_small(size, f"Write more than {config['moreThanGib']:g} in {_FIELDS[resource.type]}.")


def _written_gib(resource: Resource) -> float | None:
    if resource.type == AKS_NODE_CLASS:
        return number(at(resource.props, "spec", "osDiskSizeGB"))
    # A small pool for services of a cluster does not pull training images.
    sizes = (pool.disk_gib for pool in pools_in(resource) if trains(pool) or buys_spot(pool) or pool.buys_gpus)
    return next(sizes, None)


def _of_ec2(resource: Resource, more_than_gib: float) -> Iterator[str]:
    spec = at(resource.props, "spec")
    # With RAID0 kubelet and containerd live on the local NVMe disks instead.
    if at(spec, "instanceStorePolicy") == "RAID0":
        return
    sizes = [size for mapping in rows(at(spec, "blockDeviceMappings")) if (size := _image_disk(spec, mapping))]
    largest = max(sizes, default=_DEFAULT_GIB)
    if largest <= more_than_gib:
        yield _too_small(
            largest,
            f"Write more than {more_than_gib:g}Gi in spec.blockDeviceMappings "
            f"({_BOTTLEROCKET_DATA} on Bottlerocket, /dev/xvda on AL2023).",
        )


def _too_small(gib: float, remedy: str) -> str:
    return (
        f"The disk that holds container images is {gib:g} GiB, so pulling a training image fills it and the kubelet "
        f"evicts the job. {remedy}"
    )


def _image_disk(spec: Any, mapping: Any) -> float | None:
    families = [text(at(spec, "amiFamily"))]
    families += [text(at(term, "alias")) for term in rows(at(spec, "amiSelectorTerms"))]
    bottlerocket = any(family.lower().startswith("bottlerocket") for family in families)
    if bottlerocket and at(mapping, "deviceName") != _BOTTLEROCKET_DATA:
        return None
    return gibibytes(at(mapping, "ebs", "volumeSize"))


POLICY = Policy(
    name="node-disks-hold-images",
    description="The disk of a node has room for training images.",
    level="mandatory",
    severity="medium",
    remedy="Write `pools[].diskGib`; in a program of your own, the field that the sentence names.",
    url="https://karpenter.sh/docs/concepts/nodeclasses/",
    judges=EachResource((EC2_NODE_CLASS, *_FIELDS), check),
    config_schema={
        "moreThanGib": {
            "type": "number",
            "minimum": 0,
            "default": _DEFAULT_GIB,
            "description": "The size in GiB that a disk has to exceed.",
        }
    },
)
