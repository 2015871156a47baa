"""Jobs of any kind, as far as is looked into them: whether they are over, whose they are, what they select."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from spotproof.controller.jobs import JOBS
from spotproof.controller.jobs.contract import JobState
from spotproof.controller.kinds import JOB, Kind
from spotproof.controller.relations import MANAGED, OWNERS
from spotproof.controller.templates import templates
from spotproof.status.reading import Object, condition, mapping, mappings, text
from spotproof.vocabulary import SPOT_SELECTORS

KINDS: Final = (*MANAGED.values(), JOB)
"""Those that a policy can move, and Jobs."""
JOB_OPERATORS: Final = frozenset({*MANAGED, *OWNERS, "TrainJob"})
"""Owners whose Jobs and JobSets are a part of them."""


class Selected(NamedTuple):
    """A label by which pods select spot, and the roles that do."""

    key: str
    value: str
    roles: tuple[str, ...]

    def __str__(self) -> str:
        """As a selector is written."""
        return f"{self.key}={self.value}"


def has_ended(kind: Kind, job: Object) -> bool:
    """Whether nothing more will come of a job."""
    if kind == JOB:
        return "True" in (text(condition(job, each), "status") for each in ("Complete", "Failed"))
    return JOBS[kind.kind].has_ended(job) or state_of(kind, job).over is not None


def state_of(kind: Kind, job: Object) -> JobState:
    """Where a job is that a policy can move, as the controller reads it; it may have been written without a spec."""
    return JOBS[kind.kind].state({"spec": {}, **job})


def is_part(job: Object) -> bool:
    """Whether it is made and kept by another job."""
    return any(text(each, "kind") in JOB_OPERATORS for each in mappings(job, "metadata", "ownerReferences"))


def spot_of(kind: Kind, job: Object, tiers: Mapping[str, frozenset[str]]) -> Selected | None:
    """The first label by which a job's pods select spot, in any of its templates; None where none does.

    Args:
        kind: The job's kind.
        job: The job.
        tiers: Labels of spot tiers: key to values.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for role, spec in _specs(kind, job):
        for key, value in _selected(spec):
            if SPOT_SELECTORS.get(key) == value or value in tiers.get(key, ()):
                found.setdefault((key, value), []).append(role)
    return next((Selected(key, value, tuple(dict.fromkeys(roles))) for (key, value), roles in found.items()), None)


def _specs(kind: Kind, job: Object) -> Iterator[tuple[str, Mapping[str, object]]]:
    if kind == JOB:
        yield "", mapping(job, "spec", "template", "spec")
    else:
        yield from ((each.role, each.spec) for each in templates({**job, "kind": kind.kind}))


def _selected(spec: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What a pod's nodeSelector asks for, and what its required affinity leaves no choice of."""
    yield from ((key, value) for key, value in mapping(spec, "nodeSelector").items() if isinstance(value, str))
    required = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    for term in mappings(spec, *required):
        for each in mappings(term, "matchExpressions"):
            values = each.get("values")
            if each.get("operator") == "In" and isinstance(values, list) and len(values) == 1:
                yield text(each, "key"), str(values[0])
