"""What restarts the jobs is not reclaimed together with them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spotproof.vocabulary import (
    CAPACITY_LABEL,
    EKS_CAPACITY_LABEL,
    GKE_PROVISIONING_LABEL,
    KARPENTER_CAPACITY_LABEL,
    ON_DEMAND,
    SYSTEM_LABEL,
)
from spotproof_policies.charts import HELM_RELEASE, NODE_SELECTORS, chart, values
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, table

_ON_DEMAND: Final = {
    SYSTEM_LABEL: "true",
    CAPACITY_LABEL: ON_DEMAND,
    EKS_CAPACITY_LABEL: "ON_DEMAND",
    KARPENTER_CAPACITY_LABEL: ON_DEMAND,
    GKE_PROVISIONING_LABEL: "standard",
    "kubernetes.azure.com/priority": "regular",
    # The system pool of AKS, which cannot be spot.
    "kubernetes.azure.com/mode": "system",
}
"""Label -> the value that only nodes have which nobody reclaims."""
_KARPENTERS: Final = (CAPACITY_LABEL, KARPENTER_CAPACITY_LABEL)
# A pool of the cloud chosen by name: what it buys is said there.
_BY_NAME: Final = frozenset(
    {"eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "agentpool"}
)


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield an operator whose pods may land on spot nodes; charts outside the table are not judged."""
    name = chart(resource)
    if name not in NODE_SELECTORS:
        return
    path = NODE_SELECTORS[name]
    if not _is_pinned(table(at(values(resource), *path)), chart=name):
        yield (
            f"The operator {name} is not pinned to system nodes, so it may run on a spot node and go with the jobs "
            f'that it should bring back. Write values.{".".join(path)}: {{{SYSTEM_LABEL}: "true"}}, in quotes, or '
            f"select on-demand nodes by a label of the cloud, as {EKS_CAPACITY_LABEL}, {GKE_PROVISIONING_LABEL} or "
            "kubernetes.azure.com/mode."
        )


def _is_pinned(selector: Mapping[str, Any], *, chart: str) -> bool:
    keys = set(selector)
    if keys & _BY_NAME:
        return True
    # Karpenter on a node that it made itself can delete the node under its feet.
    pinning = {key: word for key, word in _ON_DEMAND.items() if chart != "karpenter" or key not in _KARPENTERS}
    return any(key in keys and selector[key] == word for key, word in pinning.items())


POLICY = Policy(
    name="operators-on-on-demand-nodes",
    description="Operators run on on-demand system nodes.",
    level="mandatory",
    severity="high",
    remedy="Installed through `operators` they are pinned; in a program of your own, write the chart's nodeSelector.",
    url="https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/",
    judges=EachResource((HELM_RELEASE,), check),
)
