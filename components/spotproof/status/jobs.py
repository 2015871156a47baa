"""Jobs of any kind, as far as is looked into them: whether they are over, whose they are, what they select."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from spotproof.controller.kinds import JOB, JOBSET, RAYJOB, Kind
from spotproof.controller.templates import templates
from spotproof.status.reading import Object, condition, mapping, mappings, text
from spotproof.vocabulary import SPOT_SELECTORS

KINDS: Final = (JOBSET, RAYJOB, JOB)
JOB_OPERATORS: Final = frozenset({JOBSET.kind, RAYJOB.kind, "RayCluster", "TrainJob"})
"""Owners whose Jobs and JobSets are a part of them."""
ENDED: Final = frozenset({"Complete", "Failed", "ValidationFailed"})
"""Of a RayJob's jobDeploymentStatus: nothing leads back."""


class Selected(NamedTuple):
    """A label by which pods select spot, and the roles that do."""

    key: str
    value: str
    roles: tuple[str, ...]

    def __str__(self) -> str:
        """As a selector is written."""
        return f"{self.key}={self.value}"


def has_ended(job: Object) -> bool:
    """Whether a JobSet, a RayJob or a Job is over."""
    done = (text(condition(job, kind), "status") for kind in ("Completed", "Complete", "Failed"))
    return "True" in done or text(job, "status", "jobDeploymentStatus") in ENDED


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
