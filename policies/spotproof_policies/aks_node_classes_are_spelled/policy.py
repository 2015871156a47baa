"""The words of an AKSNodeClass are those of its definition, which no preview can ask: AKS installs it."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.karpenter_pools import AKS_NODE_CLASS
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, number, text

_WORDS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("gpu", "mode"): ("Driver", "None"),
    ("imageFamily",): ("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"),
    ("fipsMode",): ("FIPS", "Disabled"),
    ("localDNS", "mode"): ("Preferred", "Required", "Disabled"),
    ("kubelet", "cpuManagerPolicy"): ("none", "static"),
}
"""Of karpenter.azure.com/v1beta1, Azure/karpenter-provider-azure v1.14.2. The pages of AKS show `driver`, which the
definition refuses."""
_DISK_GB: Final = (30, 2048)


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every word that the API server would refuse."""
    spec = at(resource.props, "spec")
    for path, allowed in _WORDS.items():
        value = at(spec, *path)
        if value is not None and text(value) not in allowed:
            yield (
                f"spec.{'.'.join(path)} is {text(value) or 'not a string'}, which the API server refuses; no node of "
                f"this class is ever made. Write one of {', '.join(allowed)}, with these capitals."
            )
    size = number(at(spec, "osDiskSizeGB"))
    if size is not None and not _DISK_GB[0] <= size <= _DISK_GB[1]:
        yield (
            f"spec.osDiskSizeGB is {size:g}, which the API server refuses. "
            f"Write {_DISK_GB[0]} to {_DISK_GB[1]}, or leave it out for 128."
        )


POLICY = Policy(
    name="aks-node-classes-are-spelled",
    description="An AKSNodeClass uses the words of its definition, in their capitals.",
    level="mandatory",
    severity="medium",
    remedy="Write gpu.mode as Driver or None, and the other words as the sentence lists them.",
    url="https://learn.microsoft.com/azure/aks/node-auto-provisioning-aksnodeclass",
    judges=EachResource((AKS_NODE_CLASS,), check),
)
