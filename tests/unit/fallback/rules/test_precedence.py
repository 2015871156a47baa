"""Which rule is heard where two have something to say: the order of RULES."""

from spotproof.fallback import Code
from tests.unit.fallback.samples import (
    DEAR,
    HOUR,
    ON_DEMAND,
    SPOT,
    TWIN,
    at,
    down,
    evicted,
    job,
    policy,
    running,
    up,
    waiting,
)

NOW = 100_000


def test_a_dry_last_tier_comes_before_the_time_to_spare() -> None:
    rule = policy(mode="pace")
    state = job(work=HOUR, deadline=NOW + 90 * HOUR)

    assert at(rule, state, waiting("on-demand", since=NOW - 899, spot=up()), NOW)[2] is Code.SPARE_LEAVE
    assert at(rule, state, waiting("on-demand", since=NOW - 900, spot=up()), NOW)[2] is Code.OTHER


def test_the_time_to_spare_comes_before_counts_and_timeouts() -> None:
    rule = policy(SPOT._replace(max_failures=0, pending_timeout=1), ON_DEMAND, mode="pace")
    state = job(work=HOUR, deadline=NOW + 90 * HOUR, failures=evicted(1))

    assert at(rule, state, waiting(since=NOW - 99, spot=down(NOW)), NOW) == ("wait", "spot", Code.SPARE_WAIT)
    assert at(rule, state, running(spot=up()), NOW) == ("stay", "spot", Code.RUNNING)


def test_a_count_comes_before_an_equal_tier_that_would_have_to_be_asked() -> None:
    rule = policy(SPOT, TWIN, ON_DEMAND, probe_every=1800)

    seen = waiting(since=NOW, spot=down(NOW))
    assert at(rule, job(failures=evicted(1, 2, 3)), seen, NOW) == ("move", "twin", Code.FAILURES)


def test_an_equal_tier_that_answers_comes_before_the_end_of_the_wait() -> None:
    rule = policy(SPOT, TWIN, ON_DEMAND)
    seen = waiting(since=NOW - HOUR, spot=down(NOW), twin=up())

    assert at(rule, job(waited=("twin",)), seen, NOW) == ("move", "twin", Code.EQUAL)


def test_a_count_comes_before_a_return() -> None:
    rule = policy(SPOT, DEAR, ON_DEMAND, min_stay=0)

    seen = running("dear", spot=up(), dear=up())
    assert at(rule, job(failures=evicted(1, 2, 3, pool="dear")), seen, NOW) == ("move", "on-demand", Code.FAILURES)
