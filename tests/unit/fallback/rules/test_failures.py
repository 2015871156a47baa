import pytest

from spotproof.fallback import Code, Failure, Policy, RunState, decide, sentence
from tests.unit.fallback.samples import (
    DEAR,
    ON_DEMAND,
    SPOT,
    TWIN,
    Answer,
    at,
    down,
    evicted,
    failed,
    job,
    policy,
    running,
    up,
    waiting,
)

NOW = 10_000
STAYS: Answer = ("stay", "spot", Code.RUNNING)
GOES: Answer = ("move", "on-demand", Code.FAILURES)
TWO = policy()
WINDOW = policy(failure_window=600)
COUNTED = policy(count_errors=True)
FOR_EVER = policy(SPOT._replace(max_failures=-1), ON_DEMAND)
NONE = policy(SPOT._replace(max_failures=0), ON_DEMAND)

ROWS: list[tuple[str, Policy, RunState, Answer]] = [
    ("no failure", TWO, job(), STAYS),
    ("one less than maxFailures", TWO, job(failures=evicted(1)), STAYS),
    ("as many as maxFailures", TWO, job(failures=evicted(1, 2)), STAYS),
    ("one more than maxFailures", TWO, job(failures=evicted(1, 2, 3)), GOES),
    ("maxFailures 0 and none", NONE, job(), STAYS),
    ("maxFailures 0 and one", NONE, job(failures=evicted(1)), GOES),
    ("-1 never moves", FOR_EVER, job(failures=evicted(*range(200))), STAYS),
    ("another tier's do not count", TWO, job(failures=evicted(1, 2, pool="twin") + evicted(3, 4)), STAYS),
    ("errors do not count", TWO, job(failures=failed(1, 2, 3) + evicted(4, 5)), STAYS),
    ("errors count with countErrors", COUNTED, job(failures=failed(1, 2) + evicted(3)), GOES),
    ("errors up to maxFailures", COUNTED, job(failures=failed(1) + evicted(3)), STAYS),
    ("all just inside the window", WINDOW, job(failures=evicted(NOW - 599, NOW - 599, NOW - 599)), GOES),
    ("one as old as the window", WINDOW, job(failures=evicted(NOW - 600, NOW - 599, NOW - 1)), STAYS),
    ("one of this second", WINDOW, job(failures=evicted(NOW - 599, NOW - 599, NOW)), GOES),
]


@pytest.mark.parametrize(("rule", "state", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_failure_m_plus_1_moves_the_job(rule: Policy, state: RunState, expected: Answer) -> None:
    assert at(rule, state, running(spot=up()), NOW) == expected


def test_it_moves_a_job_that_waits_after_the_eviction_at_once() -> None:
    state = job(failures=evicted(1, 2, NOW))

    assert at(TWO, state, waiting(since=NOW, spot=down(NOW)), NOW) == GOES
    assert at(TWO, state, waiting(since=NOW, spot=up()), NOW) == GOES


EQUALS = policy(SPOT, TWIN, ON_DEMAND)


def test_an_equal_tier_comes_before_the_next_price() -> None:
    assert at(EQUALS, job(failures=evicted(1, 2, 3)), running(spot=up()), NOW) == ("move", "twin", Code.FAILURES)


def test_an_equal_tier_that_is_used_up_is_passed_over() -> None:
    failures = evicted(1, 2, 3) + evicted(4, 5, 6, pool="twin")

    assert at(EQUALS, job(failures=failures), running("twin", twin=up()), NOW) == GOES


def test_an_equal_tier_above_is_taken_before_one_further_down() -> None:
    rule = policy(SPOT, TWIN, DEAR, ON_DEMAND)

    assert at(rule, job(failures=evicted(1, 2, 3, pool="twin")), running("twin"), NOW)[1] == "spot"
    both = evicted(1, 2, 3) + evicted(4, 5, 6, pool="twin")
    assert at(rule, job(failures=both), running("twin"), NOW)[1] == "dear"


def test_on_the_last_tier_it_says_that_there_is_nowhere_to_go() -> None:
    last = policy(SPOT)
    decision = decide(last, job(failures=evicted(1, 2, 3)), running(spot=up()), NOW)

    assert (decision.action.value, decision.tier, decision.reason.code) == ("stay", "spot", Code.USED_UP)
    assert sentence(decision.reason) == (
        "spot failed the job 3 times, and maxFailures is 2, but no tier comes after it: staying"
    )


def test_a_job_that_waits_on_the_last_tier_hears_of_the_wait_not_of_the_count() -> None:
    rule = policy(SPOT, ON_DEMAND._replace(max_failures=0), count_errors=True)
    state = job(failures=failed(1, pool="on-demand"))

    assert at(rule, state, waiting("on-demand", since=NOW), NOW) == ("wait", "on-demand", Code.LAST)


def test_a_failure_that_gets_too_old_is_an_instant_at_which_the_answer_may_change() -> None:
    state = job(failures=evicted(NOW - 599, NOW - 300, NOW - 100))

    assert decide(WINDOW, state, running(spot=up()), NOW - 50).action.value == "move"
    assert decide(policy(SPOT, failure_window=600), state, running(spot=up()), NOW).next_at == NOW + 1


def test_a_tier_that_is_no_longer_used_up_is_taken_the_moment_its_failure_is_too_old() -> None:
    rule = policy(SPOT, TWIN, ON_DEMAND, failure_window=600)
    state = job(failures=evicted(NOW - 500, NOW - 499, NOW - 498, pool="twin"))
    seen = waiting(since=NOW, spot=down(NOW), twin=up())

    first = decide(rule, state, seen, NOW)
    assert (first.action.value, first.next_at) == ("wait", NOW + 100)
    assert at(rule, state, seen, NOW + 99)[0] == "wait"
    assert at(rule, state, seen, NOW + 100) == ("move", "twin", Code.EQUAL)


def test_the_sentence_names_count_limit_and_goal() -> None:
    decision = decide(NONE, job(failures=(Failure(5, "spot"),)), running(), NOW)

    assert sentence(decision.reason) == "spot failed the job once, and maxFailures is 0: moving to on-demand"
