"""What the lives of objects come to, so that two runs can be held against each other.

A fact is a word of what the fallback controller could act on: phases, conditions, exit codes, counters, selectors. Of
each object its facts stand in order; of objects that do not depend on each other the order is left to each run, and
so are seconds, generated names, and how many writes it takes to say one thing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from spotproof.rehearsal.history import (
    DISRUPTED,
    History,
    condition,
    exit_code,
    is_leaving,
    is_true,
    labels,
    node_of,
    phase,
    works,
)
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import Recording, Version
from spotproof.vocabulary import POOL_LABEL

Facts = Callable[[Json], Iterator[str]]
Life = tuple[str, ...]

BOUND: Final = "bound"
READY: Final = "ready"
TOLD: Final = "told to go"
GONE: Final = "gone"
NOT_COUNTED: Final = " cpu"
"""Ends the first fact of nodes and claims that differ: a world has accelerators, and no processors to run short of."""
FAILED: Final = "Failed "


def _pod(pod: Json) -> Iterator[str]:
    if node_of(pod):
        yield BOUND
    if works(pod):
        yield READY
    if is_true(pod, DISRUPTED):
        yield f"{DISRUPTED} {condition(pod, DISRUPTED)['reason']}"
    if is_leaving(pod):
        yield TOLD
    if phase(pod) in {"Failed", "Succeeded"}:
        code = exit_code(pod)
        yield f"{phase(pod)}{'' if code is None else f', exit {code}'}"


def _job(job: Json) -> Iterator[str]:
    selector = job["spec"]["template"]["spec"].get("nodeSelector", {})
    yield f"on {_said(selector)}{', suspended' if job['spec'].get('suspend') else ''}"
    found = job.get("status", {})
    for kind in ("Suspended", "FailureTarget"):
        if is_true(job, kind):
            yield f"{kind} {condition(job, kind)['reason']}"
    if found.get("failed") or found.get("succeeded"):
        indexes = f" ({found['completedIndexes']})" if "completedIndexes" in found else ""
        yield f"failed {found.get('failed', 0)}, succeeded {found.get('succeeded', 0)}{indexes}"
    for kind in ("Failed", "Complete"):
        if is_true(job, kind):
            yield f"{kind} {condition(job, kind)['reason']}"
    if found.get("startTime") is None and is_true(job, "Suspended") and not found.get("active"):
        yield "none active, no startTime"
    if is_leaving(job):
        yield TOLD


def _jobset(jobset: Json) -> Iterator[str]:
    spec, found = jobset["spec"], jobset.get("status", {})
    selectors = {
        _said(each["template"]["spec"]["template"]["spec"].get("nodeSelector", {})) for each in spec["replicatedJobs"]
    }
    yield f"on {' and '.join(sorted(selectors))}{', suspended' if spec.get('suspend') else ''}"
    yield f"restarts {found.get('restarts', 0)}, counted {found.get('restartsCountTowardsMax', 0)}"
    for each in ("RestartingJobSet", "Suspended", "Completed", "Failed"):
        if now := condition(jobset, each):
            yield f"{each} {now['status']} {now['reason']}"
    if "terminalState" in found:
        yield f"terminal {found['terminalState']}"


def _rayjob(rayjob: Json) -> Iterator[str]:
    spec, found = rayjob["spec"], rayjob.get("status", {})
    selectors = {_said(each["template"]["spec"]["nodeSelector"]) for each in spec["rayClusterSpec"]["workerGroupSpecs"]}
    yield f"on {' and '.join(sorted(selectors))}{', suspended' if spec.get('suspend') else ''}"
    words = (found.get("jobDeploymentStatus"), found.get("jobStatus"))
    if words[0] is None:
        return
    cluster = "a cluster" if found.get("rayClusterName") else "no cluster"
    counters = f"failed {found.get('failed', 0)}, succeeded {found.get('succeeded', 0)}"
    yield f"{' '.join(filter(None, words))}, {cluster}, {counters}, {found.get('reason') or 'no reason'}"


def _cluster(cluster: Json) -> Iterator[str]:
    found = cluster.get("status", {})
    if head := condition(cluster, "HeadPodReady"):
        yield f"head ready {head['status']}"
    if found.get("state"):
        yield str(found["state"])
        whole = found.get("readyWorkerReplicas") == found.get("desiredWorkerReplicas")
        yield f"{'all' if whole else 'not all'} workers"


def _claim(claim: Json) -> Iterator[str]:
    yield f"for {labels(claim)[POOL_LABEL]}"
    for kind in ("Launched", "Registered"):
        if is_true(claim, kind):
            yield kind
    if is_leaving(claim):
        yield TOLD


def _node(node: Json) -> Iterator[str]:
    yield f"of {labels(node)[POOL_LABEL]}"
    keys = {each["key"] for each in node["spec"].get("taints", ())}
    if "node.kubernetes.io/not-ready" not in keys:
        yield "takes pods"
    if is_leaving(node):
        yield TOLD
    if "karpenter.sh/disrupted" in keys:
        yield "tainted karpenter.sh/disrupted"


OF: Final[Mapping[str, Facts]] = {
    "JobSet": _jobset,
    "RayJob": _rayjob,
    "RayCluster": _cluster,
    "Job": _job,
    "Pod": _pod,
    "NodeClaim": _claim,
    "Node": _node,
}


def lives(recording: Recording) -> Mapping[str, Counter[Life]]:
    """Of each kind how often which life was lived."""
    history = History(recording)
    return {
        kind: Counter(_settled(_life(life.versions, facts)) for life in history.of(kind)) for kind, facts in OF.items()
    }


def _life(versions: Sequence[Version], facts: Facts) -> Life:
    """Facts in the order in which they became true; what was true before is told again when it is true again."""
    told: list[str] = []
    before: set[str] = set()
    for version in versions:
        now = list(facts(version.object))
        told += [each for each in now if each not in before]
        before = set(now)
        if version.change == "deleted":
            told.append(GONE)
    return tuple(each for each, _ in groupby(told))


def _settled(life: Life) -> Life:
    """A life without what chance decides: who was first where two things were done at the same time."""
    kept = list(life)
    if any(each.startswith("on ") for each in kept):
        kept = [each for each in kept if not each.startswith(FAILED)]
        kept = kept[: kept.index(TOLD) + 1] if TOLD in kept else kept
    elif TOLD in kept and not any(each.startswith(DISRUPTED) for each in kept):
        kept = [each for each in kept if each not in {BOUND, READY}]
    return tuple(kept)


def lines(recording: Recording) -> list[str]:
    """The lives of all objects, to be compared and read."""
    return [
        f"{_often(kind, life, count)} x {kind}: {', then '.join(life)}"
        for kind, found in lives(recording).items()
        for life, count in sorted(found.items())
        if not life[0].endswith(NOT_COUNTED)
    ]


def _often(kind: str, life: Life, count: int) -> str:
    """How often; of NodeClaims that were refused there are as many as there was time for."""
    return "some" if kind == "NodeClaim" and life[1:] == (TOLD, GONE) else str(count)


def _said(selector: Mapping[str, str]) -> str:
    return "+".join(f"{key.rpartition('/')[2]}={value}" for key, value in sorted(selector.items()))
