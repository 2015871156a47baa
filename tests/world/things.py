"""Objects of the world: plain mappings that are never changed in place, and what makes the next version of one."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from spotproof.controller.kinds import Object
from spotproof.rehearsal.patches import Json

TRACKED: Final = "batch.kubernetes.io/job-tracking"
"""Finalizer of a Job's pods, until the Job has counted them."""
FOREGROUND: Final = "foregroundDeletion"
DISRUPTED: Final = "DisruptionTarget"
TERMINAL: Final = frozenset({"Succeeded", "Failed"})

_NOTHING: Final[Mapping[str, Any]] = {}


def meta(thing: Object, **changes: Any) -> Object:
    """The object with another metadata; None takes a field away."""
    new = {**thing["metadata"], **changes}
    return {**thing, "metadata": {key: value for key, value in new.items() if value is not None}}


def spec(thing: Object, **changes: Any) -> Object:
    """The object with another spec."""
    return {**thing, "spec": {**thing["spec"], **changes}}


def status(thing: Object, **changes: Any) -> Object:
    """The object with another status; None takes a field away."""
    new = {**thing.get("status", _NOTHING), **changes}
    return {**thing, "status": {key: value for key, value in new.items() if value is not None}}


def name(thing: Json) -> str:
    """Its name."""
    return str(thing["metadata"]["name"])


def namespace(thing: Json) -> str:
    """Its namespace; empty for what has none."""
    return str(thing["metadata"].get("namespace", ""))


def uid(thing: Json) -> str:
    """Its uid."""
    return str(thing["metadata"]["uid"])


def labels(thing: Json) -> Mapping[str, str]:
    """Its labels."""
    return thing["metadata"].get("labels") or _NOTHING


def annotations(thing: Json) -> Mapping[str, str]:
    """Its annotations."""
    return thing["metadata"].get("annotations") or _NOTHING


def leaves(thing: Json) -> bool:
    """Whether it has been told to go."""
    return "deletionTimestamp" in thing["metadata"]


def phase(pod: Json) -> str:
    """A pod's phase."""
    return str(pod["status"]["phase"])


def ended(pod: Json) -> bool:
    """Whether a pod has come to its end."""
    return pod["status"]["phase"] in TERMINAL


def node_of(pod: Json) -> str:
    """The node a pod is bound to; empty where it is not."""
    return str(pod["spec"].get("nodeName", ""))


def ready(pod: Json) -> bool:
    """Whether a pod runs and is ready."""
    return pod["status"]["phase"] == "Running" and is_true(pod, "Ready")


def condition(thing: Json, kind: str) -> Mapping[str, Any]:
    """One of its conditions; empty where it has none of that type."""
    for each in thing.get("status", _NOTHING).get("conditions", ()):
        if each["type"] == kind:
            return each
    return _NOTHING


def is_true(thing: Json, kind: str) -> bool:
    """Whether a condition of its is true."""
    return condition(thing, kind).get("status") == "True"


def conditions(thing: Object, at: str, *new: tuple[str, str, str, str]) -> list[Object]:
    """Its conditions with others set: type, status, reason, message. A time changes where the status does."""
    found = list(thing.get("status", _NOTHING).get("conditions", ()))
    for kind, state, reason, message in new:
        made = {"type": kind, "status": state, "lastTransitionTime": at}
        if reason:
            made["reason"] = reason
        if message:
            made["message"] = message
        place = next((index for index, each in enumerate(found) if each["type"] == kind), None)
        if place is None:
            found.append(made)
            continue
        if found[place]["status"] == state:
            made["lastTransitionTime"] = found[place].get("lastTransitionTime", at)
        if found[place] != made:
            found[place] = made
    return found


def owner(thing: Json, kind: str) -> Mapping[str, Any] | None:
    """Its owner of a kind, or None."""
    for each in thing["metadata"].get("ownerReferences", ()):
        if each["kind"] == kind:
            return each
    return None


def owned_by(thing: Object) -> list[Object]:
    """The ownerReferences of what a controller makes for an object."""
    meta = thing["metadata"]
    about = {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "name": meta["name"], "uid": meta["uid"]}
    return [{**about, "controller": True, "blockOwnerDeletion": True}]


def without(finalizers: Iterable[str], gone: str) -> list[str] | None:
    """Finalizers without one of them; None where none are left."""
    return [each for each in finalizers if each != gone] or None
