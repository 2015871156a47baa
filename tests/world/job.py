"""The Job controller, as far as gangs meet it: Indexed Jobs, suspension, pod failure policies, finalizers, counters."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from spotproof.controller.kinds import JOB, POD, Object
from tests.world.manager import Manager
from tests.world.server import Server
from tests.world.store import Change, Place, place
from tests.world.things import (
    DISRUPTED,
    TRACKED,
    condition,
    conditions,
    ended,
    is_true,
    leaves,
    meta,
    namespace,
    owned_by,
    owner,
    phase,
    ready,
    status,
    uid,
    without,
)

BATCH_SECONDS: Final = 1.0
"""What the controller waits for more news of pods (syncJobBatchPeriod)."""
LOOK_SECONDS: Final = 0.02
FAILED_SECONDS: Final = 0.1
"""From FailureTarget to Failed, where no pod is left."""
BACKOFF_SECONDS: Final = 10.0
INDEX: Final = "batch.kubernetes.io/job-completion-index"
BY_POLICY: Final = "PodFailurePolicy"
BY_LIMIT: Final = "BackoffLimitExceeded"
LIMIT_SAID: Final = "Job has reached the specified backoff limit"

Verdict = tuple[str, str]
"""Why a Job fails: reason and message."""


class Jobs(Manager):
    """One Job at a time."""

    def __init__(self, server: Server, chance: Random) -> None:
        super().__init__(server, chance)
        self._not_before: dict[str, float] = {}

    def job(self, change: Change, job: Object, old: Object | None) -> None:
        """A Job has changed."""
        if change == "DELETED":
            # pods of a Job that is gone are let go all the same
            self.clock.after(LOOK_SECONDS, lambda: self._let_go(self.store.owned(uid(job), POD)))
        elif old is None or job["spec"] is not old["spec"] or leaves(job) != leaves(old):
            self.later(place(job), LOOK_SECONDS)

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod of a Job has changed."""
        if (job := owner(pod, "Job")) and change != "ADDED" and (change == "DELETED" or _news(pod, old)):
            self.later((namespace(pod), job["name"]), BATCH_SECONDS * self.chance.uniform(0.6, 1.0))

    def sync(self, where: Place) -> None:
        """Look at one Job."""
        job = self.store.get(JOB, where)
        if job is None:
            return
        pods = self.store.owned(uid(job), POD)
        if leaves(job) or is_true(job, "Failed") or is_true(job, "Complete"):
            self._let_go(pods)
            return
        verdict = _verdict(job, pods)
        count = _Count(job, pods)
        if verdict:
            self._fail(job, pods, count, verdict)
        elif job["spec"].get("suspend"):
            self._suspend(job, pods, count)
        else:
            self._advance(job, pods, count)

    def _fail(self, job: Object, pods: Sequence[Object], count: "_Count", verdict: Verdict) -> None:
        for pod in pods:
            if not leaves(pod) and not ended(pod):
                self.server.delete("v1", "Pod", pod["metadata"]["name"], namespace(pod))
        lost = sum(_is_tracked(pod) and phase(pod) != "Succeeded" for pod in pods)
        over = [("FailureTarget", "True", *verdict)]
        if is_true(job, "FailureTarget") and not count.left:
            over.append(("Failed", "True", *verdict))
        changed = count.written(job, failed=lost, active=0, ready=0)
        self.store.write(job, status(changed, conditions=conditions(job, self.clock.text, *over)))
        self._let_go(self.store.owned(uid(job), POD))
        if len(over) == 1:
            self.later(place(job), BATCH_SECONDS if count.left else FAILED_SECONDS)

    def _suspend(self, job: Object, pods: Sequence[Object], count: "_Count") -> None:
        going = [pod for pod in pods if not ended(pod)]
        for pod in going:
            self._let_go([pod])
            if not leaves(pod):
                self.server.delete("v1", "Pod", pod["metadata"]["name"], namespace(pod))
        self._let_go([pod for pod in pods if ended(pod)])
        left = sum(not ended(pod) for pod in self.store.owned(uid(job), POD))
        changed = count.written(job, failed=count.failed, active=0, ready=0, terminating=left)
        said = conditions(job, self.clock.text, ("Suspended", "True", "JobSuspended", "Job suspended"))
        self.store.write(job, status(changed, conditions=said, startTime=None))
        if left:
            self.later(place(job), BATCH_SECONDS)

    def _advance(self, job: Object, pods: Sequence[Object], count: "_Count") -> None:
        now = self.clock.text
        made = 0
        if not count.is_complete:
            made = self._make(job, count)
        self._let_go([pod for pod in pods if ended(pod)])
        changed = count.written(job, failed=count.failed, active=count.active + made, ready=count.ready)
        changed = status(changed, startTime=job.get("status", {}).get("startTime") or now)
        if condition(job, "Suspended").get("status") == "True":
            changed = status(
                changed, conditions=conditions(changed, now, ("Suspended", "False", "JobResumed", "Job resumed"))
            )
        if count.is_complete and not count.active and not count.terminating:
            over = [(kind, "True", "CompletionsReached", "") for kind in ("SuccessCriteriaMet", "Complete")]
            changed = status(changed, conditions=conditions(changed, now, *over), completionTime=now)
        self.store.write(job, changed)

    def _make(self, job: Object, count: "_Count") -> int:
        missing = count.missing()
        if count.failed:
            self._not_before[uid(job)] = self.clock.now + BACKOFF_SECONDS
        left = self._not_before.get(uid(job), 0.0) - self.clock.now
        if missing and left > 0:
            self.later(place(job), left)
            return 0
        for index in missing:
            self.server.create(_pod(job, index))
        return len(missing)

    def _let_go(self, pods: Sequence[Object]) -> None:
        for pod in pods:
            finalizers = pod["metadata"].get("finalizers", ())
            if TRACKED in finalizers:
                self.store.write(pod, meta(pod, finalizers=without(finalizers, TRACKED)))


class _Count:
    """What a Job's pods come to."""

    def __init__(self, job: Object, pods: Sequence[Object]) -> None:
        before = job.get("status", {})
        self._spec = job["spec"]
        self._pods = pods
        self.indexed = self._spec.get("completionMode") == "Indexed"
        self.active = sum(not ended(pod) and not leaves(pod) for pod in pods)
        self.terminating = sum(not ended(pod) and leaves(pod) for pod in pods)
        self.left = self.active + self.terminating
        self.ready = sum(ready(pod) and not leaves(pod) for pod in pods)
        self.failed = sum(_is_tracked(pod) and phase(pod) == "Failed" for pod in pods)
        done = [pod for pod in pods if _is_tracked(pod) and phase(pod) == "Succeeded"]
        self.indexes = _indexes(before.get("completedIndexes", ""))
        self.indexes |= {int(pod["metadata"]["labels"][INDEX]) for pod in done if self.indexed}
        self.succeeded = len(self.indexes) if self.indexed else before.get("succeeded", 0) + len(done)
        self.is_complete = self.succeeded >= self._spec.get("completions", 1)

    def missing(self) -> list[int]:
        """Indexes without a pod; with podReplacementPolicy Failed one that still ends holds its index."""
        holds = self._spec.get("podReplacementPolicy") == "Failed"
        kept = [pod for pod in self._pods if not ended(pod) and (holds or not leaves(pod))]
        if not self.indexed:
            return list(range(self._spec.get("parallelism", 1) - len(kept)))
        taken = {int(pod["metadata"]["labels"][INDEX]) for pod in kept} | self.indexes
        return [index for index in range(self._spec.get("completions", 1)) if index not in taken]

    def written(self, job: Object, *, failed: int, active: int, ready: int, terminating: int | None = None) -> Object:
        """The Job with its counters; those that are 0 are left out, as far as the real one leaves them out."""
        failed += job.get("status", {}).get("failed", 0)
        counters = {
            "active": active or None,
            "ready": ready,
            "terminating": self.terminating if terminating is None else terminating,
            "succeeded": self.succeeded or None,
            "failed": failed or None,
            "completedIndexes": _ranges(sorted(self.indexes)) or None,
        }
        return status(job, **counters)


def _verdict(job: Object, pods: Sequence[Object]) -> Verdict | None:
    if is_true(job, "FailureTarget"):
        found = condition(job, "FailureTarget")
        return found["reason"], found["message"]
    for pod in pods:
        if phase(pod) == "Failed" and (said := _matched(job["spec"], pod)):
            return BY_POLICY, said
    failed = sum(_is_tracked(pod) and phase(pod) == "Failed" for pod in pods)
    if failed and failed + job.get("status", {}).get("failed", 0) > job["spec"].get("backoffLimit", 6):
        return BY_LIMIT, LIMIT_SAID
    return None


def _matched(job_spec: Mapping[str, Any], pod: Object) -> str:
    """What the Job says of a pod that a FailJob rule of its policy matches; JobSet's rules read it."""
    about = f"{namespace(pod)}/{pod['metadata']['name']}"
    for index, rule in enumerate(job_spec.get("podFailurePolicy", {}).get("rules", ())):
        if rule.get("onPodConditions") and is_true(pod, DISRUPTED):
            return f"Pod {about} has condition DisruptionTarget matching FailJob rule at index {index}"
        codes = rule.get("onExitCodes", {})
        for each in pod["status"].get("containerStatuses", ()):
            code = each["state"].get("terminated", {}).get("exitCode")
            if code in codes.get("values", ()):
                said = f"Container {each['name']} for pod {about} failed with exit code {code}"
                return f"{said} matching FailJob rule at index {index}"
    return ""


def _indexes(text: str) -> set[int]:
    """Of `0-2,5`."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _ranges(indexes: Sequence[int]) -> str:
    """As `0-2,5`, two in a row by a comma."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(
        str(run[0]) if len(run) == 1 else f"{run[0]}{',' if len(run) == 2 else '-'}{run[-1]}" for run in runs
    )


def _is_tracked(pod: Object) -> bool:
    return TRACKED in pod["metadata"].get("finalizers", ())


def _news(pod: Object, old: Object | None) -> bool:
    return old is None or leaves(pod) != leaves(old) or phase(pod) != phase(old) or ready(pod) != ready(old)


def _pod(job: Object, index: int) -> Object:
    template, name = job["spec"]["template"], job["metadata"]["name"]
    own = {f"{prefix}job-name": name for prefix in ("", "batch.kubernetes.io/")}
    labels = {**template.get("metadata", {}).get("labels", {}), **own, "batch.kubernetes.io/controller-uid": uid(job)}
    prefix = f"{name}-"
    if job["spec"].get("completionMode") == "Indexed":
        labels |= {INDEX: str(index)}
        prefix = f"{name}-{index}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": prefix,
            "namespace": namespace(job),
            "labels": labels,
            "annotations": dict(template.get("metadata", {}).get("annotations", {})),
            "finalizers": [TRACKED],
            "ownerReferences": owned_by(job),
        },
        "spec": template["spec"],
    }
