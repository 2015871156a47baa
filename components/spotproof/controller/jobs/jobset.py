"""JobSets: suspended and changed in one write, rebuilt by their child Jobs, counted by their own status."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from spotproof.controller import shapes
from spotproof.controller.api import Api
from spotproof.controller.jobs.contract import Find, JobState, Members
from spotproof.controller.jobs.template import Template
from spotproof.controller.kinds import JOB, JOBSET, JOBSET_NAME, POD, Object
from spotproof.controller.pods import condition, has_ended, is_leaving, is_true
from spotproof.controller.projecting import VERSIONED, Watched, conditions, metadata, of_status, picked
from spotproof.fallback.record import Counted, Move, parse_instant
from spotproof.fallback.run import Instant
from spotproof.vocabulary import FALLBACK_POLICY_LABEL

ATTEMPT_LABEL: Final = "jobset.sigs.k8s.io/restart-attempt"
TERMINAL: Final = {"Completed": "Succeeded", "Failed": "Failed"}


def project_jobset(jobset: Mapping[str, Any]) -> Object:
    """All that somebody wrote; of its status how often it was restarted and how it ended."""
    return of_status(jobset, "restarts", "restartsCountTowardsMax", "terminalState", "conditions")


def project_job(job: Mapping[str, Any]) -> Object:
    """A child Job: how many of its pods have done their work, whether others are there, and its pods' selector."""
    spec, status = job.get("spec", {}), job.get("status", {})
    counters, told = ("active", "terminating"), conditions(status)
    return {
        "metadata": metadata(
            job, {JOBSET_NAME, ATTEMPT_LABEL}, keys=("name", "namespace", "uid", *VERSIONED), owned=()
        ),
        "spec": {
            **picked(spec, "suspend", "completions"),
            "nodeSelector": spec.get("template", {}).get("spec", {}).get("nodeSelector", {}),
        },
        "status": {
            **{key: True for key in counters if status.get(key)},
            **picked(status, "succeeded"),
            "conditions": told,
        },
    }


class JobSetKind:
    """JobSet 0.7 and newer (jobset.x-k8s.io/v1alpha2)."""

    kind = JOBSET
    watched = (
        Watched(JOBSET, project_jobset, FALLBACK_POLICY_LABEL, optional=True),
        Watched(JOB, project_job, JOBSET_NAME, shape=shapes.carrying({JOBSET_NAME, ATTEMPT_LABEL}, shapes.Job)),
    )
    members = Members(JOBSET, JOBSET_NAME, children=JOB, read=frozenset({ATTEMPT_LABEL}))
    manager = "jobset.sigs.k8s.io/jobset-controller"
    """JobSet 0.12."""
    roles = "spec.replicatedJobs"
    suspend = "/spec/suspend"
    replaces_alone = False
    """With backoffLimit 0 the attempt ends, and an index that ended with 0 is done for ever."""

    def templates(self, spec: Mapping[str, Any]) -> Iterator[Template]:
        """One a replicated job."""
        for index, each in enumerate(spec.get("replicatedJobs", [])):
            job = each.get("template", {}).get("spec", {})
            pods = int(each.get("replicas", 1)) * int(job.get("parallelism", 1))
            path = ("spec", "replicatedJobs", index, "template", "spec", "template")
            yield Template(each["name"], path, job.get("template", {}), pods)

    def has_ended(self, job: Object) -> bool:
        """With a terminal state it makes no more pods."""
        return bool((job.get("status") or {}).get("terminalState"))

    def state(self, job: Object) -> JobState:
        """`restartsCountTowardsMax` is left out while it is 0."""
        status = job.get("status", {})
        restarts = int(status.get("restarts", 0))
        over = next((each for each in _true(status) if each["type"] in TERMINAL), None)
        return JobState(
            attempt=str(restarts),
            restarts=restarts,
            errors=int(status.get("restartsCountTowardsMax", 0)),
            suspended=bool(job["spec"].get("suspend")),
            heeded=_heeded(job),
            over=None if over is None else "Succeeded" if over["type"] == "Completed" else "Failed",
            message="" if over is None else over.get("message", ""),
        )

    def first_whole(self, job: Object, find: Find) -> Instant | None:  # noqa: ARG002 - the contract's
        """Nothing says so; what is lost is in its counters."""
        return None

    def attempt_of(self, pod: Object) -> str:
        """How often the JobSet had been restarted when the pod, or its Job, was made."""
        return pod["metadata"].get("labels", {}).get(ATTEMPT_LABEL, "0")

    def stays(self, pod: Object) -> bool:  # noqa: ARG002 - the contract's
        """Roles that stay select no tier."""
        return False

    def size(self, job: Object) -> int:
        """All replicated jobs."""
        return sum(each.pods for each in self.templates(job["spec"]))

    def leftovers(self, api: Api, job: Object, move: Move) -> Sequence[Object]:  # noqa: ARG002 - the contract's
        """Pods that carry the JobSet's name, but for those that have ended: a suspended Job keeps what succeeded."""
        meta = job["metadata"]
        found = api.list(*POD, meta["namespace"], labels=f"{JOBSET_NAME}={meta['name']}")
        return [pod for pod in found if not has_ended(pod)]

    def is_quiet(self, job: Object, children: Iterable[Object]) -> bool:  # noqa: ARG002 - the contract's
        """Suspended, with no pod that runs or ends; a Job that is over has none to make."""
        return all(_is_over(each) or _is_idle(each) for each in children)

    def old_children(self, children: Iterable[Object]) -> Sequence[Object]:
        """All child Jobs but complete ones: a merge into existing ones keeps keys that are gone (jobset PR 1294)."""
        return [each for each in children if not is_true(each, "Complete")]

    def is_awaited(self, job: Object, child: Object) -> bool:
        """A child Job is named `<JobSet>-<replicated job>-<index>`, and `dependsOn` names replicated jobs."""
        role, _, _ = child["metadata"]["name"].removeprefix(f"{job['metadata']['name']}-").rpartition("-")
        awaited = (on["name"] for each in job["spec"].get("replicatedJobs", []) for on in each.get("dependsOn") or ())
        return role in awaited

    def is_outdated(self, job: Object, child: Object) -> bool:
        """JobSet may make one from what it had read before the suspension: at a resume it would keep old labels."""
        selector = _selectors(job).get(child["metadata"]["name"], {})
        return not is_true(child, "Complete") and not selector.items() <= child["spec"]["nodeSelector"].items()

    def is_rebuilt(self, job: Object, children: Sequence[Object], move: Move) -> bool:
        """JobSet makes missing child Jobs again while suspended; one that is being deleted is still in its way.

        One that it made before it saw the suspension runs until it does.
        """
        there = {each["metadata"]["name"] for each in children}
        return there >= _made_while_suspended(job, children) and not any(
            each["metadata"]["uid"] in move.jobs or is_leaving(each) or self.is_outdated(job, each) or _may_run(each)
            for each in children
        )

    def baseline(self, job: Object) -> Counted:
        """A JobSet may restart while it is suspended (seen on 1.36.3): no failure of the tier, so it is passed over."""
        state = self.state(job)
        return Counted(attempt=state.attempt, restarts=state.restarts, errors=state.errors)


def _made_while_suspended(job: Object, children: Iterable[Object]) -> set[str]:
    """Names of the child Jobs that a suspended JobSet makes.

    Not those of a role whose dependency is not reached (dependencyReachedStatus, jobset 0.12): what is suspended is
    never ready, so a role that depends on another is made after the resume, unless the other is complete.
    """
    roles = {each["name"]: each for each in job["spec"].get("replicatedJobs", [])}
    names = {role: _names(job, each) for role, each in roles.items()}
    complete = {each["metadata"]["name"] for each in children if is_true(each, "Complete")}
    return {
        name
        for role, each in roles.items()
        if all(names[on["name"]] <= complete for on in each.get("dependsOn") or ())
        for name in names[role]
    }


def _selectors(job: Object) -> dict[str, Mapping[str, str]]:
    """By a child Job's name, what its pods are to select."""
    roles, templates = job["spec"].get("replicatedJobs", []), JobSetKind().templates(job["spec"])
    return {name: of.selector for role, of in zip(roles, templates, strict=True) for name in _names(job, role)}


def _names(job: Object, role: Mapping[str, Any]) -> set[str]:
    return {f"{job['metadata']['name']}-{role['name']}-{index}" for index in range(int(role.get("replicas", 1)))}


def _true(status: Object) -> list[Object]:
    return [each for each in status.get("conditions", []) if each.get("status") == "True"]


def _heeded(jobset: Object) -> Instant | None:
    """Since when condition Suspended is as it is: there is none before the first suspension."""
    said = condition(jobset, "Suspended")
    return parse_instant(said["lastTransitionTime"]) if said else None


def _is_over(job: Object) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


def _may_run(job: Object) -> bool:
    return not is_true(job, "Complete") and not job["spec"].get("suspend")


def _is_idle(job: Object) -> bool:
    status = job["status"]
    return is_true(job, "Suspended") and not status.get("active") and not status.get("terminating")
