"""The work queue under a clock that the test sets."""

import threading
from collections.abc import Hashable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.controller.work_queue import (
    MOST_HASTY,
    MOST_RESTING,
    MOST_RETRY_AFTER_SECONDS,
    URGENT_IN_A_ROW,
    Backoff,
    WorkQueue,
)
from tests.clock import Clock

K = TypeVar("K", bound=Hashable)


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def queue(clock: Clock) -> WorkQueue[str]:
    return WorkQueue(clock=clock, jitter=lambda: 1.0, backoff=Backoff(1.0, 60.0))


def taken(queue: WorkQueue[K]) -> list[K]:
    """All that is due, each done at once."""
    keys: list[K] = []
    while (key := queue.take()) is not None:
        keys.append(key)
        queue.done(key)
    return keys


def test_keys_come_in_the_order_of_their_news_and_once_each(queue: WorkQueue[str]) -> None:
    for key in "abca":
        queue.add(key)
    assert taken(queue) == ["a", "b", "c"]
    assert queue.next_at() is None


def test_news_of_a_key_at_work_waits_until_it_is_done(queue: WorkQueue[str]) -> None:
    queue.add("a")
    assert queue.take() == "a"
    queue.add("a")
    queue.add("a")
    assert queue.take() is None
    queue.done("a")
    assert taken(queue) == ["a"]


@pytest.fixture
def resting(clock: Clock) -> WorkQueue[str]:
    return WorkQueue(clock=clock, jitter=lambda: 1.0, rest_seconds=0.2)


def test_a_key_that_was_looked_at_rests_and_one_that_was_quiet_comes_first(
    resting: WorkQueue[str], clock: Clock
) -> None:
    resting.add("busy")
    assert resting.take() == "busy"
    resting.add("busy")
    resting.done("busy")
    resting.add("busy")
    resting.add("quiet")

    assert taken(resting) == ["quiet"]
    assert resting.next_at() == 1000.2
    clock.now = 1000.2
    assert taken(resting) == ["busy"]


def test_a_clock_that_is_set_back_keeps_nobody_resting(resting: WorkQueue[str], clock: Clock) -> None:
    resting.add("a")
    taken(resting)
    clock.now = 400.0
    resting.add("a")

    assert taken(resting) == ["a"]


def test_urgent_news_comes_first(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.add("b", urgent=True)

    assert taken(queue) == ["b", "a"]


def test_a_key_that_is_ready_already_is_hurried(queue: WorkQueue[str]) -> None:
    for key in "ab":
        queue.add(key)
    queue.add("b", urgent=True)

    assert taken(queue) == ["b", "a"]


def test_urgent_news_of_a_key_at_work_or_at_rest_is_urgent_afterwards(resting: WorkQueue[str], clock: Clock) -> None:
    resting.add("at work")
    assert resting.take() == "at work"
    resting.add("at work", urgent=True)
    resting.done("at work")
    resting.add("at work", urgent=True)
    clock.now += 1
    resting.add("b")

    assert taken(resting) == ["at work", "b"]


def test_what_was_urgent_is_so_once(queue: WorkQueue[str]) -> None:
    queue.add("a", urgent=True)
    taken(queue)
    for key in "ba":
        queue.add(key)

    assert taken(queue) == ["b", "a"]


def test_however_many_are_urgent_another_one_has_its_turn(queue: WorkQueue[str]) -> None:
    queue.add("other")
    for number in range(2 * URGENT_IN_A_ROW):
        queue.add(f"urgent {number}", urgent=True)

    assert taken(queue).index("other") == URGENT_IN_A_ROW
    assert queue.depth().ready == 0


def test_the_oldest_of_both_lines_is_the_depths(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("other")
    clock.now += 2
    queue.add("urgent", urgent=True)

    assert (queue.depth().ready, queue.depth().oldest_seconds) == (2, 2.0)


def test_who_rests_is_forgotten_once_that_is_over(resting: WorkQueue[str], clock: Clock) -> None:
    for number in range(3 * MOST_RESTING):
        clock.now += 1.0
        resting.add(str(number))
        taken(resting)

    assert len(resting._done_at) <= MOST_RESTING + 1  # pyright: ignore[reportPrivateUsage]


def test_of_two_instants_the_earlier_counts_and_taking_settles_both(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add_at("a", 1030)
    queue.add_at("a", 1010)
    queue.add_at("a", 1020)
    assert queue.next_at() == 1010
    clock.now = 1009.9
    assert queue.take() is None
    clock.now = 1010
    assert taken(queue) == ["a"]
    clock.now = 2000
    assert queue.take() is None


def test_keys_that_are_due_come_in_the_order_of_their_instants(queue: WorkQueue[str], clock: Clock) -> None:
    for key, instant in {"late": 1003, "early": 1001, "middle": 1002}.items():
        queue.add_at(key, instant)
    clock.now = 1005
    assert taken(queue) == ["early", "middle", "late"]


def test_an_instant_that_comes_while_a_key_is_at_work_is_not_lost(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("a")
    queue.take()
    queue.add_at("a", 1001)
    clock.now = 1002
    assert queue.take() is None
    queue.done("a", again_at=5000)
    assert queue.take() == "a"


def test_a_key_comes_again_when_it_was_said_to(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("a")
    queue.take()
    queue.done("a", again_at=1060)
    assert queue.next_at() == 1060
    clock.now = 1060
    assert queue.take() == "a"


def test_failures_double_the_wait_up_to_the_most_and_success_ends_that(queue: WorkQueue[str], clock: Clock) -> None:
    waits: list[float] = []
    queue.add("a")
    for _ in range(9):
        assert queue.take() == "a"
        again = queue.failed("a")
        waits.append(again.seconds)
        clock.now += again.seconds
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    queue.take()
    queue.done("a")
    queue.add("a")
    queue.take()
    assert queue.failed("a") == (1.0, 1)


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_a_wait_is_between_half_and_all_of_the_doubled_one(failures: int, jitter: float) -> None:
    backoff = Backoff(0.25, 60)
    whole = backoff.seconds(failures, 1.0)
    assert whole / 2 <= backoff.seconds(failures, jitter) <= whole <= 60


def test_news_ends_the_wait_of_a_failed_key(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.take()
    queue.failed("a")
    assert queue.take() is None
    queue.add("a")
    assert queue.take() == "a"


def test_news_of_a_key_that_fails_again_and_again_waits_with_it(queue: WorkQueue[str], clock: Clock) -> None:
    for _ in range(MOST_HASTY):
        queue.add("a")
        queue.take()
        queue.failed("a")
    queue.add("a")
    assert queue.take() == "a"
    again = queue.failed("a")
    queue.add("a")
    assert queue.take() is None
    clock.now += again.seconds
    assert taken(queue) == ["a"]


def test_what_the_server_asks_for_holds_for_news_too(queue: WorkQueue[str], clock: Clock) -> None:
    queue.add("a")
    queue.take()
    queue.add("a")
    assert queue.failed("a", retry_after_seconds=7).seconds == 7
    queue.add("a")
    queue.add_at("a", 1001)
    clock.now = 1006.9
    assert queue.take() is None
    clock.now = 1007
    assert queue.take() == "a"
    queue.done("a")
    queue.add("a")
    assert queue.take() == "a"


def test_a_server_that_asks_for_a_day_does_not_get_it(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.take()
    assert queue.failed("a", retry_after_seconds=86400).seconds == MOST_RETRY_AFTER_SECONDS


def test_depth_tells_what_is_ready_later_and_at_work(queue: WorkQueue[str], clock: Clock) -> None:
    for key in "abc":
        queue.add(key)
    queue.add_at("d", 1100)
    queue.take()
    clock.now = 1004
    assert queue.depth() == (2, 1, 1, 4.0)


def test_instants_that_are_settled_leave_nothing_behind(queue: WorkQueue[str], clock: Clock) -> None:
    for _ in range(10_000):
        queue.add("a")
        queue.take()
        queue.done("a", again_at=clock.now + 3600)
        clock.now += 0.1
    assert len(queue._heap) < 200  # pyright: ignore[reportPrivateUsage]


def test_a_stopped_queue_gives_nothing_out(queue: WorkQueue[str]) -> None:
    queue.add("a")
    queue.stop()
    assert queue.take() is None
    assert queue.next() is None


def test_whoever_waits_is_woken_by_news_and_by_the_end(queue: WorkQueue[str]) -> None:
    got: list[str | None] = []
    waiting = threading.Thread(target=lambda: got.extend([queue.next(), queue.next()]))
    waiting.start()
    queue.add("a")
    queue.stop()
    waiting.join(10)
    assert not waiting.is_alive()
    assert got in (["a", None], [None, None])


_act = st.tuples(
    st.sampled_from(("add", "hurry", "later", "take", "done", "fail", "wait")), st.integers(0, 3), st.integers(0, 9)
)


class Played:
    """A queue that is played with, who is at work, and what is owed a look."""

    def __init__(self, rest_seconds: float) -> None:
        self.clock = Clock()
        self.queue: WorkQueue[int] = WorkQueue(
            clock=self.clock, jitter=lambda: 0.5, backoff=Backoff(1.0, 8.0), rest_seconds=rest_seconds
        )
        self.owed: set[int] = set()
        self.working: set[int] = set()

    def add(self, key: int, _: int) -> None:
        self.owed.add(key)
        self.queue.add(key)

    def hurry(self, key: int, _: int) -> None:
        self.owed.add(key)
        self.queue.add(key, urgent=True)

    def later(self, key: int, seconds: int) -> None:
        self.owed.add(key)
        self.queue.add_at(key, self.clock.now + seconds)

    def take(self, *_: int) -> None:
        if (key := self.queue.take()) is not None:
            assert key not in self.working
            self.working.add(key)
            self.owed.discard(key)

    def done(self, key: int, _: int) -> None:
        if key in self.working:
            self.working.discard(key)
            self.queue.done(key)

    def fail(self, key: int, seconds: int) -> None:
        if key in self.working:
            self.working.discard(key)
            self.owed.add(key)
            self.queue.failed(key, seconds)

    def wait(self, _: int, seconds: int) -> None:
        self.clock.now += seconds


@given(st.lists(_act, max_size=80), st.sampled_from((0.0, 0.2)))
def test_news_is_never_lost_and_no_key_is_at_work_twice(acts: list[tuple[str, int, int]], rest_seconds: float) -> None:
    played = Played(rest_seconds)
    for act, key, number in acts:
        getattr(played, act)(key, number)
    for key in list(played.working):
        played.done(key, 0)
    played.wait(0, 1000)
    played.owed -= set(taken(played.queue))
    assert played.owed == set()
    assert played.queue.next_at() is None
