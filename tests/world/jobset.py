"""The JobSet controller (0.12): child Jobs, failure policy, restarts, suspension with the merge of selectors."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spotproof.controller.kinds import JOB, JOBSET, JOBSET_NAME, Object
from tests.world.manager import Manager
from tests.world.store import Change, Place, place
from tests.world.things import (
    condition,
    conditions,
    is_true,
    labels,
    leaves,
    name,
    namespace,
    owned_by,
    owner,
    spec,
    status,
    uid,
)

LOOK_SECONDS: Final = 0.05
ATTEMPT: Final = "jobset.sigs.k8s.io/restart-attempt"
ROLE: Final = "jobset.sigs.k8s.io/replicatedjob-name"
NUMBER: Final = "jobset.sigs.k8s.io/job-index"
JOBSET_UID: Final = "jobset.sigs.k8s.io/jobset-uid"
DEFAULT: Final = ("RestartJobSet", "DefaultFailurePolicy")


class JobSets(Manager):
    """One JobSet at a time."""

    def jobset(self, change: Change, jobset: Object, old: Object | None) -> None:
        """A JobSet has changed."""
        if change != "DELETED" and (old is None or jobset["spec"] is not old["spec"]):
            self.later(place(jobset), LOOK_SECONDS)

    def job(self, change: Change, job: Object, old: Object | None) -> None:
        """A child Job has changed."""
        del change, old
        if of := owner(job, "JobSet"):
            self.later((namespace(job), of["name"]), LOOK_SECONDS)

    def sync(self, where: Place) -> None:
        """Look at one JobSet: one of the things below is done, in this order."""
        jobset = self.store.get(JOBSET, where)
        if jobset is None or leaves(jobset):
            return
        jobs = self.store.owned(uid(jobset), JOB)
        attempt = str(_restarts(jobset))
        present = [job for job in jobs if labels(job).get(ATTEMPT) == attempt]
        before = [job for job in jobs if labels(job).get(ATTEMPT) != attempt]
        jobset = self._counted(jobset, present)
        if jobset["status"].get("terminalState"):
            self._delete(job for job in jobs if not is_true(job, "Complete") and not is_true(job, "Failed"))
            return
        self._delete(before)
        if failed := [job for job in present if is_true(job, "Failed")]:
            self._restart(jobset, failed)
        elif len(present) == _size(jobset) and all(is_true(job, "Complete") for job in present):
            self._end(jobset, "Completed", "AllJobsCompleted", "jobset completed successfully")
        else:
            self._keep(jobset, present, before)

    def _keep(self, jobset: Object, present: Sequence[Object], before: Sequence[Object]) -> None:
        """Suspend or resume what is there, and make what is missing."""
        if jobset["spec"].get("suspend"):
            for job in present:
                if not job["spec"].get("suspend") and not _is_over(job):
                    self.store.write(job, spec(job, suspend=True))
            self._say(jobset, ("Suspended", "True", "SuspendedJobs", "jobset is suspended"))
        else:
            self._resume(jobset, present)
        # BlockingRecreate: nothing new before everything old is gone
        if not before:
            self._make(jobset, {name(job) for job in present})

    def _resume(self, jobset: Object, present: Sequence[Object]) -> None:
        begun = {role["name"] for role in _begun(jobset)}
        for job in present:
            if job["spec"].get("suspend") and labels(job)[ROLE] in begun:
                template = _role(jobset, labels(job)[ROLE])["template"]["spec"]["template"]
                merged = _merged(job["spec"]["template"], template)
                self.store.write(job, spec(job, suspend=False, template=merged))
        if is_true(jobset, "Suspended"):
            self._say(jobset, ("Suspended", "False", "ResumeJobs", "jobset is resumed"))

    def _counted(self, jobset: Object, present: Sequence[Object]) -> Object:
        roles = [_counters(role["name"], present) for role in jobset["spec"]["replicatedJobs"]]
        changed = status(jobset, restarts=_restarts(jobset), replicatedJobsStatus=roles)
        whole = all(each["ready"] + each["succeeded"] for each in roles) and len(present) == _size(jobset)
        if condition(jobset, "RestartingJobSet") and whole:
            said = ("RestartingJobSet", "False", "JobsReady", "all jobs are ready")
            changed = status(changed, conditions=conditions(changed, self.clock.text, said))
        return self.store.write(jobset, changed)

    def _restart(self, jobset: Object, failed: Sequence[Object]) -> None:
        first = min(failed, key=lambda job: int(job["metadata"]["resourceVersion"]))
        policy = jobset["spec"].get("failurePolicy")
        if policy is None:
            self._end(jobset, "Failed", "FailedJobs", "jobset failed due to one or more job failures")
            return
        action, reason = _action(policy, condition(first, "Failed"))
        counted = jobset["status"].get("restartsCountTowardsMax", 0)
        if action == "FailJobSet" or (action == "RestartJobSet" and counted >= policy.get("maxRestarts", 0)):
            reached = "ReachedMaxRestarts" if action == "RestartJobSet" else reason
            self._end(jobset, "Failed", reached, f"first failed job: {name(first)}")
            return
        said = ("RestartingJobSet", "True", reason, f"first failed job: {name(first)}")
        counted += action == "RestartJobSet"
        self.store.write(
            jobset,
            status(
                jobset,
                restarts=_restarts(jobset) + 1,
                restartsCountTowardsMax=counted or None,
                conditions=conditions(jobset, self.clock.text, said),
            ),
        )
        self.later(place(jobset), LOOK_SECONDS)

    def _end(self, jobset: Object, kind: str, reason: str, message: str) -> None:
        said = [(kind, "True", reason, message)]
        if condition(jobset, "RestartingJobSet"):
            said.insert(0, ("RestartingJobSet", "False", f"JobSet{kind}", message))
        over = conditions(jobset, self.clock.text, *said)
        self.store.write(jobset, status(jobset, conditions=over, terminalState=kind))
        self.later(place(jobset), LOOK_SECONDS)

    def _say(self, jobset: Object, *said: tuple[str, str, str, str]) -> None:
        now = self.store.get(JOBSET, place(jobset)) or jobset
        if is_true(now, "RestartingJobSet") and said[0][0] == "Suspended" and said[0][1] == "True":
            said = (*said, ("RestartingJobSet", "False", "JobSetSuspended", "jobset is suspended"))
        self.store.write(now, status(now, conditions=conditions(now, self.clock.text, *said)))

    def _delete(self, jobs: Iterable[Object]) -> None:
        for job in jobs:
            if not leaves(job):
                self.server.delete("batch/v1", "Job", name(job), namespace(job), propagation="Foreground")

    def _make(self, jobset: Object, there: set[str]) -> None:
        for role in _begun(jobset):
            for index in range(role.get("replicas", 1)):
                job = _job(jobset, role, index)
                # one of the name that has not gone yet is in the way: the next change brings this here again
                if name(job) not in there and not self.there(JOB, place(job)):
                    self.server.create(job)


def _is_over(job: Object) -> bool:
    return is_true(job, "Failed") or is_true(job, "Complete")


def _restarts(jobset: Object) -> int:
    return int(jobset.get("status", {}).get("restarts", 0))


def _size(jobset: Object) -> int:
    return sum(role.get("replicas", 1) for role in jobset["spec"]["replicatedJobs"])


def _begun(jobset: Object) -> list[Mapping[str, Any]]:
    """Roles whose Jobs are made and resumed: those that depend on none, or on what is ready or complete by now.

    Suspended or not (dependencyReachedStatus): what is suspended is not ready, so what depends on it is not made.
    """
    told = {each["name"]: each for each in jobset["status"]["replicatedJobsStatus"]}
    sizes = {role["name"]: role.get("replicas", 1) for role in jobset["spec"]["replicatedJobs"]}

    def reached(on: Mapping[str, str]) -> bool:
        counters = told[on["name"]]
        kinds = ("succeeded",) if on["status"] == "Complete" else ("failed", "ready", "succeeded")
        return sum(counters[kind] for kind in kinds) == sizes[on["name"]]

    return [role for role in jobset["spec"]["replicatedJobs"] if all(map(reached, role.get("dependsOn", ())))]


def _role(jobset: Object, wanted: str) -> Mapping[str, Any]:
    return next(role for role in jobset["spec"]["replicatedJobs"] if role["name"] == wanted)


def _counters(role: str, jobs: Sequence[Object]) -> Object:
    mine = [job for job in jobs if labels(job)[ROLE] == role]
    return {
        "name": role,
        "active": sum(bool(job.get("status", {}).get("active")) for job in mine),
        "ready": sum(_is_ready(job) for job in mine),
        "succeeded": sum(is_true(job, "Complete") for job in mine),
        "failed": sum(is_true(job, "Failed") for job in mine),
        "suspended": sum(is_true(job, "Suspended") for job in mine),
    }


def _is_ready(job: Object) -> bool:
    counters = job.get("status", {})
    wanted = min(job["spec"].get("parallelism", 1), job["spec"].get("completions", 1))
    up = counters.get("ready", 0) + counters.get("succeeded", 0)
    return not _is_over(job) and counters.get("active", 0) > 0 and up >= wanted


def _action(policy: Mapping[str, Any], failed: Mapping[str, Any]) -> tuple[str, str]:
    """What is done, by the first rule that fits, and the condition's reason."""
    for rule in policy.get("rules", ()):
        reasons = rule.get("onJobFailureReasons", ())
        patterns = rule.get("onJobFailureMessagePatterns", ())
        fits = not reasons or failed["reason"] in reasons
        if fits and (not patterns or any(re.search(each, failed.get("message", "")) for each in patterns)):
            return rule["action"], f"FailurePolicy_{rule['name']}"
    return DEFAULT


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    """A child Job's pod template as JobSet leaves it at a resume: keys of the old one stay (jobset PR 1294)."""
    selector = {**old["spec"].get("nodeSelector", {}), **new["spec"].get("nodeSelector", {})}
    tolerations = list(old["spec"].get("tolerations", ()))
    # one with tolerationSeconds is a pointer there and never equal to another
    tolerations += [
        each for each in new["spec"].get("tolerations", ()) if "tolerationSeconds" in each or each not in tolerations
    ]
    about = {
        key: {**old.get("metadata", {}).get(key, {}), **new.get("metadata", {}).get(key, {})}
        for key in ("labels", "annotations")
    }
    kept = {"nodeSelector": selector, **({"tolerations": tolerations} if tolerations else {})}
    return {"metadata": about, "spec": {**old["spec"], **kept}}


def _job(jobset: Object, role: Mapping[str, Any], index: int) -> Object:
    own = {
        JOBSET_NAME: name(jobset),
        JOBSET_UID: uid(jobset),
        ROLE: role["name"],
        NUMBER: str(index),
        ATTEMPT: str(_restarts(jobset)),
    }
    job = role["template"]["spec"]
    template = job["template"]
    about = template.get("metadata", {})
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{name(jobset)}-{role['name']}-{index}",
            "namespace": namespace(jobset),
            "labels": own,
            "ownerReferences": owned_by(jobset),
        },
        "spec": {
            **job,
            "suspend": bool(jobset["spec"].get("suspend")),
            "template": {
                "metadata": {**about, "labels": {**about.get("labels", {}), **own}},
                "spec": template["spec"],
            },
        },
    }
