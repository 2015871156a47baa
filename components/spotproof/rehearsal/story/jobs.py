"""What happened to jobs: submitted, running, restarted, moved, ended."""

from collections.abc import Iterator
from typing import Final

from spotproof.rehearsal.history import (
    RAY_CLUSTER,
    History,
    Job,
    Life,
    condition,
    gang,
    is_true,
    labels,
    owners,
    works,
)
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.story.moment import Moment, count, grouped, listed, names, pods, seconds, times
from spotproof.vocabulary import POOL_LABEL

RULE_PREFIX: Final = "FailurePolicy_"
"""Of the reason of RestartingJobSet: what follows is the name of the failure policy's rule (JobSet 0.12)."""
OVER: Final = {"Complete", "Failed", "ValidationFailed"}
"""Values of a RayJob's jobDeploymentStatus that lead nowhere."""


def submitted(history: History) -> Iterator[Moment]:
    """A job is made."""
    for job in history.jobs:
        if job.life.born is not None:
            roles = listed([f"{count(size, 'pod')} of {name}" for name, size in gang(job.life.versions[0].object)])
            yield Moment(at=job.life.born, kind="submitted", text=f"{job.said} is submitted: {roles}")


def running(history: History) -> Iterator[Moment]:
    """All pods of a gang run and are ready."""
    for job in history.jobs:
        down = job.life.born
        all_of = "its one pod runs" if job.size == 1 else f"all {job.size} pods run"
        for number, (up, end) in enumerate(whole(job)):
            took = "" if down is None else f", {seconds(up - down)} after "
            since = "it was submitted" if not number else "the first one was lost"
            again = " again" if number else ""
            text = f"{job.said}: {all_of}{again}{took}{since if took else ''}"
            yield Moment(at=up, until=end, kind="running", text=text)
            down = end


def whole(job: Job) -> list[tuple[float, float | None]]:
    """From when to when every pod of a job ran and was ready; to None where they still do."""
    steps: list[tuple[float, int]] = []
    for pod in job.pods:
        for since, until in pod.stretches(works):
            steps += [(since, 1), *([(until, -1)] if until is not None else [])]
    found: list[tuple[float, float | None]] = []
    up, since = 0, None
    for at, step in sorted(steps):
        up += step
        if since is None and up >= job.size > 0:
            since = at
        elif since is not None and up < job.size:
            found.append((since, at))
            since = None
    return found if since is None else [*found, (since, None)]


def restarted(history: History) -> Iterator[Moment]:
    """JobSet starts a gang again as a whole."""
    for job in history.jobs:
        if job.life.kind != "JobSet":
            continue
        for at, before, after in job.life.changes(lambda thing: int(thing.get("status", {}).get("restarts", 0))):
            if after > before:
                yield _restart(history, job, at, after)


def _restart(history: History, job: Job, at: float, number: int) -> Moment:
    state = job.life.at(at) or job.life.last
    used = int(state.get("status", {}).get("restartsCountTowardsMax", 0))
    most = int(state["spec"].get("failurePolicy", {}).get("maxRestarts", 0))
    reason = str(condition(state, "RestartingJobSet").get("reason", ""))
    rule = f"rule {reason.removeprefix(RULE_PREFIX)}" if reason.startswith(RULE_PREFIX) else "no rule, the default"
    failed = [life for life in history.of("Job") if job.life.uid in owners(life.last) and _failed_by(life, at)]
    return Moment(
        at=at,
        kind="restarted",
        text=f"{job.said} restarts as a whole, restart {number}, by {rule}; "
        f"{used} of maxRestarts {most} {'is' if used == 1 else 'are'} used up",
        quote=str(condition(failed[-1].last, "Failed").get("message", "")) if failed else "",
        objects=names(failed),
    )


def _failed_by(job: Life, at: float) -> bool:
    failed = job.when(lambda thing: is_true(thing, "Failed"))
    # either may be told first, as they are kinds of their own
    return failed is not None and failed <= at + 1 and (job.gone is None or job.gone >= at - 1)


def retried(history: History) -> Iterator[Moment]:
    """KubeRay starts a RayJob again after its job failed."""
    for job in history.jobs:
        if job.life.kind != "RayJob":
            continue
        for at, before, after in job.life.changes(lambda thing: int(thing.get("status", {}).get("failed", 0))):
            if after > before:
                most = int(job.life.last["spec"].get("backoffLimit", 0))
                text = f"{job.said} has failed {times(after)}, and backoffLimit is {most}"
                yield Moment(at=at, kind="retried", text=text, quote=_message(job.life.at(at) or {}))


def replaced(history: History) -> Iterator[Moment]:
    """KubeRay replaces pods of a running Ray cluster; the RayJob itself shows nothing of it."""
    for job in history.jobs:
        if job.life.kind != "RayJob":
            continue
        first = {labels(pod.last).get(RAY_CLUSTER): pod.versions[0].at for pod in reversed(job.pods)}
        later = [pod for pod in job.pods if pod.versions[0].at > first[labels(pod.last).get(RAY_CLUSTER)] + 1]
        lost = [pod for pod in later if _follows_a_loss(job, pod)]
        for group in grouped(lost, lambda pod: pod.versions[0].at, lambda pod: labels(pod.last).get(RAY_CLUSTER)):
            cluster = labels(group[0].last).get(RAY_CLUSTER)
            text = f"KubeRay replaces {pods(group)} in Ray cluster {cluster}; {job.said} counts no failure"
            yield Moment(at=group[0].versions[0].at, kind="replaced", text=text, objects=names(group))


def _follows_a_loss(job: Job, pod: Life) -> bool:
    return any(other.gone is not None and other.gone <= pod.versions[0].at + 1 for other in job.pods)


def suspended(history: History) -> Iterator[Moment]:
    """A job is told to give its pods up, or to go on."""
    for job in history.jobs:
        for at, _, off in job.life.changes(lambda thing: bool(thing.get("spec", {}).get("suspend"))):
            text = f"{job.said} is {'suspended' if off else 'resumed'}"
            yield Moment(at=at, until=_empty(job, at) if off else None, kind="suspended", text=text)


def _empty(job: Job, at: float) -> float | None:
    """When the last pod that was there at a moment had gone."""
    there = [pod for pod in job.pods if pod.at(at) is not None]
    gone = [pod.gone for pod in there if pod.gone is not None]
    return max(gone, default=at) if len(gone) == len(there) else None


def moved(history: History) -> Iterator[Moment]:
    """The pools that a job's pods ask for are others than before."""
    for job in history.jobs:
        for at, before, after in job.life.changes(pools):
            text = f"{job.said} moves from {listed(before) or 'any pool'} to {listed(after) or 'any pool'}"
            yield Moment(at=at, kind="moved", text=text)


def pools(job: Json) -> list[str]:
    """The pools a job's pods select, each once."""
    spec = job.get("spec", {})
    templates = [each["template"]["spec"]["template"] for each in spec.get("replicatedJobs", [])]
    cluster = spec.get("rayClusterSpec", {})
    groups = [cluster[key] for key in ("headGroupSpec",) if key in cluster] + cluster.get("workerGroupSpecs", [])
    templates += [each.get("template", {}) for each in groups]
    selected = [each.get("spec", {}).get("nodeSelector", {}).get(POOL_LABEL) for each in templates]
    return list(dict.fromkeys(each for each in selected if each))


def over(history: History) -> Iterator[Moment]:
    """A job has come to an end, good or bad."""
    for job in history.jobs:
        for name, said in (("Completed", "is complete"), ("Failed", "has failed for good")):
            if (at := job.life.when(lambda thing, name=name: is_true(thing, name))) is not None:
                words = condition(job.life.last, name)
                quote = ": ".join(str(words[key]) for key in ("reason", "message") if words.get(key))
                yield Moment(at=at, kind="over", text=f"{job.said} {said}", quote=quote)
        for at, _, after in job.life.changes(_deployment):
            if after in OVER:
                text = f"{job.said} has the status {after}, from which nothing leads back"
                done = f"{job.said} is complete"
                yield Moment(
                    at=at,
                    kind="over",
                    text=done if after == "Complete" else text,
                    quote=_message(job.life.at(at) or {}),
                )


def is_over(job: Job) -> bool:
    """Whether a job has come to an end."""
    state = job.life.last
    return is_true(state, "Completed") or is_true(state, "Failed") or _deployment(state) in OVER


def _deployment(job: Json) -> str:
    return str(job.get("status", {}).get("jobDeploymentStatus", ""))


def _message(job: Json) -> str:
    status = job.get("status", {})
    return ": ".join(str(status[key]) for key in ("reason", "message") if status.get(key))
