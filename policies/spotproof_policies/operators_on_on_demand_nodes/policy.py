"""What restarts the jobs is not reclaimed together with them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spotproof.vocabulary import (
    CAPACITY_LABEL,
    EKS_CAPACITY_LABEL,
    GKE_PROVISIONING_LABEL,
    KARPENTER_CAPACITY_LABEL,
    ON_DEMAND,
    SPOT_SELECTORS,
    SYSTEM_LABEL,
)
from spotproof_policies.charts import HELM_RELEASE, NODE_SELECTORS, chart, values
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.placing import REQUIRED
from spotproof_policies.reading import at, rows, table, words
from spotproof_policies.system_pods import system_pods

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
DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
_KARPENTERS: Final = (CAPACITY_LABEL, KARPENTER_CAPACITY_LABEL)
# A pool of the cloud chosen by name: what it buys is said there.
_BY_NAME: Final = frozenset(
    {"eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "agentpool"}
)


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield an operator whose pods may land on spot nodes; charts outside the table are not judged."""
    if resource.type == DEPLOYMENT:
        for template in system_pods(resource):
            yield from _judged(resource.name, template.spec, template.where("spec.nodeSelector"))
        return
    name = chart(resource)
    if name in NODE_SELECTORS:
        path = NODE_SELECTORS[name]
        yield from _judged(name, table(at(values(resource), *path[:-1])), ".".join(("values", *path)))


def _judged(name: str, pods: Mapping[str, Any], path: str) -> Iterator[str]:
    """What is wrong with where pods land; `path` is where their node selector stands."""
    if not _is_pinned(table(at(pods, "nodeSelector")), chart=name) and not _keeps_off_spot(pods, chart=name):
        yield (
            f"The operator {name} is not pinned to system nodes, so it may run on a spot node and go with the jobs "
            f'that it should bring back. Write {path}: {{{SYSTEM_LABEL}: "true"}}, in quotes, or '
            f"select on-demand nodes by a label of the cloud, as {EKS_CAPACITY_LABEL}, {GKE_PROVISIONING_LABEL} or "
            "kubernetes.azure.com/mode; on somebody else's cluster keep it off spot by required node affinity, NotIn "
            "every label that means spot."
        )


def _is_pinned(selector: Mapping[str, Any], *, chart: str) -> bool:
    keys = set(selector)
    if keys & _BY_NAME:
        return True
    # Karpenter on a node that it made itself can delete the node under its feet.
    pinning = {key: word for key, word in _ON_DEMAND.items() if chart != "karpenter" or key not in _KARPENTERS}
    return any(key in keys and selector[key] == word for key, word in pinning.items())


def _keeps_off_spot(pods: Mapping[str, Any], *, chart: str) -> bool:
    """Whether every term of the required node affinity rules out each label by which spot nodes are known."""
    if chart == "karpenter":
        return False
    terms = rows(at(pods, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"))
    return bool(terms) and all(
        all(_rules_out(rows(at(term, "matchExpressions")), label, value) for label, value in SPOT_SELECTORS.items())
        for term in terms
    )


def _rules_out(expressions: tuple[Any, ...], label: str, value: str) -> bool:
    of_label = [one for one in expressions if at(one, "key") == label]
    return any(
        at(one, "operator") == "DoesNotExist" or (at(one, "operator") == "NotIn" and value in words(at(one, "values")))
        for one in of_label
    )


POLICY = Policy(
    name="operators-on-on-demand-nodes",
    description="Operators run on on-demand system nodes.",
    level="mandatory",
    severity="high",
    remedy="Installed through `operators` they are pinned; in a program of your own, write their nodeSelector.",
    url="https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/",
    judges=EachResource((HELM_RELEASE, DEPLOYMENT), check),
)
