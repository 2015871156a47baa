"""The clock of a tier: it runs while a pod finds no node, stands still while none waits, and a place ends it."""

import pytest

from spotproof.controller.deciding import observation, placed, waits_since
from spotproof.controller.gang import Gang
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.run import Phase
from tests.unit.controller.things import NOW, gang, pod

NEW = TrainingRunStatus(tier="spot")
WAITS = gang(pod("a"), pod("b", waits=True))
LATER = gang(pod("a"), pod("c", waits=True, waits_since=60))
"""A pod of the next attempt, which finds no node from the second minute on."""
QUOTA = gang(pod("a"))
"""The other pod is not made: the namespace may have no more."""
PLACED = gang(pod("a"), pod("b"))
MINUTE = 60


def lived(*looks: tuple[int, Gang]) -> TrainingRunStatus:
    """The record after these looks, so many seconds after the first."""
    status = NEW
    for at, seen in looks:
        status = placed(status, seen, NOW + at)
    return status


@pytest.mark.parametrize(
    ("words", "looks", "runs", "seconds"),
    [
        ("from the first moment", [(0, WAITS), (90, WAITS)], True, 90),
        ("not while the others are only not made", [(0, WAITS), (30, QUOTA), (900, QUOTA)], False, 30),
        ("on from where it stood", [(0, WAITS), (30, QUOTA), (900, WAITS), (910, WAITS)], True, 40),
        ("and again", [(0, WAITS), (30, QUOTA), (60, WAITS), (70, QUOTA), (90, WAITS), (95, WAITS)], True, 45),
        ("anew after a place", [(0, WAITS), (30, PLACED), (60, LATER), (70, LATER)], True, 10),
        ("anew after a place that came while it stood", [(0, WAITS), (9, QUOTA), (30, PLACED), (60, LATER)], True, 0),
    ],
)
def test_the_clock_runs(words: str, looks: list[tuple[int, Gang]], seconds: int, *, runs: bool) -> None:
    status = lived(*looks)
    at, seen = looks[-1]
    told = observation(status, seen, None, NOW + at)

    assert (waits_since(status) is not None) is runs, words
    assert told.phase is Phase.WAITING
    if runs:
        assert NOW + at - told.since == seconds, words
    else:
        # no clock that could move it, and what had passed is kept
        assert (told.since, told.sights["spot"].there) == (NOW + at, True), words
        assert status.waiting_since is not None
        assert status.waiting_paused is not None
        assert status.waiting_paused - status.waiting_since == seconds, words


def test_a_job_that_has_not_waited_has_no_clock_that_could_stand_still() -> None:
    assert lived((0, QUOTA), (MINUTE, QUOTA)).waiting_paused is None


@pytest.mark.parametrize(("arrived", "since"), [(None, NOW), (NOW - 900, NOW), (NOW + 25, NOW + 25)])
def test_no_wait_began_before_the_job_came_to_the_tier_whatever_the_clock_of_its_pods(
    arrived: int | None, since: int
) -> None:
    """Moved by a controller whose clock is ahead: its pods were refused a node before it came, by theirs."""
    moved = TrainingRunStatus(tier="spot", arrived=arrived)

    assert placed(moved, WAITS, NOW + 30).waiting_since == since
