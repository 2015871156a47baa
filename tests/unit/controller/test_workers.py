"""One look at a job, and what its outcome makes of the queue."""

import threading
from collections.abc import Callable

import pytest

from spotproof.controller.cache import Key
from spotproof.controller.metrics import Outcome, Unobserved
from spotproof.controller.work_queue import WorkQueue
from spotproof.controller.workers import STUCK_SECONDS, Workers, step
from spotproof.kube.client import Refused, Unreachable
from spotproof.kube.waiting import wait

A = Key("JobSet", "team", "a")


class Reconciler:
    """Does what the test says."""

    def __init__(self, look: Callable[[], float | None]) -> None:
        self.look = look
        self.seen: list[Key] = []

    def reconcile(self, key: Key) -> float | None:
        self.seen.append(key)
        return self.look()


def raises(error: Exception) -> Callable[[], float | None]:
    def look() -> float | None:
        raise error

    return look


def queued() -> WorkQueue[Key]:
    queue: WorkQueue[Key] = WorkQueue(clock=lambda: 1000.0, jitter=lambda: 1.0)
    queue.add(A)
    assert queue.take() == A
    return queue


def look(queue: WorkQueue[Key], what: Callable[[], float | None]) -> Outcome:
    return step(queue, Reconciler(what), A, observer=Unobserved(), seconds=lambda: 0.0)


def test_a_look_that_ends_well_is_repeated_when_it_says() -> None:
    queue = queued()
    assert look(queue, lambda: 1060.0) == "done"
    assert queue.next_at() == 1060


@pytest.mark.parametrize(
    ("error", "outcome", "again"),
    [
        (Refused(409, "conflict"), "refused", 1000.25),
        (Refused(429, "slow down", "", 7), "refused", 1007),
        (Unreachable("no route"), "unreachable", 1000.25),
        (KeyError("a fault of ours"), "error", 1000.25),
    ],
)
def test_a_look_that_fails_is_repeated_by_the_queue(error: Exception, outcome: Outcome, again: float) -> None:
    queue = queued()
    assert look(queue, raises(error)) == outcome
    assert queue.next_at() == again


class Behind(threading.Event):
    """News that is never taken in; counts who waits for that, who has then waited long enough."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits += 1
        return False


def test_a_worker_gives_way_to_news_before_each_look_and_looks_all_the_same() -> None:
    queue: WorkQueue[Key] = WorkQueue(clock=lambda: 1000.0, jitter=lambda: 1.0)
    behind, waited = Behind(), list[int]()

    def seen() -> None:
        waited.append(behind.waits)
        queue.add(Key("JobSet", "team", "b")) if len(waited) == 1 else queue.stop()

    workers = Workers(1, queue, Reconciler(seen), observer=Unobserved(), seconds=lambda: 0.0, caught_up=behind)
    queue.add(A)
    workers.start()
    wait(lambda: not workers.alive(), "the worker to end", 10)
    assert waited == [1, 2]


def test_a_worker_is_stuck_once_one_call_takes_longer_than_any_can_and_never_while_it_waits_for_work() -> None:
    queue: WorkQueue[Key] = WorkQueue(clock=lambda: 1000.0, jitter=lambda: 1.0)
    at, calls, answer, stuck = [0.0], threading.Event(), threading.Event(), list[bool]()

    def looked() -> None:
        for _ in range(3):  # a long look of many calls
            workers.calling()
            at[0] += STUCK_SECONDS
            stuck.append(workers.stuck())
        calls.set()
        answer.wait(10)

    workers = Workers(2, queue, Reconciler(looked), observer=Unobserved(), seconds=lambda: at[0], caught_up=set_event())
    workers.start()
    queue.add(A)
    assert calls.wait(10)
    assert stuck == [False, False, False]
    at[0] += 1
    assert workers.stuck()
    answer.set()
    wait(lambda: not workers.stuck(), "the look to end", 10)
    at[0] += 10 * STUCK_SECONDS
    assert not workers.stuck()
    assert workers.stop(10)


def test_only_calls_of_a_worker_say_that_it_gets_on() -> None:
    queue: WorkQueue[Key] = WorkQueue(clock=lambda: 1000.0, jitter=lambda: 1.0)
    at = [0.0]
    workers = Workers(
        1, queue, Reconciler(lambda: None), observer=Unobserved(), seconds=lambda: at[0], caught_up=set_event()
    )
    workers.calling()
    at[0] += 10 * STUCK_SECONDS
    assert not workers.stuck()


def set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


def test_workers_finish_what_is_at_hand_and_take_nothing_more() -> None:
    queue: WorkQueue[Key] = WorkQueue(clock=lambda: 1000.0, jitter=lambda: 1.0)
    reconciler = Reconciler(lambda: None)

    def last() -> None:
        queue.add(Key("JobSet", "team", "b"))
        queue.stop()

    reconciler.look = last
    workers = Workers(2, queue, reconciler, observer=Unobserved(), seconds=lambda: 0.0, caught_up=set_event())
    queue.add(A)
    workers.start()
    assert workers.stop(10)
    assert not workers.alive()
    assert reconciler.seen in ([A], [])
