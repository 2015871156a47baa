"""One writer to one checkpoint: where the job saves, and who else saves there."""

import functools
from collections.abc import Iterator, Mapping

from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import Object
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View, label_field
from spotproof.controller.saving import containers, places
from spotproof.settings.errors import shown
from spotproof.vocabulary import CHECKPOINT_URI_ENV, RUN_LABEL


class _Version:
    """One version of a job, which nobody changes: the same as itself and as no other."""

    def __init__(self, job: Object) -> None:
        self.job = job

    def __hash__(self) -> int:
        return id(self.job)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Version) and other.job is self.job


def checkpoints(view: View) -> Iterator[Finding]:
    """The job that has the place keeps it; the other one is refused until that one has ended.

    One that is managed has it, whatever its age: a job that comes under a policy later can be older. Of two that both
    are, or neither is, it is the older one.
    """
    own = _read(_Version(view.job))
    for other in (each for each in view.others if _rank(view, each) < _rank(view, view.job)):
        who: dict[str, object] = {"kind": other["kind"], "name": other["metadata"]["name"]}
        if not _are_neighbours(other, view.job):
            if not JOBS[other["kind"]].has_ended(other) and (shared := _shared(own, other)):
                away = {**who, "name": f"{other['metadata']['namespace']}/{who['name']}"}
                yield finding("SameCheckpoint", own[shared], uri=shown(shared, 200), **away)
            continue
        if other["metadata"]["name"] == view.job["metadata"]["name"]:
            # also of one that has ended: its TrainingRun is there as long as it is
            yield finding("SameName", "metadata.name", **who)
        if JOBS[other["kind"]].has_ended(other):
            continue
        if shared := _shared(own, other):
            yield finding("SameCheckpoint", own[shared], uri=shown(shared, 200), **who)
        elif (run := view.labels.get(RUN_LABEL)) and run == (other["metadata"].get("labels") or {}).get(RUN_LABEL):
            yield finding("SameRun", label_field(RUN_LABEL), run=run, **who)
    if view.moving and not _has_target(view):
        yield finding("NoCheckpoint", view.moving[0].dotted("spec", "containers", 0, "env"))


def _shared(own: Mapping[str, str], other: Object) -> str | None:
    return next((uri for uri in _read(_Version(other)) if uri in own), None)


def _are_neighbours(one: Object, other: Object) -> bool:
    return one["metadata"].get("namespace") == other["metadata"].get("namespace")


def _rank(view: View, job: Object) -> tuple[bool, str, str]:
    meta = job["metadata"]
    uid = meta.get("uid") or ""
    return uid not in view.managed, meta.get("creationTimestamp") or "", uid


def _has_target(view: View) -> bool:
    """Any template will do: rank 0 alone may save, and with Ray the program on the head."""
    if CHECKPOINT_URI_ENV in (view.spec.get("runtimeEnvYAML") or ""):
        return True
    return any(
        each.get("name") == CHECKPOINT_URI_ENV
        for template in view.templates
        for _, container in containers(template)
        for each in container.get("env") or []
    )


@functools.lru_cache(maxsize=256)
def _read(version: _Version) -> Mapping[str, str]:
    """Read once: at the start each of 50 jobs in a namespace was read for each of the others, half of the work."""
    return dict(places(version.job))
