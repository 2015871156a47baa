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
    assert spare.kept(0, 0) > 1000 < spare.needed(of(1, 0), 0, 0)


def test_past_the_deadline_nothing_is_waited_or_left_for() -> None:
    assert not spare.may_wait(of(0, 10), 0)
    assert not spare.may_leave(of(-10, -20), 10)


WEIGHT = st.sampled_from((1, 1, 0.7, 0.25))


@st.composite
def budgets(draw: st.DrawFn, stalls: st.SearchStrategy[int]) -> Budget:
    """Of jobs with work to do, whether or not there is time for it."""
    left, restart = draw(st.integers(1, 6_000)), draw(st.integers(0, 900))
    work = draw(st.integers(0, left) | st.integers(max(left - 2 * restart - 800, 0), left))
    return of(left, left - work - 2 * restart, restart=restart, stall=draw(stalls))


@settings(max_examples=200, deadline=None)
@given(now=budgets(st.just(NEVER)), outage=st.integers(0, 20_000), weight=WEIGHT)
def test_waiting_ends_no_earlier_than_it_is_said_to(now: Budget, outage: int, weight: float) -> None:
    if not spare.may_wait(now, outage, weight):
        return
    until = spare.until_no_wait(now, outage, weight)

    change = next(s for s in range(1, now.left + 1) if not spare.may_wait(later(now, s), outage + s, weight))
    assert 1 <= until <= change <= until + 3


@settings(max_examples=200, deadline=None)
@given(
    now=budgets(st.sampled_from((0, NEVER)) | st.integers(0, 900)), age=st.integers(0, 20_000), weight=WEIGHT
)  # fmt: skip
def test_leaving_begins_no_earlier_than_it_is_said_to(now: Budget, age: int, weight: float) -> None:
    if spare.may_leave(now, age, weight):
        return
    until = spare.until_leave(now, age, weight)

    change = next((s for s in range(1, now.left) if spare.may_leave(later(now, s), age + s, weight)), NEVER)
    assert 1 <= until <= change
    assert change <= until + 3 or until == 1 or change == NEVER
