"""JobSets: suspended and changed in one write, rebuilt by their child Jobs, counted by their own status."""

from collections.abc import Iterable, Sequence
from typing import Final

from spotproof.controller.api import Api
from spotproof.controller.jobs.contract import Find, JobState
from spotproof.controller.kinds import JOBSET, JOBSET_NAME, POD, Kind, Object
from spotproof.controller.pods import has_ended
from spotproof.controller.templates import templates
from spotproof.fallback.record import Counted, Move
from spotproof.fallback.run import Instant

ATTEMPT_LABEL: Final = "jobset.sigs.k8s.io/restart-attempt"
TERMINAL: Final = {"Completed": "Succeeded", "Failed": "Failed"}


class JobSetKind:
    """JobSet 0.7 and newer (jobset.x-k8s.io/v1alpha2)."""

    @property
    def kind(self) -> Kind:
        """`JobSet`."""
        return JOBSET

    @property
    def replaces_alone(self) -> bool:
        """No: with backoffLimit 0 the attempt ends, and an index that ended with 0 is done for ever."""
        return False

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
            over=None if over is None else "Succeeded" if over["type"] == "Completed" else "Failed",
            message="" if over is None else over.get("message", ""),
        )

    def first_whole(self, job: Object, find: Find) -> Instant | None:  # noqa: ARG002 - the contract's
        """Nothing says so; what is lost is in its counters."""
        return None

    def attempt_of(self, pod: Object) -> str:
        """How often the JobSet had been restarted when the pod was made."""
        return pod["metadata"].get("labels", {}).get(ATTEMPT_LABEL, "0")

    def size(self, job: Object) -> int:
        """All replicated jobs."""
        return sum(each.pods for each in templates(job))

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
        return [each for each in children if not _is_complete(each)]

    def is_rebuilt(self, job: Object, children: Sequence[Object], move: Move) -> bool:
        """JobSet makes missing child Jobs again while suspended; one that is being deleted is still in its way."""
        wanted = sum(int(each.get("replicas", 1)) for each in job["spec"].get("replicatedJobs", []))
        new = [each for each in children if each["metadata"]["uid"] not in move.jobs]
        return len(new) == len(children) == wanted

    def baseline(self, job: Object) -> Counted:
        """A JobSet may restart while it is suspended (seen on 1.36.3): no failure of the tier, so it is passed over."""
        state = self.state(job)
        return Counted(attempt=state.attempt, restarts=state.restarts, errors=state.errors)


def _true(status: Object) -> list[Object]:
    return [each for each in status.get("conditions", []) if each.get("status") == "True"]


def _is_complete(job: Object) -> bool:
    return any(each["type"] == "Complete" for each in _true(job["status"]))


def _is_over(job: Object) -> bool:
    return any(each["type"] in {"Complete", "Failed"} for each in _true(job["status"]))


def _is_idle(job: Object) -> bool:
    status = job["status"]
    suspended = any(each["type"] == "Suspended" for each in _true(status))
    return suspended and not status.get("active") and not status.get("terminating")
