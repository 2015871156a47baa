"""The pod templates of a job: where they stand in its spec, how many pods each makes, and which tier they select.

A template moves if its nodeSelector has a tier's labels; heads, submitters and roles that select something else stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spotproof.controller.kinds import JOBSET, RAYJOB, Object
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier

HEAD: Final = "head"
SUBMITTER: Final = "submitter"


class Template(NamedTuple):
    """One pod template.

    `path` leads from the job to the template itself (which holds `metadata` and `spec`), `pods` is how many it makes.
    `stays` is true for those that a move never touches, whatever they select.
    """

    role: str
    path: tuple[str | int, ...]
    template: Mapping[str, Any]
    pods: int
    stays: bool = False

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        return self.template.get("spec", {})

    @property
    def selector(self) -> Mapping[str, str]:
        """Its nodeSelector."""
        return self.spec.get("nodeSelector") or {}

    def pointer(self, *parts: str | int) -> str:
        """A JSON pointer (RFC 6901) to something below the template."""
        return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in (*self.path, *parts))

    def dotted(self, *parts: str | int) -> str:
        """The same as people write it: `spec.replicatedJobs[0].template...`."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*self.path, *parts))[1:]


def templates(job: Object) -> tuple[Template, ...]:
    """All pod templates of a JobSet or a RayJob, in the order of the spec."""
    return tuple(_TEMPLATES[job["kind"]](job.get("spec", {})))


def _of_jobset(spec: Mapping[str, Any]) -> Iterator[Template]:
    for index, each in enumerate(spec.get("replicatedJobs", [])):
        job = each.get("template", {}).get("spec", {})
        pods = int(each.get("replicas", 1)) * int(job.get("parallelism", 1))
        path = ("spec", "replicatedJobs", index, "template", "spec", "template")
        yield Template(each["name"], path, job.get("template", {}), pods)


def _of_rayjob(spec: Mapping[str, Any]) -> Iterator[Template]:
    cluster = spec.get("rayClusterSpec") or {}
    head = cluster.get("headGroupSpec", {}).get("template", {})
    yield Template(HEAD, ("spec", "rayClusterSpec", "headGroupSpec", "template"), head, 1, stays=True)
    for index, each in enumerate(cluster.get("workerGroupSpecs", [])):
        path = ("spec", "rayClusterSpec", "workerGroupSpecs", index, "template")
        yield Template(each.get("groupName", f"workers-{index}"), path, each.get("template", {}), _workers(each))
    if submitter := spec.get("submitterPodTemplate"):
        yield Template(SUBMITTER, ("spec", "submitterPodTemplate"), submitter, 1, stays=True)


def _workers(group: Mapping[str, Any]) -> int:
    return int(group.get("replicas", 0)) * int(group.get("numOfHosts", 1))


_TEMPLATES: Final = {JOBSET.kind: _of_jobset, RAYJOB.kind: _of_rayjob}


def selects(template: Template, tier: ResolvedTier) -> bool:
    """Whether the template's pods land on a tier: it has all of the tier's labels."""
    return all(template.selector.get(key) == value for key, value in tier.node_selector.items())


def moving(job: Object, policy: ResolvedPolicy) -> tuple[Template, ...]:
    """The templates that move: those that select a tier of the policy."""
    return tuple(
        each for each in templates(job) if not each.stays and any(selects(each, tier) for tier in policy.tiers)
    )


def tiers_of(job: Object, policy: ResolvedPolicy) -> Sequence[str]:
    """The tiers that the moving templates select, each once; more than one where somebody has mixed them."""
    found = {
        tier.pool: None for each in templates(job) if not each.stays for tier in policy.tiers if selects(each, tier)
    }
    return tuple(found)
