from typing import Any

import pytest

from spotproof.fallback import NEVER, Action, Code, Observation, Policy, RunState, Sight, Tier, decide, sentence
from tests.unit.fallback.samples import (
    DEAR,
    HOUR,
    ON_DEMAND,
    SPOT,
    TWIN,
    Answer,
    at,
    down,
    evicted,
    first_change,
    job,
    policy,
    running,
    up,
    waiting,
)

D = 720
NOW = 1_000_000
GUARD = policy(SPOT._replace(pending_timeout=99 * HOUR), ON_DEMAND, mode="guard", restart=D)
NEEDED: Answer = ("move", "on-demand", Code.GUARD)
WORK = 40_000


def due(left: int, **rest: Any) -> RunState:
    """A job with so much time left at NOW and WORK to do."""
    return job(**{"work": WORK, "deadline": NOW + left, **rest})


class TestBrake:
    """At most maxMovesPerHour moves within an hour."""

    RULE = policy(SPOT._replace(max_failures=0), ON_DEMAND, max_moves_per_hour=3)
    SEEN = running(spot=up())

    @pytest.mark.parametrize(
        ("words", "moves", "expected"),
        [
            ("none", (), "move"),
            ("one less", (9_000, 9_001), "move"),
            ("as many as are allowed", (9_000, 9_001, 9_002), "stay"),
            ("the oldest a second short of an hour", (6_401, 9_001, 9_002), "stay"),
            ("the oldest an hour ago", (6_400, 9_001, 9_002), "move"),
            ("more than are allowed, by the guard", (9_000, 9_001, 9_002, 9_003), "stay"),
        ],
    )
    def test_one_move_more_than_the_limit_waits(self, words: str, moves: tuple[int, ...], expected: str) -> None:
        assert at(self.RULE, job(moves=moves, failures=evicted(1)), self.SEEN, 10_000)[0] == expected, words

    def test_the_move_is_made_when_the_oldest_has_aged_out(self) -> None:
        state = job(moves=(7_000, 8_000, 9_000, 9_500), failures=evicted(1))
        decision = decide(self.RULE, state, self.SEEN, 10_000)

        assert decision.next_at == 8_000 + HOUR == first_change(self.RULE, state, self.SEEN, 10_000, 20_000)
        assert sentence(decision.reason) == "moved 4 times within the hour, and maxMovesPerHour is 3: staying"

    def test_a_job_that_would_not_move_does_not_hear_of_it(self) -> None:
        assert at(self.RULE, job(moves=(9_000, 9_001, 9_002)), self.SEEN, 10_000) == ("stay", "spot", Code.RUNNING)

    def test_no_tier_is_asked_for_a_move_that_would_not_be_made(self) -> None:
        rule = policy(SPOT, ON_DEMAND, min_stay=0, probe_every=1800, max_moves_per_hour=1)
        seen = running("on-demand")

        assert at(rule, job(moves=(9_000,)), seen, 10_000) == ("stay", "on-demand", Code.BRAKE)
        assert at(rule, job(moves=(6_400,)), seen, 10_000) == ("ask", "spot", Code.ASKED)

    def test_0_is_no_brake_and_the_guard_knows_none(self) -> None:
        moves = tuple(range(9_000, 9_100))
        free = policy(SPOT._replace(max_failures=0), ON_DEMAND)
        braked = policy(SPOT, ON_DEMAND, mode="guard", max_moves_per_hour=1)

        assert at(free, job(moves=moves, failures=evicted(1)), self.SEEN, 10_000)[0] == "move"
        assert at(braked, due(WORK + D, moves=(NOW - 1,)), waiting(spot=down()), NOW) == NEEDED

    def test_nodes_held_are_named_while_the_job_waits(self) -> None:
        rule = policy(SPOT, ON_DEMAND, max_moves_per_hour=1)
        decision = decide(rule, job(moves=(3_000,)), waiting(spot=down(), held=2), HOUR)

        assert (decision.action, decision.reason.code) == (Action.WAIT, Code.BRAKE)
        assert sentence(decision.reason).endswith(": staying; 2 nodes are held and billed meanwhile")


SHORT = WORK + D
TRAINED = running(since=NOW - D - HOUR, spot=up())
STARTED = running(since=NOW - 100, spot=up())
BEHIND = {"work": WORK + HOUR}
"""Of a job that has trained for an hour, and saved all of it."""
SAVED = policy(*GUARD.tiers, mode="guard", restart=D, checkpoint_every=1800)

CONTINUOUS: list[tuple[str, Policy, Observation, dict[str, int], int]] = [
    ("waiting", GUARD, waiting(since=NOW, spot=down()), {}, SHORT + 1),
    ("being placed", GUARD, waiting(since=NOW, spot=up()), {}, SHORT + 1),
    ("restarting", GUARD, STARTED, {}, SHORT + 1),
    ("training: work falls as time passes", GUARD, TRAINED, BEHIND, SHORT),
    ("training, with a checkpoint interval to lose", SAVED, TRAINED, BEHIND, SHORT + 1800),
    (
        "training, with less than an interval to lose yet",
        SAVED,
        running(since=NOW - D - 100, spot=up()),
        {"work": WORK + 100},
        SHORT + 100 + 1,
    ),
    ("with reported progress", GUARD, TRAINED._replace(progress=0), {}, SHORT + 1),
    (
        "with a margin",
        policy(*GUARD.tiers, mode="guard", restart=D, margin=300),
        waiting(since=NOW, spot=down()),
        {},
        SHORT + 301,
    ),
    ("after slow restarts", GUARD, waiting(since=NOW, spot=down()), {"restart_seen": 2 * D}, SHORT + D + 1),
    ("after quick restarts", GUARD, waiting(since=NOW, spot=down()), {"restart_seen": D // 2}, SHORT + 1),
    (
        "after work that was saved",
        GUARD,
        waiting(since=NOW, spot=down()),
        {"work": WORK + 5_000, "done": 5_000},
        SHORT + 1,
    ),
]


@pytest.mark.parametrize(
    ("rule", "seen", "rest", "least"), [row[1:] for row in CONTINUOUS], ids=[row[0] for row in CONTINUOUS]
)
def test_the_last_second_in_which_spot_is_allowed(
    rule: Policy, seen: Observation, rest: dict[str, int], least: int
) -> None:
    assert at(rule, due(least, **rest), seen, NOW)[0] in {"stay", "wait"}
    assert at(rule, due(least + 1, **rest), seen, NOW)[0] in {"stay", "wait"}
    assert at(rule, due(least - 1, **rest), seen, NOW)[1:] in {
        ("on-demand", Code.GUARD),
        # a running attempt may be lost a second later; a job that cannot wait was never to wait so long
        ("spot", Code.LATE_STAY),
    }


TICK = 600
IN_TICKS: list[tuple[str, Policy, Observation, int, int]] = [
    # whole ticks of work and restart: 66 + 2
    ("waiting", GUARD, waiting(since=NOW, spot=down()), 39_600, 69),
    ("starting pays its restart only", GUARD, waiting(since=NOW, spot=up()), 39_600, 69),
    ("starting with a short restart trains in this tick", policy(*GUARD.tiers, mode="guard", restart=60),
     waiting(since=NOW, spot=up()), 39_600, 67),
    ("and may lose what it trained", policy(*GUARD.tiers, mode="guard", restart=60, checkpoint_every=1800),
     waiting(since=NOW, spot=up()), 39_600, 68),
    ("staying works off a tick", GUARD, TRAINED, 39_600 + HOUR, 68),
    ("staying to pay the rest of a restart", GUARD, STARTED, 39_600, 69),
    ("a tick that may be lost again", SAVED, running(since=NOW - D, spot=up()), 39_600, 69),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "seen", "work", "ticks"), [row[1:] for row in IN_TICKS], ids=[row[0] for row in IN_TICKS]
)
def test_the_last_tick_in_which_spot_is_allowed(rule: Policy, seen: Observation, work: int, ticks: int) -> None:
    seen = seen._replace(tick=TICK)

    for more in (0, 1, TICK - 1):
        assert at(rule, due(ticks * TICK + more, work=work), seen, NOW)[0] in {"stay", "wait"}
    assert at(rule, due(ticks * TICK - 1, work=work), seen, NOW)[2] in {Code.GUARD, Code.LATE_STAY}


def test_a_tick_that_ends_the_work_is_never_short() -> None:
    seen = TRAINED._replace(tick=TICK)

    assert at(GUARD, due(1, work=HOUR + TICK), seen, NOW) == ("stay", "spot", Code.RUNNING)
    assert at(GUARD, due(1, work=HOUR + TICK + 1), seen, NOW)[2] is Code.LATE_STAY


@pytest.mark.parametrize("mode", ["guard", "pace"])
def test_a_refused_return_is_made_when_one_tick_of_spot_ends_the_work(mode: str) -> None:
    rule = policy(SPOT, ON_DEMAND, mode=mode, min_stay=0, restart=100)
    seen = running("on-demand", since=NOW - 100, spot=up(-9_000_000))._replace(tick=TICK)
    state = job(work=5_300, deadline=NOW + 5_300 + 201)

    assert decide(rule, state, seen, NOW).next_at == NOW + 4_800
    assert [at(rule, state, seen, NOW + ticks * TICK)[0] for ticks in (0, 1, 7, 8)] == ["stay", "stay", "stay", "move"]


@pytest.mark.parametrize("mode", ["guard", "pace"])
def test_the_next_instant_is_the_one_at_which_it_gets_short(mode: str) -> None:
    rule = policy(SPOT, ON_DEMAND, mode=mode, restart=D, checkpoint_every=1800)
    waits = waiting(since=NOW, spot=down(NOW))
    starts = running(since=NOW - 100, spot=up())

    for seen in (waits, starts):
        for room in (0, 1, 500):
            state = due(SHORT + 1 + room)
            decision = decide(rule, state, seen, NOW)
            if mode == "pace" and seen is waits:
                assert decision.reason.code is Code.SPARE_PAY
            else:
                assert decision.next_at == NOW + room + 1 == first_change(rule, state, seen, NOW, NOW + 1000)


def test_once_a_job_trains_and_an_interval_is_covered_nothing_gets_short_any_more() -> None:
    seen = running(since=NOW - D - 1800, spot=up())
    state = due(SHORT + 1800 + 5, work=WORK + 1800)

    assert decide(SAVED, state, seen, NOW).next_at == NEVER


def test_a_move_to_another_spot_tier_is_guarded_as_a_start_that_loses_the_running_attempt() -> None:
    rule = policy(SPOT._replace(max_failures=0), DEAR, ON_DEMAND, mode="guard", restart=D, checkpoint_every=1800)
    seen = running(since=NOW - D - HOUR, spot=up(), dear=up())
    state = due(SHORT + 1800 + 1, work=WORK + HOUR, failures=evicted(1))

    assert at(rule, state, seen, NOW) == ("move", "dear", Code.FAILURES)
    assert at(rule, state._replace(deadline=NOW + SHORT + 1800), seen, NOW) == NEEDED
    blind = seen._replace(sights={"spot": up(), "dear": down()})
    assert at(rule, state, blind, NOW) == ("move", "dear", Code.FAILURES)
    assert at(rule, state._replace(deadline=NOW + SHORT + 1800), blind, NOW) == NEEDED


def test_a_return_that_would_be_late_is_refused_with_what_the_job_would_lose_counted() -> None:
    rule = policy(SPOT, ON_DEMAND, mode="guard", min_stay=0, restart=D, checkpoint_every=1800)
    seen = running("on-demand", since=NOW - D - HOUR, spot=up())
    lost = 1800 + 2 * (1800 // 2)
    state = due(WORK + 2 * D + lost, work=WORK + HOUR)

    assert at(rule, state, seen, NOW) == ("move", "spot", Code.RETURN)
    assert at(rule, state._replace(deadline=NOW + WORK + 2 * D + lost - 1), seen, NOW)[0] == "stay"


def test_without_a_deadline_a_mode_or_an_on_demand_tier_there_is_no_guard() -> None:
    seen = waiting(since=NOW, spot=down())

    for rule, state in (
        (GUARD, job()),
        (GUARD, job(deadline=NOW)),
        (GUARD, job(work=99)),
        (policy(SPOT, ON_DEMAND), due(1)),
        (policy(SPOT, mode="guard"), due(1)),
    ):
        assert at(rule, state, seen, NOW)[0] == "wait"


def test_the_first_on_demand_tier_of_the_list_keeps_the_deadline() -> None:
    rule = policy(SPOT, ON_DEMAND, Tier("other", spot=False, usd=2.0), mode="guard")

    assert at(rule, due(SHORT), waiting(since=NOW, spot=down()), NOW) == NEEDED
    assert at(rule, due(SHORT), running("other"), NOW) == ("stay", "other", Code.RUNNING)


def test_a_job_that_on_demand_has_no_place_for_takes_whatever_answers() -> None:
    seen = waiting("on-demand", since=NOW - 900, spot=up(), on_demand=down(NOW - 900))

    assert at(GUARD, due(SHORT), seen, NOW) == ("move", "spot", Code.OTHER)


class TestOnDemandIsDry:
    """It was needed, and had no room when it was last looked at."""

    ASKS = policy(SPOT, TWIN, ON_DEMAND, mode="guard", restart=D, probe_every=1800)

    def test_a_running_job_asks_before_it_leaves_spot_for_it(self) -> None:
        state = due(SHORT)

        assert at(self.ASKS, state, running(since=NOW, spot=up(), on_demand=down(NOW - 60)), NOW) == (
            "ask",
            "on-demand",
            Code.ASKED,
        )
        no = running(since=NOW, spot=up(), on_demand=down(NOW - 60, asked=NOW - 60))
        decision = decide(self.ASKS, state, no, NOW)
        assert (decision.action, decision.reason.code, decision.next_at) == (
            Action.STAY,
            Code.GUARD_DRY,
            NOW - 60 + 1800,
        )
        assert sentence(decision.reason) == (
            "11h18m is left for 11h6m of work and a restart of 12m, and on-demand had no room when it was needed: "
            "going on here, asking it again"
        )

    def test_it_moves_when_on_demand_answers(self) -> None:
        assert at(self.ASKS, due(SHORT), running(since=NOW, spot=up(), on_demand=up(NOW, asked=NOW)), NOW) == NEEDED

    def test_a_job_that_waits_goes_on_asking_spot_too(self) -> None:
        asked = {"twin": down(NOW - 60, asked=NOW - 60), "on-demand": down(NOW - 90, asked=NOW - 90)}
        seen = waiting(since=NOW - 900, held=1, spot=down(NOW))._replace(sights={"spot": down(NOW), **asked})
        decision = decide(self.ASKS, due(SHORT), seen, NOW)

        assert (decision.action, decision.reason.code) == (Action.WAIT, Code.GUARD_DRY)
        assert decision.next_at == NOW - 90 + 300
        assert sentence(decision.reason).endswith("; 1 node is held and billed meanwhile")
        answered = seen._replace(sights={**seen.sights, "twin": up(NOW, asked=NOW)})
        assert at(self.ASKS, due(SHORT), answered, NOW) == ("move", "twin", Code.EQUAL)


class TestTooLate:
    """The deadline cannot be met by on-demand any more."""

    WAITS = waiting(since=NOW, spot=down())

    def test_a_job_that_waits_takes_on_demand_and_hears_that_it_will_be_late(self) -> None:
        decision = decide(GUARD, due(SHORT - 1), self.WAITS, NOW)

        assert (decision.action, decision.tier, decision.reason.code) == (Action.MOVE, "on-demand", Code.LATE)
        assert sentence(decision.reason) == (
            "11h18m is left for 11h6m of work and a restart of 12m, so the deadline cannot be met any more: "
            "on-demand ends soonest"
        )
        assert at(GUARD, due(SHORT), self.WAITS, NOW) == NEEDED

    def test_the_margin_is_used_before_that_is_said(self) -> None:
        rule = policy(SPOT, ON_DEMAND, mode="guard", restart=D, margin=300)

        assert at(rule, due(SHORT), self.WAITS, NOW) == NEEDED
        assert at(rule, due(SHORT - 1), self.WAITS, NOW) == ("move", "on-demand", Code.LATE)

    def test_a_running_attempt_is_not_given_up_for_one_that_is_late_for_certain(self) -> None:
        """Its restarts have turned out slow, or its deadline was drawn in."""
        decision = decide(GUARD, due(SHORT - 1, **BEHIND), TRAINED, NOW)

        assert (decision.action, decision.tier, decision.reason.code) == (Action.STAY, "spot", Code.LATE_STAY)
        assert sentence(decision.reason) == (
            "11h18m is left for 11h6m of work, and with a restart of 12m on-demand would be late for certain: staying"
        )

    def test_what_leaving_would_lose_makes_it_too_late_too(self) -> None:
        assert at(SAVED, due(SHORT + 1800 - 1, **BEHIND), TRAINED, NOW)[2] is Code.LATE_STAY
        assert at(SAVED, due(SHORT + 1800, **BEHIND), TRAINED, NOW)[2] is Code.RUNNING

    def test_a_deadline_in_the_past_does_not_stop_a_job(self) -> None:
        assert at(GUARD, due(-5_000), self.WAITS, NOW) == ("move", "on-demand", Code.LATE)
        assert at(GUARD, due(-5_000), running("on-demand"), NOW) == ("stay", "on-demand", Code.RUNNING)


def test_the_guards_sentence_names_the_numbers_it_used() -> None:
    decision = decide(GUARD, due(SHORT), waiting(since=NOW, held=3, spot=Sight()), NOW)

    assert sentence(decision.reason) == (
        "11h18m is left for 11h6m of work and a restart of 12m: on-demand is needed now to end in time"
    )
