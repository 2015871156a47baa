"""Reads Helm releases: which chart, and where its pods may land."""

from collections.abc import Mapping
from typing import Any, Final

from spotproof_policies.model import Resource, Stack
from spotproof_policies.reading import at, table, text

HELM_RELEASE: Final = "kubernetes:helm.sh/v3:Release"

NODE_SELECTORS: Final[dict[str, tuple[str, ...]]] = {
    "karpenter": ("nodeSelector",),
    "kuberay-operator": ("nodeSelector",),
    "jobset": ("controller", "nodeSelector"),
}
"""Operator chart -> where its values keep the node selector. A chart that is not here is not an operator of
ours and is not judged; DaemonSet charts such as nvidia-device-plugin have to follow the GPU nodes."""


def chart(release: Resource) -> str:
    """The chart's bare name: `oci://registry/karpenter/karpenter` is `karpenter`."""
    return text(at(release.props, "chart")).rstrip("/").rpartition("/")[2]


def values(release: Resource) -> Mapping[str, Any]:
    """The values that the program writes."""
    return table(at(release.props, "values"))


def releases(stack: Stack, name: str) -> tuple[Resource, ...]:
    """The releases of one chart."""
    return tuple(release for release in stack.of(HELM_RELEASE) if chart(release) == name)
