"""The disk that holds container images is larger than the default."""

from collections.abc import Iterator
from typing import Any

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import EC2_NODE_CLASS
from spotproof_policies.reading import at, gibibytes, rows, text

# Karpenter's default volume, and too small: one training image with CUDA is 10 to 20 GB before it is unpacked.
_DEFAULT_GIB = 20
_BOTTLEROCKET_DATA = "/dev/xvdb"


def check(resource: Resource, config: Config) -> Iterator[str]:
    """Yield a node class whose image disk is left at, or below, the default."""
    spec = at(resource.props, "spec")
    # With RAID0 kubelet and containerd live on the local NVMe disks instead.
    if at(spec, "instanceStorePolicy") == "RAID0":
        return
    sizes = [size for mapping in rows(at(spec, "blockDeviceMappings")) if (size := _image_disk(spec, mapping))]
    largest = max(sizes, default=_DEFAULT_GIB)
    if largest <= config["moreThanGib"]:
        yield (
            f"The disk that holds container images is {largest:g} GiB, so pulling a training image fills it and the "
            f"kubelet evicts the job. Write more than {config['moreThanGib']:g}Gi in spec.blockDeviceMappings "
            f"({_BOTTLEROCKET_DATA} on Bottlerocket, /dev/xvda on AL2023)."
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
    remedy="Write `pools[].diskGib`; in a program of your own, spec.blockDeviceMappings[].ebs.volumeSize.",
    url="https://karpenter.sh/docs/concepts/nodeclasses/",
    judges=EachResource((EC2_NODE_CLASS,), check),
    config_schema={
        "moreThanGib": {
            "type": "number",
            "minimum": 0,
            "default": _DEFAULT_GIB,
            "description": "The size in GiB that a disk has to exceed.",
        }
    },
)
