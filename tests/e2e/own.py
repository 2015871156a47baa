"""The API server as one test's recorder is to see it: without what earlier tests on the same control plane left."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spotproof.kube.client import Kube
from spotproof.kube.watching import Change, Watch
from spotproof.rehearsal.history import labels
from spotproof.vocabulary import PROBE_LABEL, PROBE_OF_ANNOTATION
from tests.e2e.jobs import HEAD_POOL, ON_DEMAND_POOL, SPOT_POOL, STATIC

POOLS: Final = frozenset({SPOT_POOL, ON_DEMAND_POOL, HEAD_POOL})
"""NodePools that jobs of these tests are on; the stack has others, of which nothing happens."""

SHOWN: Final = frozenset(
    {"Nominated", "Scheduled", "SuccessfulCreate", "SuccessfulDelete", "RegisteredNode", "RemovingNode"}
)
"""Reasons of events that tell what the objects themselves show; a third of a recording otherwise."""


class Own:
    """One test's part of a control plane: its namespace, its jobs' probes, and the nodes that came after its beginning.

    Probes are in a namespace of the controller's; each says which job asks.
    """

    def __init__(self, kube: Kube, namespace: str, *, bought: bool = True) -> None:
        """Prepare; `bought` is whether nodes that Karpenter buys from now on are the test's."""
        self._kube = kube
        self._namespace = namespace
        self._bought = bought
        self._old: frozenset[str] = frozenset()
        self._began = 0

    def resource_version(self) -> str:
        """The state of everything now, which is the beginning."""
        # a NodeClaim that is left from another test has a node by then, or never will
        old = self._kube.list("v1", "Node")
        claims = {owner["name"] for node in old for owner in node["metadata"].get("ownerReferences", ())}
        self._old = frozenset({each["metadata"]["name"] for each in old} | claims)
        version = self._kube.resource_version()
        self._began = int(version)
        return version

    def watch(self, kinds: Iterable[tuple[str, str]], since: str) -> "OwnWatch":
        """Every version of what is the test's own."""
        return OwnWatch(self._kube.watch(kinds, since), self)

    def list(self, api_version: str, kind: str) -> Sequence[dict[str, Any]]:
        """What is the test's own of what is there."""
        return [thing for thing in self._kube.list(api_version, kind) if self.has(thing)]

    def has(self, thing: Mapping[str, Any]) -> bool:
        """Whether an object is the test's own."""
        meta = thing["metadata"]
        if thing.get("kind") == "Event":
            about = thing.get("involvedObject", {})
            tells = int(meta["resourceVersion"]) > self._began and thing.get("reason") not in SHOWN
            return tells and self._is_own(about.get("kind", ""), about.get("name", ""), about.get("namespace"))
        if PROBE_LABEL in labels(thing):
            _, asks, _ = str(meta.get("annotations", {}).get(PROBE_OF_ANNOTATION, "//")).split("/")
            return asks == self._namespace
        return self._is_own(thing.get("kind", ""), meta["name"], meta.get("namespace"))

    def _is_own(self, kind: str, name: str, namespace: str | None) -> bool:
        if kind == "NodePool":
            return self._bought and name in POOLS
        if name.startswith(STATIC):
            return name.startswith(f"{STATIC}{self._namespace}-")
        if kind in {"Node", "NodeClaim"}:
            return self._bought and name not in self._old
        return namespace == self._namespace


class OwnWatch:
    """A watch that delivers what is the test's own."""

    def __init__(self, watch: Watch, own: Own) -> None:
        self._watch = watch
        self._own = own

    def next(self, within_seconds: float | None = None) -> Change | None:
        """The next delivery; None where none came within the time, or where it was another test's."""
        change = self._watch.next(within_seconds)
        return change if change is not None and self._own.has(change.object) else None

    def close(self) -> None:
        """End it."""
        self._watch.close()
