"""One case played on a control plane: the move begins, something is spoilt, and in the end all is as it should be."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Final, Self

from spotproof.rehearsal.control_plane import ControlPlane, Parts
from tests.e2e.controller.faults import Call, Fault, Trap
from tests.e2e.controller.installed import install
from tests.e2e.controller.process import ALONE, Controller, fault_proxy
from tests.e2e.controller.stage import Controlled
from tests.e2e.stage import prepare
from tests.soak.cases import ENDED, EVERY, LEASE, SILENT, Case
from tests.soak.moves import MOVES

PARTS: Final = Parts.JOBSET | Parts.KUBERAY
LOST: Final = "the lease is lost"
"""In the log of a controller that has ended itself for it."""
LATE_SECONDS: Final = 60.0
"""For another replica to take a lease that is not renewed."""
_numbers = count(1)


@dataclass(frozen=True)
class Result:
    """What came of a case: whether the call to be spoilt was made at all, and what went wrong, if anything."""

    reached: bool
    why: str
    seconds: float


class Theatre:
    """A control plane with the controller behind a proxy, for one case after the other."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Install the controller, and run it."""
        prepare(self.plane)
        install(self.plane)
        self.proxy = self._stack.enter_context(fault_proxy(self.plane))
        self.alone = Controller(self.plane, through=self.proxy, arguments=ALONE)
        self.alone.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the controller and the proxy."""
        self.alone.kill()
        self._stack.close()

    def rehearse(self, move: str) -> list[str]:
        """Play a move as it is. Returns its calls, verb and resource of each."""
        calls: list[str] = []
        self._play(move, _Nothing(self), calls)
        return calls

    def play(self, case: Case) -> Result:
        """Play a case."""
        began = time.monotonic()
        spoiler = _SPOILERS.get(case.fault, _Spoilt)(self, case)
        why = ""
        try:
            self._play(case.move, spoiler)
        except (AssertionError, TimeoutError) as error:
            why = f"{type(error).__name__}: {error}"
        finally:
            spoiler.clear_up()
        return Result(spoiler.reached, why, round(time.monotonic() - began, 1))

    def _play(self, name: str, spoiler: "_Nothing", calls: list[str] | None = None) -> None:
        move = MOVES[name]
        with Controlled(self.plane, f"soak-{next(_numbers)}", bought=False) as here:
            move.begin(here, move.gang)
            before = len(self.proxy.calls)
            spoiler.begin()
            move.happen(here, move.gang)
            move.end(here)
            spoiler.end()
            if calls is not None:
                calls.extend(call.said for call in self.proxy.calls[before:])
            here.has_one_writer()
            here.has_lived(move.gang.name, *move.tiers, evictions=move.evictions)
        assert spoiler.runs, self.alone.tail()


class _Nothing:
    """Spoils nothing."""

    def __init__(self, theatre: Theatre, case: Case | None = None) -> None:
        self.theatre = theatre
        self.proxy = theatre.proxy
        self.case = case
        self.reached = False

    @property
    def runs(self) -> bool:
        """Whether the controller is there, as it should be in the end."""
        return self.theatre.alone.is_running

    def begin(self) -> None:
        """From here on it may strike."""

    def end(self) -> None:
        """All is well; whatever goes on beside is waited for."""

    def clear_up(self) -> None:
        """As it was before, for the next case."""
        self.proxy.disarm()


class _Spoilt(_Nothing):
    """A call is refused, or cut, or the controller killed with it."""

    trap: Trap | None = None
    thread: threading.Thread | None = None

    def begin(self) -> None:
        assert self.case is not None
        said, fault = self.case.call, Fault(self.case.fault)
        self.trap = self.proxy.arm(fault, lambda call: _is(call, said), self.case.nth)
        if fault in {Fault.KILLED_BEFORE, Fault.KILLED_AFTER}:
            self.thread = threading.Thread(target=self._kill, args=(self.trap, self.theatre.alone.restart))
            self.thread.start()

    def _kill(self, trap: Trap, restart: Callable[[], None]) -> None:
        while not trap.reached(0.1):
            if trap.is_released:
                return
        self.theatre.alone.kill()
        trap.release()
        restart()

    def end(self) -> None:
        self.reached = self.trap is not None and self.trap.caught is not None

    def clear_up(self) -> None:
        super().clear_up()
        if self.trap is not None:
            self.trap.release()
        if self.thread is not None:
            self.thread.join()


class _Watch(_Nothing):
    """A watch ends as too old, or goes silent, just before something happens."""

    def begin(self) -> None:
        assert self.case is not None
        resource = "" if self.case.call == EVERY else self.case.call
        spoil = self.proxy.end_watches if self.case.fault == ENDED else self.proxy.silence_watches
        self.reached = spoil(resource) > 0


class _Lease(_Spoilt):
    """Another replica has taken the lease when a call that was under way reaches the API server.

    Where four control planes share two cores an answer may take seconds, so that the other replica loses the lease as
    well, and ends: it is started again, as its kubelet would.
    """

    def begin(self) -> None:
        assert self.case is not None
        plane, said = self.theatre.plane, self.case.call
        self.theatre.alone.kill()
        self.first = Controller(plane, "leader", through=self.proxy, arguments=())
        self.first.start(until_ready=False)
        self.first.wait_until_ready()
        self.second = Controller(plane, "follower", arguments=())
        self.second.start(until_ready=False)
        self.trap = self.proxy.arm(Fault.LATE, lambda call: _is(call, said), self.case.nth)
        self.thread = threading.Thread(target=self._lose, args=(self.trap,))
        self.thread.start()
        self.over = threading.Event()
        self.kubelet = threading.Thread(target=self._keep)
        self.kubelet.start()

    @property
    def runs(self) -> bool:
        return self.second.is_running or self._has_lost()

    def _has_lost(self) -> bool:
        return self.theatre.plane.ended(self.second.name) is not None and LOST in self.second.tail()

    def _keep(self) -> None:
        while not self.over.wait(1.0):
            if self._has_lost():
                self.second.start(until_ready=False)

    def _lose(self, trap: Trap) -> None:
        while not trap.reached(0.1):
            if trap.is_released:
                return
        holder = self._holder()
        self.proxy.refuses_leases = True
        deadline = time.monotonic() + LATE_SECONDS
        while self._holder() == holder and time.monotonic() < deadline:
            time.sleep(0.2)
        trap.release()

    def _holder(self) -> str:
        leases = self.theatre.plane.kube.list("coordination.k8s.io/v1", "Lease", "spotproof-system")
        return next((str(each["spec"].get("holderIdentity")) for each in leases), "")

    def clear_up(self) -> None:
        self.over.set()
        self.kubelet.join()
        super().clear_up()
        self.proxy.refuses_leases = False
        for each in (self.first, self.second):
            if each.is_running:
                each.kill()
        self.theatre.alone.start()


_SPOILERS: Final[dict[str, type[_Nothing]]] = {ENDED: _Watch, SILENT: _Watch, LEASE: _Lease}


def _is(call: Call, said: str) -> bool:
    return call.said == said
