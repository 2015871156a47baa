from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.fallback import NEVER, Observation, Phase, Policy, RunState
from spotproof.fallback.budget import Budget, budget
from tests.unit.fallback.samples import HOUR, SPOT, job, policy, running, waiting

D = 720
RULE = policy(SPOT, restart=D, checkpoint_every=1800, margin=300)
STATE = job(work=40 * HOUR, deadline=60 * HOUR, done=10 * HOUR)


def known(seen: Observation, now: int = 20 * HOUR, **rest: int) -> Budget:
    found = budget(RULE, STATE._replace(**rest), seen, now)
    assert found is not None
    return found


def test_a_job_without_work_or_deadline_has_none() -> None:
    assert budget(RULE, job(work=1), waiting(), 0) is None
    assert budget(RULE, job(deadline=1), waiting(), 0) is None


def test_what_is_left_is_less_the_margin() -> None:
    assert known(waiting()).left == 40 * HOUR - 300


def test_the_restart_is_the_larger_of_the_setting_and_what_was_seen() -> None:
    assert known(waiting(), restart_seen=D - 1).restart == D
    assert known(waiting(), restart_seen=D + 1).restart == D + 1


@pytest.mark.parametrize(
    ("words", "ran", "expected"),
    [
        ("just started", 0, (30 * HOUR, D, 0, D + 1800)),
        ("restarting", 100, (30 * HOUR, D - 100, 0, D - 100 + 1800)),
        ("the restart is paid", D, (30 * HOUR, 0, 0, 1800)),
        ("training", D + 600, (30 * HOUR - 600, 0, 600, 1200)),
        ("a checkpoint interval on", D + 1800, (30 * HOUR - 1800, 0, 1800, 0)),
        ("longer", D + HOUR, (29 * HOUR, 0, 1800, 0)),
        ("done", D + 50 * HOUR, (0, 0, 1800, 0)),
    ],
)
def test_without_a_report_a_job_has_done_its_running_time_less_the_restart(
    words: str, ran: int, expected: tuple[int, ...]
) -> None:
    found = known(running(since=0), now=ran)

    assert (found.work, found.debt, found.risk, found.stall) == expected, words


def test_with_a_report_a_job_has_done_what_it_says_and_nothing_is_known_to_be_on_the_way() -> None:
    found = known(running(since=0, progress=15 * HOUR), now=5 * HOUR)

    assert (found.work, found.debt, found.risk, found.stall) == (25 * HOUR, 0, 0, NEVER)
    assert known(running(progress=99 * HOUR)).work == 0


def test_a_job_that_waits_has_nothing_to_lose_and_nothing_on_the_way() -> None:
    found = known(waiting())

    assert (found.work, found.debt, found.risk, found.stall) == (30 * HOUR, 0, 0, NEVER)


def test_what_is_spare_is_what_leaving_on_demand_and_coming_back_would_leave_over_with_what_both_lose() -> None:
    left = 60 * HOUR - 300 - (D + 600)

    assert known(running("spot", since=0), now=D + 600).spare == left - 30 * HOUR - 2 * (D + 1800 // 2)


def test_a_job_that_reports_its_progress_loses_no_more_than_a_restart_by_a_change_of_nodes() -> None:
    assert known(running("spot", since=0, progress=0), now=D).changeover == D


def test_ticks_are_counted_from_now_and_whole() -> None:
    def whole(left: int, tick: int) -> int:
        return known(waiting()._replace(tick=tick), now=60 * HOUR - 300 - left).whole

    assert [whole(left, 600) for left in (600, 1199, 1200, 1799)] == [0, 0, 600, 600]
    assert [whole(left, 1) for left in (1, 2, 600)] == [0, 1, 599]


class Run(NamedTuple):
    """A job at one moment, of a policy with these settings."""

    policy: Policy
    state: RunState
    seen: Observation
    now: int

    def after(self, seconds: int) -> Budget:
        found = budget(self.policy, self.state, self.seen, self.now + seconds)
        assert found is not None
        return found


@st.composite
def runs(draw: st.DrawFn) -> Run:
    restart, every = draw(st.integers(0, 300)), draw(st.integers(0, 300))
    ran = draw(st.none() | st.integers(0, 3_000))
    now = ran or 0
    work = draw(st.integers(0, 3_000))
    seen = (waiting() if ran is None else running())._replace(
        tick=draw(st.sampled_from((1, 7, 60))), progress=0 if draw(st.booleans()) else None
    )
    slack = draw(st.integers(-200, 900))
    state = job(work=work + max(now - restart, 0), deadline=now + work + restart + every + slack)
    return Run(policy(SPOT, restart=restart, checkpoint_every=every), state, seen, now)


@settings(max_examples=200)
@given(run=runs())
def test_no_yes_turns_to_no_before_until_short_and_no_no_to_yes_before_until_done(run: Run) -> None:
    """Second by second in continuous time, tick by tick where an answer binds for longer."""
    asked = (Budget.may_wait, Budget.may_start) if run.seen.phase is Phase.WAITING else (Budget.may_stay,)
    first = run.after(0)
    for after in range(run.seen.tick, 1_500, run.seen.tick):
        later = run.after(after)
        if after < first.until_short():
            assert all(may(later) for may in asked if may(first))
        if after < first.until_done() and run.seen.phase is Phase.RUNNING:
            assert first.may_start() or not later.may_start()
