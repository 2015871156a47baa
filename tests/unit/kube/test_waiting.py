from collections.abc import Callable, Iterator

import pytest

from spotproof.kube.waiting import NotSeen, wait
from tests.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


def looks(*found: object) -> Callable[[], object]:
    """A look that finds these one after the other, the last one for ever; an exception is raised."""
    left: Iterator[object] = iter(found)
    last: list[object] = [None]

    def look() -> object:
        last[0] = next(left, last[0])
        if isinstance(last[0], Exception):
            raise last[0]
        return last[0]

    return look


def test_the_first_thing_found_is_given(clock: Clock) -> None:
    assert wait(looks(None, [], "", "pods"), "pods", 10, clock=clock, sleep=clock.sleep) == "pods"


def test_the_error_says_what_was_waited_for_and_what_was_seen_last(clock: Clock) -> None:
    with pytest.raises(NotSeen, match=r"waited 10 s for 4 pods Running; seen last: \[\]"):
        wait(looks(None, []), "4 pods Running", 10, clock=clock, sleep=clock.sleep)
    assert clock.now == pytest.approx(10, abs=0.1)


def test_what_is_there_instead_is_asked_once_the_time_is_over(clock: Clock) -> None:
    with pytest.raises(NotSeen, match=r"seen last: 3 pods Pending"):
        wait(looks(None), "pods", 1, seen=lambda: "3 pods Pending", clock=clock, sleep=clock.sleep)


def test_an_exception_that_may_pass_is_waited_out(clock: Clock) -> None:
    found = wait(looks(KeyError("a"), 7), "it", 1, patient=(KeyError,), clock=clock, sleep=clock.sleep)
    assert found == 7


def test_an_exception_that_never_passes_is_what_was_seen_last(clock: Clock) -> None:
    with pytest.raises(NotSeen, match=r"seen last: no such thing"):
        wait(looks(OSError("no such thing")), "it", 1, patient=(OSError,), clock=clock, sleep=clock.sleep)


def test_any_other_exception_ends_the_wait_at_once(clock: Clock) -> None:
    with pytest.raises(ZeroDivisionError):
        wait(looks(None, ZeroDivisionError()), "it", 10, patient=(OSError,), clock=clock, sleep=clock.sleep)
    assert clock.now < 1


def test_there_is_one_look_even_without_time(clock: Clock) -> None:
    assert wait(looks(1), "it", 0, clock=clock, sleep=clock.sleep) == 1
