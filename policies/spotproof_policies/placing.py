"""Whether pods of a chart may land on the nodes of a pool, by node selector and required node affinity."""

from collections.abc import Mapping
from typing import Any, Final

from spotproof.vocabulary import RESERVED_LABEL_DOMAINS
from spotproof_policies.reading import at, rows, table, text, words

_OTHERS_WRITE: Final = (*RESERVED_LABEL_DOMAINS, "nvidia.com")
"""Domains whose labels come from the kubelet, the cloud or node feature discovery: a pool does not show them."""

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def may_land(values: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """False only when a selector or every affinity term of the chart contradicts the labels of the pool."""
    selector = table(at(values, "nodeSelector"))
    if not all(_fits(labels, {"key": key, "operator": "In", "values": [selector[key]]}) for key in set(selector)):
        return False
    terms = rows(at(values, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"))
    return not terms or any(_all_fit(labels, rows(at(term, "matchExpressions"))) for term in terms)


def _all_fit(labels: Mapping[str, Any], expressions: tuple[Any, ...]) -> bool:
    return all(_fits(labels, expression) for expression in expressions)


def _fits(labels: Mapping[str, Any], expression: Any) -> bool:
    key = text(at(expression, "key"))
    operator = text(at(expression, "operator"))
    if key not in set(labels):
        return operator in {"NotIn", "DoesNotExist"} or _others_write(key)
    held = labels[key] in words(at(expression, "values"))
    return {"In": held, "NotIn": not held, "DoesNotExist": False}.get(operator, True)


def _others_write(key: str) -> bool:
    domain = key.rpartition("/")[0]
    return any(domain == known or domain.endswith(f".{known}") for known in _OTHERS_WRITE)
