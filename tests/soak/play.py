"""One case played on a control plane: the move begins, something is spoilt, and in the end all is as it should be."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Self

from spotproof.kube.client import Refused, Unreachable
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from tests.e2e.controller.installed import install
from tests.e2e.controller.process import ALONE, Controller, fault_proxy
from tests.e2e.controller.stage import LAG_SECONDS, Controlled
from tests.e2e.stage import prepare
from tests.soak.cases import Case
from tests.soak.moves import MOVES, Move
from tests.soak.spoilers import LATE_SECONDS, SPOILERS, Nothing

PARTS: Final = Parts.JOBSET | Parts.KUBERAY
TRIES: Final = 3
"""Of a case, until its call is made: some calls occur only sometimes, and not with every try."""
LOOK_SECONDS: Final = (0.1, 0.5)
WENT_WRONG: Final = (AssertionError, TimeoutError, Refused, Unreachable)
_numbers = count(1)


@dataclass(frozen=True)
class Result:
    """What came of a case.

    `reached` is whether the call to be spoilt was made at all, `why` what went wrong, if anything, `tries` how often it
    was played until then, and `seconds` how long all of that took.
    """

    reached: bool
    why: str
    seconds: float
    tries: int = 1


def until_made(play: Callable[[], Result]) -> Result:
    """Play a case until its call is made, or something goes wrong; three times at most."""
    seconds, tries = 0.0, 0
    while True:
        result = play()
        seconds, tries = seconds + result.seconds, tries + 1
        if result.reached or result.why or tries == TRIES:
            return replace(result, seconds=round(seconds, 1), tries=tries)


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
        return self._play(move, Nothing(self.plane, self.proxy, self.alone))

    def play(self, case: Case) -> Result:
        """Play a case, again where its call was not made."""
        return until_made(lambda: self._once(case))

    def _once(self, case: Case) -> Result:
        began, why = time.monotonic(), ""
        spoiler = SPOILERS[case.fault](self.plane, self.proxy, self.alone, case)
        try:
            self._play(case.move, spoiler)
        except WENT_WRONG as error:
            why = f"{type(error).__name__}: {error}\n{self.alone.last_words()}"
        finally:
            spoiler.clear_up()
        return Result(spoiler.reached, why, round(time.monotonic() - began, 1))

    def _play(self, name: str, spoiler: Nothing) -> list[str]:
        move = MOVES[name]
        with Controlled(self.plane, f"soak-{next(_numbers)}", bought=False) as here:
            move.begin(here, move.gang)
            before = len(self.proxy.calls)
            spoiler.begin()
            move.happen(here, move.gang)
            move.end(here)
            spoiler.end()
            stays(here, move)
            calls = [call.said for call in self.proxy.calls[before:]]
            assert not spoiler.wrong, spoiler.wrong
            is_recorded(here, move)
            here.has_one_writer()
            here.has_lived(move.gang.name, *move.tiers, evictions=move.evictions, errors=move.errors)
        assert spoiler.runs, self.alone.tail()
        return calls


def stays(here: Controlled, move: Move, clock: Callable[[], float] = time.monotonic) -> None:
    """Nothing is done or counted any more for two seconds: a second count would come a moment after the first.

    Raises:
        AssertionError: The end was none.
    """
    until = clock() + LATE_SECONDS
    while True:
        assert move.is_there(here), f"it did not stay so: {here.summary()}"
        if clock() >= until:
            return
        here.recorder.wait_for_news(*LOOK_SECONDS)


def is_recorded(here: Controlled, move: Move) -> None:
    """What the judge is shown is whole: of a recorder that has ended it could find nothing wrong.

    Raises:
        AssertionError: A watch of the recorder has failed, or the gang's pods are not in the recording.
        NotSeen: Pods that are there now do not come to be in it.
    """
    assert here.recorder.failures == []
    wanted = {pod["metadata"]["uid"] for pod in here.pods()}

    def recorded() -> set[str]:
        return {each.uid for each in here.recorder.raw().versions if each.kind == "Pod"}

    here.kube.wait(lambda: wanted <= recorded(), "the pods to be in the recording", LAG_SECONDS)
    assert len(recorded()) >= move.gang.pods, f"{len(recorded())} pods were recorded of {move.gang.pods} and more"
