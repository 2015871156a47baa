"""Flocks: so many pods of one template, all made anew together where one of them is lost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from spotproof.controller.api import Api
from spotproof.controller.jobs.contract import Childless, Find, JobState, Members
from spotproof.controller.jobs.template import Template
from spotproof.controller.kinds import POD, Kind, Object
from spotproof.controller.pods import has_ended
from spotproof.controller.projecting import Watched, of_status
from spotproof.fallback.record import Counted, Move
from spotproof.fallback.run import Instant
from spotproof.vocabulary import FALLBACK_POLICY_LABEL

FLOCK: Final = Kind("toys.example/v1", "Flock")
NAME: Final = "toys.example/flock"
ATTEMPT: Final = "toys.example/attempt"


def project_flock(flock: Mapping[str, Any]) -> Object:
    """All that somebody wrote; of its status which attempt it is, whether it is quiet, and how it ended."""
    return of_status(flock, "attempt", "quiet", "outcome")


class FlockKind(Childless):
    """Its pods name it themselves, nothing stands between, and it is suspended by a field of its own."""

    kind = FLOCK
    watched = (Watched(FLOCK, project_flock, FALLBACK_POLICY_LABEL, optional=True),)
    members = Members(FLOCK, NAME, read=frozenset({ATTEMPT}))
    manager = "toys.example/shepherd"
    roles = "spec.template"
    suspend = "/spec/runPolicy/suspend"
    replaces_alone = False

    def templates(self, spec: Mapping[str, Any]) -> Iterator[Template]:
        """Its only one."""
        yield Template("sheep", ("spec", "template"), spec["template"], spec["replicas"])

    def has_ended(self, job: Object) -> bool:
        """With its outcome."""
        return self.state(job).over is not None

    def state(self, job: Object) -> JobState:
        """As the shepherd says."""
        status = job.get("status", {})
        attempt = int(status.get("attempt", 0))
        suspended = bool(job["spec"]["runPolicy"].get("suspend"))
        return JobState(f"{attempt}", attempt, suspended=suspended, over=status.get("outcome"))

    def first_whole(self, job: Object, find: Find) -> Instant | None:  # noqa: ARG002 - the contract's
        """Nothing says so."""
        return None

    def attempt_of(self, pod: Object) -> str:
        """By its label."""
        return str(pod["metadata"]["labels"][ATTEMPT])

    def stays(self, pod: Object) -> bool:  # noqa: ARG002 - the contract's
        """None does."""
        return False

    def size(self, job: Object) -> int:
        """So many replicas."""
        return int(job["spec"]["replicas"])

    def leftovers(self, api: Api, job: Object, move: Move) -> Sequence[Object]:  # noqa: ARG002 - the contract's
        """Pods that have its name, and run."""
        meta = job["metadata"]
        found = api.list(*POD, meta["namespace"], labels=f"{NAME}={meta['name']}")
        return [pod for pod in found if not has_ended(pod)]

    def is_quiet(self, job: Object, children: Iterable[Object]) -> bool:  # noqa: ARG002 - the contract's
        """As the shepherd says."""
        return bool(job.get("status", {}).get("quiet"))

    def baseline(self, job: Object) -> Counted:
        """What counts are the attempts."""
        state = self.state(job)
        return Counted(attempt=state.attempt, restarts=state.restarts, errors=state.errors)
