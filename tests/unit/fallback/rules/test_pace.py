"""The lines of the spare-share rule, each at its threshold and a second to both sides."""

from dataclasses import replace
from typing import Any

import pytest

from spotproof.fallback import NEVER, Action, Code, Order, Policy, RunState, Sight, Tier, decide, sentence
from spotproof.fallback.history import seen_down
from spotproof.fallback.rules.pace import SWEEP
from tests.unit.fallback.samples import (
    HOUR,
    MINUTE,
    ON_DEMAND,
    SPOT,
    TWIN,
    Answer,
    at,
    down,
    evicted,
    job,
    policy,
    running,
    up,
    waiting,
)

D = 720
NOW = 1_000_000
PACE = policy(SPOT, ON_DEMAND, mode="pace", restart=D)
TWO = policy(SPOT, TWIN, ON_DEMAND, mode="pace", restart=D)
ASKS = policy(SPOT, TWIN, ON_DEMAND, mode="pace", restart=D, probe_every=1800)
WAITS: Answer = ("wait", "spot", Code.SPARE_WAIT)
PAYS: Answer = ("move", "on-demand", Code.SPARE_PAY)
LEAVES: Answer = ("move", "spot", Code.SPARE_LEAVE)
KEEPS: Answer = ("stay", "on-demand", Code.SPARE_KEEP)


def with_spare(left: int, spare: int, **rest: Any) -> RunState:
    """A job with so much time left at NOW, of which so much is spare."""
    return job(work=left - 2 * D - spare, deadline=NOW + left, **rest)


@pytest.mark.parametrize(
    ("outage", "share"),
    [(0, 0.10), (HOUR, 0.14), (2 * HOUR + 1800, 0.20), (4 * HOUR, 0.26), (5 * HOUR, 0.26), (90 * HOUR, 0.26)],
)
def test_without_spot_an_idle_job_waits_while_enough_is_spare(outage: int, share: float) -> None:
    """0.10 + 0.04 an hour of outage, up to 4 hours."""
    seen = waiting(since=NOW - outage, spot=Sight(there=False, up=NOW - outage, down=NOW))
    enough = round(100_000 * share)

    assert at(PACE, with_spare(100_000, enough + 1), seen, NOW) == WAITS
    assert at(PACE, with_spare(100_000, enough), seen, NOW) == WAITS
    assert at(PACE, with_spare(100_000, enough - 1), seen, NOW) == PAYS


def test_an_outage_begins_when_any_spot_tier_was_last_seen() -> None:
    seen = waiting(
        since=NOW - 4 * HOUR,
        spot=Sight(there=False, up=NOW - 4 * HOUR, down=NOW),
        twin=Sight(there=False, up=NOW - HOUR, down=NOW),
    )

    assert at(TWO, with_spare(100_000, 14_000), seen, NOW) == WAITS
    assert at(TWO, with_spare(100_000, 13_999), seen, NOW) == PAYS


def test_of_a_market_that_was_never_up_the_outage_begins_with_the_job() -> None:
    state = with_spare(100_000, 14_000, created=NOW - HOUR)

    assert at(PACE, state, waiting(since=NOW - HOUR, spot=Sight(down=NOW)), NOW) == WAITS
    assert at(PACE, state._replace(created=NOW - HOUR - 1), waiting(spot=Sight(down=NOW)), NOW) == PAYS


@pytest.mark.parametrize(("age", "share"), [(0, 0.2), (18 * MINUTE, 0.1), (3 * HOUR, 0.2 / 11), (6 * HOUR, 0.2 / 21)])
def test_on_demand_is_left_while_enough_is_spare_for_how_long_spot_has_been_up(age: int, share: float) -> None:
    """The restart counted in hours, over 1 + age / 18 min."""
    seen = running("on-demand", progress=0, spot=up(NOW - age))
    left = 231_000
    enough = round(left * share)

    assert at(PACE, with_spare(left, enough + 1), seen, NOW) == LEAVES
    assert at(PACE, with_spare(left, enough), seen, NOW) == LEAVES
    assert at(PACE, with_spare(left, enough - 1), seen, NOW) == KEEPS


def test_on_demand_is_never_left_with_less_than_two_restarts_to_spare() -> None:
    seen = running("on-demand", progress=0, spot=up(-10_000_000))

    assert at(PACE, with_spare(10_000, 1), seen, NOW) == LEAVES
    assert at(PACE, with_spare(10_000, 0), seen, NOW) == KEEPS
    assert at(PACE, with_spare(10_000, -1), seen, NOW) == KEEPS


def test_idle_with_spot_there_takes_it_however_little_is_spare() -> None:
    assert at(PACE, with_spare(100_000, 0), waiting(spot=up(NOW)), NOW) == ("wait", "spot", Code.SPOT_THERE)
    seen = waiting("spot", spot=down(NOW), twin=up(NOW))
    assert at(TWO, with_spare(100_000, 0), seen, NOW) == ("move", "twin", Code.SPOT_THERE)


def test_on_spot_it_stays_whatever_the_others_are() -> None:
    seen = running("twin", spot=up(0), twin=up(NOW))

    assert at(TWO, with_spare(100_000, 50_000), seen, NOW) == ("stay", "twin", Code.RUNNING)
    used_up = with_spare(100_000, 50_000, failures=evicted(*range(9), pool="twin"))
    assert at(TWO, used_up, seen, NOW) == ("stay", "twin", Code.RUNNING)


def test_on_demand_without_spot_it_stays() -> None:
    seen = running("on-demand", progress=0, spot=down(0))
    decision = decide(PACE, with_spare(100_000, 90_000), seen, NOW)

    assert (decision.action, decision.reason.code, decision.next_at) == (Action.STAY, Code.NO_SPOT, NEVER)
    assert sentence(decision.reason) == "staying on on-demand: no spot tier is known to have room"


def test_counts_and_timeouts_only_choose_among_spot_tiers() -> None:
    used_up = with_spare(100_000, 50_000, failures=evicted(*range(9)))
    patient = policy(SPOT._replace(pending_timeout=1), ON_DEMAND, mode="pace", restart=D)

    seen = waiting(since=NOW, spot=up(NOW), twin=up(NOW))
    assert at(TWO, used_up, seen, NOW) == ("move", "twin", Code.SPOT_THERE)
    assert at(PACE, used_up, waiting(since=NOW, spot=Sight(up=NOW)), NOW) == WAITS
    assert at(patient, with_spare(100_000, 50_000), waiting(since=NOW - 9000, spot=Sight(up=NOW)), NOW) == WAITS


def test_a_job_without_work_or_deadline_follows_counts_and_timeouts() -> None:
    seen = waiting(spot=down(0))

    for state in (job(), job(work=3600), job(deadline=9 * HOUR)):
        assert at(PACE, state, seen, HOUR) == ("move", "on-demand", Code.TIMEOUT)


def test_without_an_on_demand_tier_it_waits_for_ever() -> None:
    rule = policy(SPOT, TWIN, mode="pace", restart=D)
    seen = waiting(since=NOW - HOUR, spot=Sight(up=NOW - HOUR), twin=Sight(up=NOW - HOUR))

    assert at(rule, with_spare(100, -5_000_000), seen, NOW) == ("wait", "spot", Code.SPARE_WAIT)


class TestAsking:
    """Where a tier that the job is not on is seen only by a probe."""

    def test_an_idle_job_asks_every_tier_once_before_it_pays(self) -> None:
        state = with_spare(100_000, 0)
        seen = waiting(since=NOW, spot=Sight(up=NOW, down=NOW))
        asked = seen._replace(sights={**seen.sights, "twin": seen_down(Sight(), NOW, asked=True)})

        assert at(ASKS, state, seen, NOW) == ("ask", "twin", Code.ASKED)
        assert at(ASKS, state, asked, NOW) == PAYS

    def test_an_answer_of_before_the_wait_does_not_count(self) -> None:
        seen = waiting(since=NOW, spot=Sight(up=NOW), twin=down(NOW - 1, asked=NOW - 1))

        assert at(ASKS, with_spare(100_000, 0), seen, NOW) == ("ask", "twin", Code.ASKED)

    def test_after_40_minutes_it_pays_unasked(self) -> None:
        state = with_spare(100_000, 0)
        last = Sight(up=NOW - SWEEP, down=NOW)

        assert at(ASKS, state, waiting(since=NOW - SWEEP, spot=last), NOW) == ("ask", "twin", Code.ASKED)
        assert at(ASKS, state, waiting(since=NOW - SWEEP - 1, spot=last), NOW) == PAYS

    def test_a_job_that_waits_asks_again_when_a_request_was_refused(self) -> None:
        state = with_spare(100_000, 50_000)
        seen = waiting(since=NOW - 300, spot=Sight(up=NOW), twin=down(NOW - 300, asked=NOW - 300))

        assert decide(ASKS, state, seen, NOW - 1).next_at == NOW
        assert at(ASKS, state, seen, NOW) == ("ask", "twin", Code.ASKED)

    def test_a_yes_of_this_moment_is_taken_and_an_older_one_is_not(self) -> None:
        state = with_spare(100_000, 50_000)

        fresh = waiting(since=NOW - 99, spot=Sight(up=NOW - 99), twin=up(NOW, asked=NOW))
        stale = waiting(since=NOW - 99, spot=Sight(up=NOW - 99), twin=up(NOW - 9, asked=NOW - 9))
        assert at(ASKS, state, fresh, NOW) == ("move", "twin", Code.SPOT_THERE)
        assert at(ASKS, state, stale, NOW) == WAITS

    @pytest.mark.parametrize(("order", "first"), [(Order.LISTED, "spot"), (Order.LEAST_RECENTLY_FAILED, "twin")])
    def test_the_order_says_who_is_asked_and_taken_first(self, order: Order, first: str) -> None:
        third = Tier("third", spot=True, usd=1.0)
        rule = policy(SPOT, TWIN, third, ON_DEMAND, mode="pace", restart=D, probe_every=1800, order=order)
        seen = waiting("third", since=NOW, third=Sight(up=NOW), spot=down(9_000, asked=9_000), twin=down(8_000))
        there = waiting("third", since=NOW, third=Sight(up=NOW), spot=up(9_000, asked=NOW), twin=up(8_000, asked=NOW))

        assert at(rule, with_spare(100_000, 0), seen, NOW) == ("ask", first, Code.ASKED)
        assert at(rule, with_spare(100_000, 0), there, NOW) == ("move", first, Code.SPOT_THERE)

    @pytest.mark.parametrize(
        ("words", "spare", "ago", "expected"),
        [
            ("a second before its turn", 1_000, 1799, KEEPS[:2]),
            ("in its turn", 1_000, 1800, ("ask", "twin")),
            ("with nothing spare", 0, 1800, ("ask", "twin")),
            ("with less than nothing spare", -1, 1800, KEEPS[:2]),
        ],
    )
    def test_from_on_demand_one_tier_is_asked_a_turn_where_probes_are_cheap(
        self, words: str, spare: int, ago: int, expected: tuple[str, str]
    ) -> None:
        last = down(NOW - ago, asked=NOW - ago)
        seen = running("on-demand", progress=0, spot=last, twin=down(9, asked=9))

        assert at(replace(ASKS, probe_seconds=90), with_spare(100_000, spare), seen, NOW)[:2] == expected, words

    @pytest.mark.parametrize(
        ("words", "rule", "nodes", "expected"),
        [
            ("10 min of one node for a job of one", {}, 1, "stay"),
            ("10 min of one node for a gang of 6", {}, 6, "stay"),
            ("10 min of one node for a gang of 7", {}, 7, "ask"),
            ("10 min of every node", {"probe_all": True}, 7, "stay"),
            ("90 s", {"probe_seconds": 90}, 1, "ask"),
            ("91 s", {"probe_seconds": 91}, 1, "stay"),
        ],
    )
    def test_a_dear_probe_is_not_made_before_a_yes_could_be_acted_on(
        self, words: str, rule: dict[str, int], nodes: int, expected: str
    ) -> None:
        asks, state = replace(ASKS, **rule), with_spare(100_000, 1)._replace(nodes=nodes)

        assert at(asks, state, running("on-demand", progress=0), NOW)[0] == expected, words

    def test_the_first_question_from_on_demand_is_put_at_once_where_a_yes_could_be_acted_on(self) -> None:
        assert at(ASKS, with_spare(100_000, 50_000), running("on-demand", progress=0), NOW)[0] == "ask"

    def test_a_tier_that_was_there_is_asked_again_before_the_job_leaves_for_it(self) -> None:
        seen = running("on-demand", progress=0, spot=up(0, asked=NOW - 60))
        fresh = running("on-demand", progress=0, spot=up(0, asked=NOW))

        assert at(ASKS, with_spare(100_000, 50_000), seen, NOW) == ("ask", "spot", Code.ASKED)
        assert at(ASKS, with_spare(100_000, 50_000), fresh, NOW) == LEAVES

    def test_while_it_has_not_answered_it_is_neither_taken_nor_asked_once_more(self) -> None:
        for asked in (NOW, NOW - 60):
            seen = running("on-demand", progress=0, spot=up(0, asked=asked, asking=True))
            assert at(ASKS, with_spare(100_000, 50_000), seen, NOW)[:2] == ("stay", "on-demand")

    def test_a_tier_that_could_not_be_left_for_in_time_is_not_asked_for_it(self) -> None:
        """A tick of 1,000 s: what is spare is gone when it ends."""
        seen = running("on-demand", progress=0, spot=up(0, asked=NOW - 60))._replace(tick=1000)

        assert at(ASKS, with_spare(2_500, 1), seen, NOW)[:2] == ("stay", "on-demand")


def test_the_sentences_name_what_is_spare_and_what_was_needed() -> None:
    def says(rule: Policy, left: int, spare: int, seen: Any) -> str:
        return sentence(decide(rule, with_spare(left, spare), seen, NOW).reason)

    idle = waiting(since=NOW - 1800, held=4, spot=Sight(up=NOW - 1800, down=NOW))
    kept = running("on-demand", progress=0, spot=up(NOW - 600))

    assert says(PACE, 100_000, 14_000, idle) == (
        "waiting for spot: 14 % of the time left is spare, 12 % is kept in an outage so old; "
        "4 nodes are held and billed meanwhile"
    )
    assert says(PACE, 100_000, 11_000, idle) == (
        "taking on-demand: 11 % of the time left is spare, and 12 % is kept in an outage so old"
    )
    assert says(PACE, 100_000, 14_000, kept) == (
        "taking spot: it has been up for 10m, 14 % of the time left is spare, and 13 % is enough to try"
    )
    assert says(PACE, 100_000, 12_000, kept) == (
        "staying on on-demand: 12 % of the time left is spare, and 13 % is needed to try a cheaper tier"
    )


def test_a_tier_that_was_never_seen_without_room_has_been_up_for_as_long_as_the_job_is_there() -> None:
    seen = running("on-demand", since=0, spot=Sight(there=True))
    decision = decide(PACE, with_spare(100_000, 90_000), seen, NOW)

    assert decision.reason.code is Code.SPARE_LEAVE
    assert sentence(decision.reason).startswith("taking spot: it has been up for 277h46m")
