"""Which of several replicas acts: the holder of a Lease, which it renews.

The Lease is written by the official client's LeaseLock (37.0), with its check of the resource version. Its
LeaderElection is not used: it sleeps where it cannot be stopped, judges a lease by the wall clock, which may be set
back by hours, dies of a connection that is refused, waits for an answer for ever while its lease runs out, and
never gives a lease back. Times here are of a monotonic clock, of the replica that reads it: what another replica wrote
as a time is compared with what it wrote before, and with nothing else.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, Protocol

import structlog
from kubernetes.client import CoordinationV1Api
from kubernetes.leaderelection.leaderelectionrecord import LeaderElectionRecord
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from spotproof.kube.client import Kube, Refused, Unreachable
from spotproof.kube.errors import said

_log: Final = structlog.get_logger()

NAME: Final = "spotproof-controller"
LEASE_SECONDS: Final = 15
"""Another replica takes over this long after the last renewal that it saw; as controllers of Kubernetes have it."""
RENEW_SECONDS: Final = 10.0
"""A leader whose last renewal was begun so long ago ends itself, 5 s before anybody takes over."""
TRY_SECONDS: Final = 2.0
CALL_SECONDS: Final = (2.0, 3.0)
"""To connect, and for an answer. Together less than what is left between a try that fails and the end."""
NOT_FOUND: Final = 404


class Lock(Protocol):
    """Where the lease is; `LeaseLock` fits."""

    name: str
    namespace: str
    identity: str

    def get(self, name: str, namespace: str) -> tuple[bool, Any]:
        """True and what the lease says, or False and the refusal."""
        ...

    def create(self, name: str, namespace: str, election_record: Any) -> bool:
        """Whether it was made."""
        ...

    def update(self, name: str, namespace: str, updated_record: Any) -> bool:
        """Whether it was written; not where somebody else has written it since `get`."""
        ...


def lease(kube: Kube, namespace: str, identity: str) -> Lock:
    """The controller's lease, on this API server, with calls that end in time."""
    lock: Any = LeaseLock(NAME, namespace, identity)
    api = CoordinationV1Api(kube.api)
    calls = ("read_namespaced_lease", "create_namespaced_lease", "replace_namespaced_lease")
    lock.api_instance = SimpleNamespace(
        **{call: partial(getattr(api, call), _request_timeout=CALL_SECONDS) for call in calls}
    )
    return lock


class Candidate:
    """One replica's part in it.

    Args:
        lock: The lease.
        seconds: A monotonic clock.
        now: The wall clock with its zone, for people who read the lease.
    """

    def __init__(self, lock: Lock, *, seconds: Callable[[], float], now: Callable[[], datetime]) -> None:
        self._lock = lock
        self._seconds = seconds
        self._now = now
        self._turning = threading.Lock()
        self._leads = False
        self._lost = False
        self._given_back = False
        self._renewed_at = 0.0
        self._acquired = ""
        self._seen: tuple[Any, ...] = ()
        self._seen_at = 0.0

    @property
    def leads(self) -> bool:
        """Whether it has the lease, and nobody can have taken it since."""
        return self._leads and not self._lost and self._seconds() - self._renewed_at < RENEW_SECONDS

    @property
    def lost(self) -> bool:
        """Whether it had the lease and cannot be sure of it any more: the process must end."""
        return self._leads and not self.leads

    @property
    def over(self) -> bool:
        """Whether it is no candidate any more: it has lost the lease, or given it back."""
        return self.lost or self._given_back

    def turn(self) -> None:
        """Try once to get the lease, or to keep it; a call that fails changes nothing, but time passes."""
        try:
            with self._turning, said():
                if not self.over:
                    self._turn(self._seconds())
        except (Refused, Unreachable) as error:
            _log.warning("the lease could not be read or written", message=str(error), leads=self.leads)

    def release(self) -> None:
        """Give the lease back, so that another replica has it at its next try; nothing of ours may act any more."""
        with self._turning:
            held, self._given_back, self._leads = self.leads, True, False
        try:
            with said():
                if held:
                    self._let_go()
        except (Refused, Unreachable) as error:
            _log.warning("the lease could not be given back, and runs out", message=str(error))

    def _let_go(self) -> None:
        there, record = self._lock.get(self._lock.name, self._lock.namespace)
        if there and record.holder_identity == self._lock.identity:
            now = self._written()
            self._lock.update(self._lock.name, self._lock.namespace, LeaderElectionRecord("", "1", now, now))

    def _turn(self, started: float) -> None:
        there, record = self._lock.get(self._lock.name, self._lock.namespace)
        if not there:
            if record.status != NOT_FOUND:
                _log.warning("the lease cannot be read", status=record.status, message=str(record.reason))
            elif self._lock.create(self._lock.name, self._lock.namespace, self._record()):
                self._has_it(started)
            return
        if self._leads and record.holder_identity != self._lock.identity:
            self._lost = True
        elif self._may_take(record, started) and self._lock.update(
            self._lock.name, self._lock.namespace, self._record()
        ):
            self._has_it(started)

    def _may_take(self, record: Any, started: float) -> bool:
        """It is its own, nobody's, or has not changed for its whole length, as seen from here."""
        says = (record.holder_identity, record.lease_duration, record.acquire_time, record.renew_time)
        if says != self._seen:
            self._seen, self._seen_at = says, started
        return record.holder_identity in {self._lock.identity, None} or started - self._seen_at >= LEASE_SECONDS

    def _has_it(self, since: float) -> None:
        """It was written by a call that began at `since`, which is when others may have begun to count."""
        if not self._leads:
            self._acquired = self._acquired or self._written()
        self._leads, self._renewed_at = True, since

    def _written(self) -> str:
        """The time for a record, never at a whole second: the client then leaves out the microseconds.

        The API server refuses that with status 400, and a replica that had it as its `acquireTime` never led.
        """
        now = self._now()
        return str(now.replace(microsecond=now.microsecond or 1))

    def _record(self) -> LeaderElectionRecord:
        now = self._written()
        self._acquired = self._acquired or now
        return LeaderElectionRecord(self._lock.identity, str(LEASE_SECONDS), self._acquired, now)
