import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.fallback import NEVER, spare
from spotproof.fallback.budget import Budget

RESTART = 720


def of(left: int, over: int, *, restart: int = RESTART, stall: int = NEVER, tick: int = 1) -> Budget:
    """A budget with so much left and so much spare."""
    work = left - 2 * restart - over
    return Budget(left=left, work=work, debt=0, risk=0, cycle=0, restart=restart, stall=stall, tick=tick)


def later(budget: Budget, seconds: int) -> Budget:
    """The same, so many seconds on: work begins to fall when the stall is over."""
    trained = max(seconds - budget.stall, 0)
    return budget._replace(left=budget.left - seconds, work=budget.work - trained, stall=budget.stall - seconds)


def test_shares_are_of_the_time_left_in_thousandths() -> None:
    assert spare.share(of(100_000, 14_000)) == 140
    assert spare.share(of(0, 10)) == spare.share(of(-5, 10)) == -1000


@pytest.mark.parametrize(("outage", "share"), [(0, 100), (3600, 140), (14_400, 260), (90_000, 260)])
def test_the_share_that_is_kept_grows_with_the_outage_for_four_hours(outage: int, share: int) -> None:
    assert spare.kept(outage) == share


@pytest.mark.parametrize(("age", "share"), [(0, 200), (1080, 100), (10_800, 18)])
def test_the_share_that_is_needed_to_leave_falls_with_the_age_of_spot(age: int, share: int) -> None:
    assert spare.needed(of(1, 0), age) == share


def test_half_the_stake_needs_twice_the_share_and_none_needs_more_than_there_is() -> None:
    assert spare.may_wait(of(100_000, 20_000), 0, 0.5)
    assert not spare.may_wait(of(100_000, 19_999), 0, 0.5)
    assert spare.may_leave(of(110_000, 44_000), 0, 0.5)
    assert not spare.may_leave(of(110_000, 43_999), 0, 0.5)
    assert not spare.may_wait(of(100_000, 99_999), 0, 0)
    assert not spare.may_leave(of(100_000, 99_999), 0, 0)
    assert (spare.kept(0, 0.5), spare.needed(of(1, 0), 0, 0.5)) == (200, 400)
    assert spare.kept(0, 0) >= 1000 <= spare.needed(of(1, 0), 0, 0)


def test_past_the_deadline_nothing_is_waited_or_left_for() -> None:
    assert not spare.may_wait(of(0, 10), 0)
    assert not spare.may_leave(of(-10, -20), 10)


WEIGHT = st.sampled_from((1, 1, 0.7, 0.25))


@st.composite
def budgets(draw: st.DrawFn, stalls: st.SearchStrategy[int]) -> Budget:
    """Of jobs with work to do, whether or not there is time for it."""
    left, restart = draw(st.integers(1, 400_000)), draw(st.sampled_from((0, 60, 720, 7_200)))
    over = left * draw(st.integers(-100, 990)) // 1000
    return of(left, min(over, left - 2 * restart), restart=restart, stall=draw(stalls))


AGES = st.sampled_from((0, 600, 3_600, 14_000, 14_400, 30_000)) | st.integers(0, 20_000)


def seconds_before(until: int, left: int) -> list[int]:
    """Those of the first and of the last minutes one by one, and one in a quarter of an hour between."""
    end = min(until, left)
    return sorted({*range(1, min(end, 300)), *range(max(end - 300, 1), end), *range(1, end, 900)})


@settings(max_examples=200)
@given(now=budgets(st.just(NEVER)), outage=AGES, weight=WEIGHT)
def test_waiting_ends_no_earlier_than_it_is_said_to(now: Budget, outage: int, weight: float) -> None:
    def may(after: int) -> bool:
        return spare.may_wait(later(now, after), outage + after, weight)

    if not may(0):
        return
    until = spare.until_no_wait(now, outage, weight)

    assert until >= 1
    assert all(may(after) for after in seconds_before(until, now.left + 1))
    assert not may(until + 3)


@settings(max_examples=200)
@given(now=budgets(st.sampled_from((0, 720, 9_000, NEVER))), age=AGES, weight=WEIGHT)
def test_leaving_begins_no_earlier_than_it_is_said_to(now: Budget, age: int, weight: float) -> None:
    def may(after: int) -> bool:
        return spare.may_leave(later(now, after), age + after, weight)

    if may(0):
        return
    until = spare.until_leave(now, age, weight)

    assert until >= 1
    assert not any(may(after) for after in seconds_before(until, now.left))
    assert until == 1 or until + 3 >= now.left or may(until + 3)
