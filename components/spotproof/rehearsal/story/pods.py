"""What happened to pods: evicted, ended with others, broken, waiting."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotproof.rehearsal.history import (
    DISRUPTED,
    History,
    Job,
    Life,
    condition,
    exit_code,
    is_leaving,
    is_true,
    node_of,
    owners,
    phase,
    rank,
    role,
    waits,
)
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.story.moment import Moment, be, count, grouped, listed, names, pods

FINISHED: Final = ("Failed", "Succeeded")
SHORTEST_WAIT_SECONDS: Final = 0.5
"""A pod that is told no and placed in the same breath did not wait."""
SAME_WAIT_SECONDS: Final = 1.5
"""A restart that ends and makes pods anew does not end their waiting."""
FAILING_SECONDS: Final = 1.0
"""A Job deletes its healthy pods first and writes afterwards that it is failing."""

AROUND: Final[Mapping[str, str]] = {
    "failed": "of the same Job, though healthy, {be} ended as well: a Job that has failed keeps no pod",
    "restart": "of the other Jobs {be} ended, though healthy: the gang starts again as a whole",
    "suspended": "{be} ended by the suspension",
    "cluster": "{be} ended with their Ray cluster",
}
"""Why a pod is ended that no node took along."""


def evicted(history: History) -> Iterator[Moment]:
    """Pods are told to leave their node: the API server's eviction, a taint, or the end of the node."""
    found = [_Lost(pod, at) for pod in history.of("Pod") if (at := pod.when(_is_disrupted)) is not None]
    for group in grouped(found, lambda each: each.at, lambda each: (each.node, each.reason)):
        lives = [each.pod for each in group]
        node = history.node(group[0].node)
        where = f" on node {node.said if node else group[0].node}" if group[0].node else ""
        ended = _ends(lives)
        text = f"{pods(lives)}{where} {be(len(lives))} evicted ({DISRUPTED} {group[0].reason})"
        yield Moment(
            at=group[0].at,
            until=_all_ended(lives),
            kind="evicted",
            text=f"{text} and {ended}" if ended else text,
            objects=names(lives),
        )


def ended(history: History) -> Iterator[Moment]:
    """Pods that were healthy go because of the others."""
    for job in history.jobs:
        found = [each for pod in job.pods if (each := _ended_beside(history, job, pod))]
        for group in grouped(found, lambda each: each.at, lambda each: each.reason):
            lives = [each.pod for each in group]
            codes = _ends(lives)
            text = f"{pods(lives)} {AROUND[group[0].reason].format(be=be(len(lives)))}"
            yield Moment(
                at=group[0].at,
                until=_all_ended(lives),
                kind="ended",
                text=f"{text}; {codes}" if codes else text,
                objects=names(lives),
            )


def broken(history: History) -> Iterator[Moment]:
    """Pods that fail by themselves: a software error."""
    found = [_Lost(pod, at) for pod in history.of("Pod") if (at := pod.when(_has_failed)) is not None]
    own = [each for each in found if not _was_sent_away(each.pod, each.at)]
    for group in grouped(own, lambda each: each.at, lambda each: exit_code(each.pod.last)):
        lives = [each.pod for each in group]
        text = (
            f"{pods(lives)} {'fails' if len(lives) == 1 else 'fail'} by {'itself' if len(lives) == 1 else 'themselves'}"
        )
        yield Moment(at=group[0].at, kind="broken", text=f"{text}: {_ends(lives)}", objects=names(lives))


def waiting(history: History) -> Iterator[Moment]:
    """A job's pods find no node."""
    for job in history.jobs:
        for since, until in waits_of(job):
            end = history.seconds if until is None else until
            lives = [pod for pod in job.pods if any(s < end and (e or end) > since for s, e in pod.stretches(waits))]
            places = {_place(pod) for pod in lives}
            held = [pod for pod in holding(job, min(end, since + SAME_WAIT_SECONDS)) if _place(pod) not in places]
            beside = f" while {count(len(held), 'pod')} {'holds its node' if len(held) == 1 else 'hold their nodes'}"
            attempt = _of_one_attempt(lives)
            yield Moment(
                at=since,
                until=until,
                kind="waiting",
                text=f"{pods(attempt)} {'waits' if len(attempt) == 1 else 'wait'} for a node"
                + (beside if held else ""),
                quote=" ".join(_words(history, lives, since, end)),
                objects=names(lives),
            )


def waits_of(job: Job) -> list[tuple[float, float | None]]:
    """From when to when some pod of a job had no node, restarts of it included; to None where it still has none."""
    found = sorted(
        ((since, until) for pod in job.pods for since, until in pod.stretches(waits)), key=lambda each: each[0]
    )
    merged: list[tuple[float, float | None]] = []
    for since, until in found:
        if merged and (merged[-1][1] is None or since <= merged[-1][1] + SAME_WAIT_SECONDS):
            last = merged[-1][1]
            merged[-1] = (merged[-1][0], None if last is None or until is None else max(last, until))
        else:
            merged.append((since, until))
    return [each for each in merged if each[1] is None or each[1] - each[0] >= SHORTEST_WAIT_SECONDS]


def holding(job: Job, at: float) -> list[Life]:
    """Pods of a job that hold a node at a moment."""
    states = ((pod, pod.at(at)) for pod in job.pods)
    return [pod for pod, state in states if state and node_of(state) and phase(state) not in FINISHED]


@dataclass(frozen=True)
class _Lost:
    """A pod that went, and when it was told to; `why` where it is not the pod that says it."""

    pod: Life
    at: float
    why: str = ""

    @property
    def node(self) -> str:
        return node_of(self.pod.last)

    @property
    def reason(self) -> str:
        return self.why or str(condition(self.pod.last, DISRUPTED).get("reason", "no reason given"))


def _ended_beside(history: History, job: Job, pod: Life) -> _Lost | None:
    at = pod.when(is_leaving)
    if at is None or pod.when(_is_disrupted) is not None or not node_of(pod.last):
        return None
    before = [each.object for each in pod.versions if each.at < at]
    if before and phase(before[-1]) in FINISHED:
        return None
    why = _why(history, job, pod, at)
    return _Lost(pod, at, why) if why else None


def _why(history: History, job: Job, pod: Life, at: float) -> str:
    state = job.life.at(at) or job.life.last
    if state.get("spec", {}).get("suspend"):
        return "suspended"
    if job.life.kind == "RayJob":
        return "cluster"
    mine = next((life for life in history.of("Job") if life.uid in owners(pod.last)), None)
    failed = mine.when(lambda thing: is_true(thing, "FailureTarget") or is_true(thing, "Failed")) if mine else None
    if failed is not None and failed <= at + FAILING_SECONDS:
        return "failed"
    return "" if is_true(state, "Completed") or is_true(state, "Failed") else "restart"


def _was_sent_away(pod: Life, at: float) -> bool:
    """Whether it had been told to go, or evicted, before it failed."""
    seen = [each.object for each in pod.versions if each.at <= at]
    return any(is_leaving(each) or _is_disrupted(each) for each in seen)


def _is_disrupted(pod: Json) -> bool:
    return is_true(pod, DISRUPTED)


def _has_failed(pod: Json) -> bool:
    return phase(pod) == "Failed"


def _has_ended(pod: Json) -> bool:
    return phase(pod) in FINISHED


def _all_ended(lives: Sequence[Life]) -> float | None:
    """When the last of them had ended; None while one has not."""
    ends = [(pod.when(_has_ended), pod.gone) for pod in lives]
    known = [min(at for at in each if at is not None) for each in ends if each != (None, None)]
    return max(known) if len(known) == len(ends) else None


def _ends(lives: Sequence[Life]) -> str:
    """How they ended: `ends with exit code 143`, and what a zero means."""
    codes = sorted({code for pod in lives if (code := exit_code(pod.last)) is not None})
    if not codes:
        return ""
    verb = "ends" if len(lives) == 1 else "end"
    text = f"{verb} with exit code {listed([str(code) for code in codes])}"
    if any(phase(pod.last) == "Succeeded" for pod in lives):
        return f"{text}: counted as done, and never run again"
    return text


def _of_one_attempt(lives: Sequence[Life]) -> list[Life]:
    """The pods of the newest attempt: a rank that waits in two attempts is one pod to its owner."""
    newest: dict[str, Life] = {}
    for pod in lives:
        newest[_place(pod)] = pod
    return list(newest.values())


def _place(pod: Life) -> str:
    """Its place in the gang: role and rank, or its name where it has no rank."""
    return f"{role(pod.last)} {rank(pod.last)}" if rank(pod.last) else pod.name


def _words(history: History, lives: Sequence[Life], since: float, until: float) -> list[str]:
    """What the scheduler last said, and what Karpenter did."""
    said = [
        str(message)
        for pod in lives
        for each in pod.versions
        if since <= each.at <= until and waits(each.object)
        if (message := condition(each.object, "PodScheduled").get("message"))
    ]
    about = {pod.name for pod in lives}
    karpenter = [
        str(each.object.get("message", ""))
        for event in history.of("Event")
        for each in event.versions
        if since <= each.at <= until
        if (each.object.get("involvedObject") or {}).get("name") in about and _is_karpenters(each.object)
    ]
    return [
        *([f"Scheduler: {_short(said[-1])}"] if said else []),
        *([f"Karpenter: {karpenter[-1]}"] if karpenter else []),
    ]


def _short(message: str) -> str:
    """The scheduler's words without what it says of dynamic resources and preemption, which nothing here has."""
    return message.partition(" no new claims")[0].partition(" preemption:")[0]


def _is_karpenters(event: Json) -> bool:
    by = (event.get("source") or {}).get("component") or event.get("reportingComponent")
    return by == "karpenter" and event.get("reason") == "FailedScheduling"
