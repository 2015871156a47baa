"""A job as it is looked at once: what everything below is handed."""

from dataclasses import dataclass, replace
from typing import Any

from spotproof.controller.api import Api
from spotproof.controller.cache import Cache, Key, labels
from spotproof.controller.jobs.contract import JobKind, JobState
from spotproof.controller.kinds import Object
from spotproof.controller.memory import Memory
from spotproof.controller.metrics import Observer
from spotproof.controller.watched import PROJECTIONS
from spotproof.controller.writing import COUNTS_SECONDS, is_behind, tell, write_status
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.run import Instant
from spotproof.vocabulary import FALLBACK_POLICY_LABEL


@dataclass(frozen=True)
class Case:
    """One job with its TrainingRun, at one moment."""

    api: Api
    cache: Cache
    key: Key
    kind: JobKind
    job: Object
    run: Object
    recorded: TrainingRunStatus
    """What the run says."""
    memory: Memory
    now: float
    jitter: float
    observer: Observer
    probe_image: str

    @property
    def second(self) -> Instant:
        """The moment, in the rule's whole seconds."""
        return int(self.now)

    @property
    def state(self) -> JobState:
        """Where the job is."""
        return self.kind.state(self.job)

    def written(self, status: TrainingRunStatus) -> "Case":
        """The case once its record is stored."""
        if status == self.recorded:
            return self
        # a clock that was set back is no reason to wait longer
        is_fresh = 0 <= self.now - self.memory.written_at < COUNTS_SECONDS
        counts = not is_fresh and is_behind(self.run, status)
        run = write_status(self.api, self.cache, self.run, status, counts=counts)
        if run is not self.run:
            self.memory.written_at = self.now
        return replace(self, run=run, recorded=status)

    @property
    def counts_at(self) -> float | None:
        """When the job is to be looked at again for its counts of nodes alone; None while its run tells them."""
        return self.memory.written_at + COUNTS_SECONDS if is_behind(self.run, self.recorded) else None

    def patched(self, operations: list[Object]) -> "Case":
        """The case once the job is changed, as it was read; refused where it has changed meanwhile."""
        meta = self.job["metadata"]
        as_read = {"op": "test", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]}
        done = self.api.patch(*self.kind.kind, meta["name"], [as_read, *operations], meta["namespace"])
        job = PROJECTIONS[self.kind.kind](done.object)
        if FALLBACK_POLICY_LABEL in labels(job):
            # one without it is watched no more: nobody would say when it goes
            self.cache.put(self.kind.kind, job)
        return replace(self, job=job)

    def read_again(self) -> "Case | None":
        """The job as it is stored now; None where it is gone, or another has its name."""
        job = self.api.find(*self.kind.kind, self.key.name, self.key.namespace)
        if job is None or job["metadata"]["uid"] != self.job["metadata"]["uid"]:
            return None
        return replace(self, job=PROJECTIONS[self.kind.kind](job))

    def tell(self, code: str, **values: Any) -> None:
        """An event on the job."""
        tell(self.api, self.job, code, self.now, **values)

    def tell_once(self, code: str, mark: str, **values: Any) -> None:
        """An event on the job that this process does not repeat."""
        if mark not in self.memory.told:
            self.memory.told = (*self.memory.told, mark)
            self.tell(code, **values)
