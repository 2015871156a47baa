"""What spoils a move, one class a kind of fault: from when on it may strike, until everything about it is over."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

from spotproof.controller import reflector
from spotproof.controller.election import NAME
from spotproof.kube.client import Refused
from spotproof.kube.waiting import wait
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.vocabulary import SYSTEM_NAMESPACE
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.faults import Fault, Trap
from tests.e2e.controller.process import Controller
from tests.e2e.stage import NOT_FOUND
from tests.soak.cases import ENDED, ENDED_AT, EVERY, LEASE, SILENT, SILENT_AT, Case

LOST: Final = "the lease is lost"
"""In the log of a controller that has ended itself for it."""
LEASES: Final = ("coordination.k8s.io/v1", "Lease")
LEASE_SECONDS: Final = 50.0
"""For another replica to take a lease that is not renewed; the proxy holds a call for 60 s."""
LATE_SECONDS: Final = 2.0
"""For a call that comes after all is well: a rehearsal waits as long for its last ones."""
STRIKE_SECONDS: Final = 70.0
"""From a call that is caught to where its fault strikes: the API server's answer may be waited for."""
BACK_SECONDS: Final = 60.0
"""For watches that were cut, or ended, to be there again."""
SILENCE_SECONDS: Final = reflector.SILENCE_SECONDS + 60.0
"""For the controller to take a silent watch for dead, which it does by itself."""
HELD_OUT: Final = frozenset({"jobset-down", "rayjob-down"})
"""Moves after which a silent watch is left to the controller, for 90 s; after others its connection is cut, so that
its news come as late as the end of the move."""


class Nothing:
    """Spoils nothing."""

    def __init__(self, plane: ControlPlane, proxy: FaultProxy, alone: Controller, case: Case | None = None) -> None:
        self.plane, self.proxy, self.alone = plane, proxy, alone
        self.case = case
        self.reached = False
        """Whether it has struck."""
        self.wrong = ""
        """What it should have brought about, and did not."""

    @property
    def runs(self) -> bool:
        """Whether the controller is there, as it should be in the end."""
        return self.alone.is_running

    def begin(self) -> None:
        """From here on it may strike."""

    def end(self) -> None:
        """All is well; wait until all that goes on beside is over, so that nothing can come of it any more."""

    def clear_up(self) -> None:
        """As it was before, for the next case, wherever this one has ended."""
        self.proxy.disarm()
        self.proxy.cut_silent_watches()
        if not self.alone.is_running:
            self.alone.start()


class Refusal(Nothing):
    """A call is refused, or its connection cut."""

    trap: Trap | None = None
    thread: threading.Thread | None = None

    def begin(self) -> None:
        assert self.case is not None
        said, nth = self.case.call, self.case.nth
        self.trap = self.proxy.arm(self.fault(self.case), lambda call: call.said == said, nth)
        self.thread = threading.Thread(target=self._wait, args=(self.trap,))
        self.thread.start()

    def fault(self, case: Case) -> Fault:
        """What the proxy does to the call."""
        return Fault(case.fault)

    def strike(self) -> None:
        """The call is there: what is done meanwhile, while it is held."""

    def go_on(self) -> None:
        """What is done once it is let go."""

    def _wait(self, trap: Trap) -> None:
        while not trap.reached(0.1):
            if trap.is_released:
                return
        try:
            self.strike()
        finally:
            trap.release()
        self.go_on()

    def end(self) -> None:
        assert self.trap is not None
        self.trap.reached(LATE_SECONDS)
        self.reached = self.trap.caught is not None and self.trap.reached(STRIKE_SECONDS)
        self._over()

    def _over(self) -> None:
        if self.trap is not None and not self.trap.reached(0):
            self.trap.release()
        if self.thread is not None:
            self.thread.join()

    def clear_up(self) -> None:
        self._over()
        super().clear_up()


class Kill(Refusal):
    """The controller is killed with a call, and runs again."""

    def strike(self) -> None:
        self.alone.kill()

    def go_on(self) -> None:
        self.alone.start()


class Watch(Nothing):
    """A watch ends as too old, or goes silent, just before something happens."""

    def begin(self) -> None:
        assert self.case is not None
        self.open = self.opened()
        self.reached = self.spoil("" if self.case.call == EVERY else self.case.call) > 0

    def opened(self) -> Counter[str]:
        """Resources of the watches that deliver, and how many of each."""
        return Counter(self.proxy.watched)

    def spoil(self, resource: str) -> int:
        """Do it to the watches of a resource, or to all. How many."""
        assert self.case is not None
        ends = self.case.fault in {ENDED, ENDED_AT}
        return self.proxy.end_watches(resource) if ends else self.proxy.silence_watches(resource)

    def end(self) -> None:
        assert self.case is not None
        if self.case.move in HELD_OUT:
            wait(lambda: not self.proxy.silent, "silent watches to be taken for dead", SILENCE_SECONDS, seen=self._seen)
        else:
            self.proxy.cut_silent_watches()
        wait(lambda: not self.open - self.opened(), "every watch to be there again", BACK_SECONDS, seen=self._seen)

    def _seen(self) -> str:
        return f"{self.opened()}, silent {self.proxy.silent}, where {self.open} were\n{self.alone.tail()}"


class WatchesAtWrite(Refusal, Watch):
    """The same happens to every watch in the middle of a move: while a write of it is under way."""

    def fault(self, case: Case) -> Fault:  # noqa: ARG002  # the others'
        return Fault.LATE

    def begin(self) -> None:
        self.open = self.opened()
        Refusal.begin(self)

    def strike(self) -> None:
        self.spoil("")

    def end(self) -> None:
        Refusal.end(self)
        Watch.end(self)


class Lease(Refusal):
    """Another replica has taken the lease when a call that was under way reaches the API server.

    Where four control planes share two cores an answer may take seconds, so that the other replica loses the lease as
    well, and ends: it is started again, as its kubelet would.
    """

    def fault(self, case: Case) -> Fault:  # noqa: ARG002  # the others'
        return Fault.LATE

    def __init__(self, plane: ControlPlane, proxy: FaultProxy, alone: Controller, case: Case | None = None) -> None:
        super().__init__(plane, proxy, alone, case)
        self.first = Controller(plane, "leader", through=proxy, arguments=())
        self.second = Controller(plane, "follower", arguments=())
        self.leader = self.heir = ""
        self.over = threading.Event()
        self.kubelet = threading.Thread(target=self._keep)

    def begin(self) -> None:
        self.alone.kill()
        self._free()
        self.first.start()
        self.leader = wait(self.holder, "the first replica to lead", LEASE_SECONDS, seen=self.first.tail)
        self.second.start(until_ready=False)
        self.kubelet.start()
        super().begin()

    def _free(self) -> None:
        """Nobody has it: the replicas of the last case were killed, and their lease runs on for 15 s."""
        try:
            self.plane.kube.delete(*LEASES, NAME, SYSTEM_NAMESPACE)
        except Refused as refused:
            if refused.status != NOT_FOUND:  # nobody ever had it
                raise

    @property
    def runs(self) -> bool:
        return self.second.is_running or self._has_lost()

    def _has_lost(self) -> bool:
        return self.plane.ended(self.second.name) is not None and LOST in self.second.tail()

    def _keep(self) -> None:
        while not self.over.wait(1.0):
            if self._has_lost():
                self.second.start(until_ready=False)

    def strike(self) -> None:
        self.proxy.refuses_leases = True
        deadline = time.monotonic() + LEASE_SECONDS
        while self.heir in {"", self.leader} and time.monotonic() < deadline:
            self.heir = self.holder()
            time.sleep(0.2)

    def end(self) -> None:
        super().end()
        if self.reached and self.heir in {"", self.leader}:
            self.wrong = f"nobody took the lease from {self.leader} within {LEASE_SECONDS:g} s"

    def holder(self) -> str:
        """Who has the lease; empty where nobody has."""
        found = self.plane.kube.find(*LEASES, NAME, SYSTEM_NAMESPACE)
        return "" if found is None else str(found["spec"].get("holderIdentity") or "")

    def clear_up(self) -> None:
        self.over.set()
        if self.kubelet.is_alive():
            self.kubelet.join()
        self._over()
        self.proxy.refuses_leases = False
        for each in (self.first, self.second):
            if each.is_running:
                each.kill()
        super().clear_up()


SPOILERS: Final[Mapping[str, type[Nothing]]] = {
    **{each.value: Refusal for each in Fault},
    Fault.KILLED_BEFORE.value: Kill,
    Fault.KILLED_AFTER.value: Kill,
    ENDED: Watch,
    SILENT: Watch,
    ENDED_AT: WatchesAtWrite,
    SILENT_AT: WatchesAtWrite,
    LEASE: Lease,
}
"""By the fault of a case."""
