"""Whether a pod can land on nodes of which only some labels are known, as the scheduler reads selectors and affinity.

Known of a tier are the labels that select it, its capacity by every label in use for that, and its zones and instance
types as far as its pool names them. What asks for anything else may be met: an answer is True, False, or None where
nobody here knows, as of a zone that some of its nodes are in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from spotproof.fallback.resolved import ResolvedTier
from spotproof.vocabulary import (
    ON_DEMAND,
    ON_DEMAND_SELECTORS,
    SPOT,
    SPOT_SELECTORS,
    TYPE_LABELS,
    ZONE_LABELS,
    Capacity,
)

Answer: TypeAlias = bool | None

BY_CAPACITY: Final[Mapping[str, Mapping[str, str]]] = {SPOT: SPOT_SELECTORS, ON_DEMAND: ON_DEMAND_SELECTORS}
CAPACITY_KEYS: Final = SPOT_SELECTORS.keys() | ON_DEMAND_SELECTORS.keys()


class Labels:
    """What is known of the labels of some nodes: by key, every value that one of them may have.

    Args:
        capacity: Of all of them.
        exact: Labels that all of them have.
        among: By key, the values of which each of them has one.
    """

    def __init__(
        self,
        capacity: Capacity,
        exact: Mapping[str, str] | None = None,
        among: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._known: dict[str, Sequence[str | None]] = {key: [BY_CAPACITY[capacity].get(key)] for key in CAPACITY_KEYS}
        self._known |= among or {}
        self._known |= {key: [value] for key, value in (exact or {}).items()}

    @classmethod
    def of(cls, tier: ResolvedTier) -> "Labels":
        """Of a tier's nodes."""
        named = (*((key, tier.zones) for key in ZONE_LABELS), *((key, tier.instance_types) for key in TYPE_LABELS))
        return cls(tier.capacity, tier.node_selector, {key: values for key, values in named if values})

    def meet(self, expression: Mapping[str, Any]) -> Answer:
        """One expression of a node selector; a label that is not there is in no list."""
        if expression["key"] not in self._known:
            return None
        judge, values = _OPERATORS.get(expression["operator"]), expression.get("values") or []
        if judge is None:
            return None
        answers = {judge(held, values) for held in self._known[expression["key"]]}
        return answers.pop() if len(answers) == 1 else None

    def select(self, key: str, value: str) -> Answer:
        """One label of a nodeSelector."""
        return self.meet({"key": key, "operator": "In", "values": [value]})

    def admit(self, pod: Mapping[str, Any]) -> Answer:
        """The required node affinity of a pod: one of its terms, of which all parts."""
        affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        if required is None:
            return True
        return _any(self._term(term) for term in required.get("nodeSelectorTerms") or [])

    def land(self, pod: Mapping[str, Any]) -> Answer:
        """Whether a pod can be placed: selector and required affinity."""
        selector: Mapping[str, str] = pod.get("nodeSelector") or {}
        return _all([*(self.select(key, value) for key, value in selector.items()), self.admit(pod)])

    def _term(self, term: Mapping[str, Any]) -> Answer:
        """A term of no part matches nothing; of a node's own name nothing is known."""
        parts = [self.meet(each) for each in term.get("matchExpressions") or []]
        return (
            _all([*parts, *(None for _ in term.get("matchFields") or [])])
            if parts or term.get("matchFields")
            else False
        )


_OPERATORS: Final[Mapping[str, Callable[[str | None, list[str]], bool]]] = {
    "In": lambda held, values: held in values,
    "NotIn": lambda held, values: held not in values,
    "Exists": lambda held, _values: held is not None,
    "DoesNotExist": lambda held, _values: held is None,
}


def _all(answers: Iterable[Answer]) -> Answer:
    found = set(answers)
    return False if False in found else None if None in found else True


def _any(answers: Iterable[Answer]) -> Answer:
    found = set(answers)
    return True if True in found else None if None in found else False
