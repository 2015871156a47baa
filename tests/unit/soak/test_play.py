"""When a case is wrong although its end was seen: it did not last, nobody recorded it, or nothing was spoilt."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

import pytest

from spotproof.kube.waiting import NotSeen
from tests.e2e.controller.faults import Call, Fault, Trap
from tests.soak.cases import LEASE, Case
from tests.soak.moves import MOVES
from tests.soak.play import Theatre, is_recorded, stays
from tests.soak.spoilers import LATE_SECONDS, Lease

MOVE: Final = MOVES["jobset-down"]
CASE: Final = Case("jobset-down", LEASE, "patch jobsets", 1)
CALL: Final = Call("patch", "jobsets", "/jobsets/gang")


def _moment(at: float, is_there: Callable[[float], bool]) -> tuple[Any, Any, Callable[[], float]]:
    """A workspace and a move whose end is there or not as time goes by, a second with each look."""
    clock = [at]

    def news(*_: float) -> None:
        clock[0] += 1.0

    here = SimpleNamespace(recorder=SimpleNamespace(wait_for_news=news), summary=lambda: "two evictions")

    def look(_: object) -> bool:
        return is_there(clock[0])

    return here, SimpleNamespace(is_there=look), lambda: clock[0]


def test_an_end_that_lasts_is_one() -> None:
    here, move, clock = _moment(10.0, lambda _: True)
    stays(here, move, clock)
    assert clock() >= 10.0 + LATE_SECONDS


@pytest.mark.parametrize("late", [0.0, 1.0, LATE_SECONDS])
def test_an_end_after_which_something_is_counted_again_is_none(late: float) -> None:
    here, move, clock = _moment(10.0, lambda now: now < 10.0 + late)
    with pytest.raises(AssertionError, match="it did not stay so: two evictions"):
        stays(here, move, clock)


def _recorded(there: Sequence[str], recorded: Sequence[str], failures: Sequence[str] = ()) -> Any:
    def wait(read: Callable[[], bool], what: str, _seconds: float) -> None:
        if not read():
            raise NotSeen(what)

    versions = [SimpleNamespace(kind="Pod", uid=uid) for uid in recorded]
    return SimpleNamespace(
        recorder=SimpleNamespace(failures=list(failures), raw=lambda: SimpleNamespace(versions=versions)),
        pods=lambda: [{"metadata": {"uid": uid}} for uid in there],
        kube=SimpleNamespace(wait=wait),
    )


def test_a_recording_that_has_every_pod_is_whole() -> None:
    is_recorded(_recorded("cdef", "abcdef"), MOVE)


def test_a_recording_after_whose_hole_nothing_could_be_found_wrong_is_refused() -> None:
    with pytest.raises(AssertionError):
        is_recorded(_recorded("cdef", "abcdef", ["RuntimeError: too old resource version"]), MOVE)
    with pytest.raises(NotSeen, match="the pods to be in the recording"):
        is_recorded(_recorded("cdef", "abcd"), MOVE)
    with pytest.raises(AssertionError, match="3 pods were recorded of 4"):
        is_recorded(_recorded("", "abc"), MOVE)


def _lease(heir: str, *, caught: bool) -> Lease:
    """A case of the lease after its end: the call was caught or not, and `heir` was the last to be seen to hold it."""
    nobody: Any = SimpleNamespace()
    spoiler = Lease(nobody, nobody, nobody, CASE)
    spoiler.leader, spoiler.heir = "first", heir
    spoiler.trap = Trap(Fault.LATE, lambda _: True)
    if caught:
        spoiler.trap.takes(CALL)
        spoiler.trap.reach()
    spoiler.end()
    return spoiler


def test_a_lease_that_another_replica_has_was_lost() -> None:
    spoiler = _lease("second", caught=True)
    assert (spoiler.reached, spoiler.wrong) == (True, "")


@pytest.mark.parametrize("heir", ["first", ""])
def test_a_lease_that_nobody_took_makes_the_case_wrong(heir: str) -> None:
    spoiler = _lease(heir, caught=True)
    assert spoiler.wrong == "nobody took the lease from first within 50 s"


def test_a_lease_case_whose_call_was_not_made_is_not_made_and_not_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.soak.spoilers.LATE_SECONDS", 0.0)
    spoiler = _lease("first", caught=False)
    assert (spoiler.reached, spoiler.wrong) == (False, "")


def test_of_a_case_that_went_wrong_it_is_said_where_the_controller_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object) -> None:
        raise NotSeen("waited 180 s for the gang")

    theatre: Any = Theatre(SimpleNamespace())  # type: ignore[arg-type]  # no part of it is asked
    theatre.proxy = SimpleNamespace(disarm=lambda: None, cut_silent_watches=lambda: None)
    theatre.alone = SimpleNamespace(is_running=True, last_words=lambda: "controller had ended with 1")
    monkeypatch.setattr(Theatre, "_play", wrong)
    result = theatre.play(Case("jobset-down", "watch silent", "pods", 1))
    assert result.why == "NotSeen: waited 180 s for the gang\ncontroller had ended with 1"
