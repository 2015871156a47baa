"""What is kept of an object that is watched: plain mappings, far smaller than the objects.

A pod as the API server has it takes 12 kB in Python and its projection under 1 kB, and there are tens of thousands.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spotproof.controller.kinds import Kind, Object

Projection = Callable[[Mapping[str, Any]], Object]


class Watched(NamedTuple):
    """One list-and-watch: a kind, which of its objects, and what is kept of one.

    `optional` kinds are those of an operator that a cluster may lack: their absence is no error, and they are looked
    for again. `shape` is what the projection reads, so that a watch need not decode more; None where that is all.
    Of a kind that is not `versioned` nobody reads the version: where nothing else is new, nothing is told. After an
    event that came alone those of the next `gather_seconds` are read together.
    """

    kind: Kind
    project: Projection
    labels: str = ""
    optional: bool = False
    shape: type | None = None
    versioned: bool = True
    gather_seconds: float = 0.0


LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of the whole object."""

METADATA: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
VERSIONED: Final = ("resourceVersion", "deletionTimestamp")
"""What is kept of the smallest ones' metadata beside their names. A mapping of five keys takes 200 bytes, one of six
takes 288, and 10,000 gangs have 60,000 nodes, claims and child Jobs: what is left out of them is 17 MiB."""


def metadata(
    thing: Mapping[str, Any],
    labels: Container[str] | None = None,
    *,
    keys: Sequence[str] = METADATA,
    annotations: bool = False,
    owned: Sequence[str] = ("kind", "name", "uid"),
) -> Object:
    """What is kept of any object; of its labels the named ones, or all, and of its owners so much."""
    meta = thing["metadata"]
    kept: Object = {key: meta[key] for key in keys if key in meta}
    if found := {key: each for key, each in (meta.get("labels") or {}).items() if labels is None or key in labels}:
        kept["labels"] = found
    if annotations and meta.get("annotations"):
        kept["annotations"] = {key: text for key, text in meta["annotations"].items() if "spotproof.dev/" in key}
    if owned and (owners := meta.get("ownerReferences")):
        kept["ownerReferences"] = [{key: owner[key] for key in owned} for owner in owners]
    return kept


def picked(thing: Mapping[str, Any], *keys: str) -> Object:
    """Those of its keys that are there."""
    return {key: thing[key] for key in keys if key in thing}


TOLD: Final = ("type", "status", "reason", "message", "lastTransitionTime")
KNOWN: Final = ("type", "status", "reason")
"""Of a condition whose time and words nobody reads, so that those of all nodes are alike."""


def conditions(status: Mapping[str, Any], types: Sequence[str] = (), keys: Sequence[str] = TOLD) -> list[Object]:
    """Its conditions, all of them or those of these types; of each what is not empty of these keys."""
    return [
        {key: each[key] for key in keys if each.get(key)}
        for each in status.get("conditions", [])
        if not types or each["type"] in types
    ]


def whole(thing: Mapping[str, Any]) -> Object:
    """Everything but what other writers left: a managed job's spec is preflighted and patched by its paths."""
    meta = {key: each for key, each in thing["metadata"].items() if key != "managedFields"}
    if LAST_APPLIED in meta.get("annotations", {}):
        # stays, as a key without its value: a patch that adds an annotation must know whether there are any
        meta["annotations"] = {**meta["annotations"], LAST_APPLIED: ""}
    return {**thing, "metadata": meta}


def of_status(job: Mapping[str, Any], *keys: str) -> Object:
    """All that somebody wrote of a job, and so much of its status.

    Counts of pods and nodes are written with each of them, and the pods are watched themselves.
    """
    kept = whole(job)
    return {**kept, "status": picked(kept["status"], *keys)} if kept.get("status") else kept
