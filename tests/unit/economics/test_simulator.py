import json
from collections.abc import Sequence
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from spotproof.economics.market import Market, Tape, market_of
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.simulator import Simulation, simulate
from spotproof.fallback import Order, Policy, Tier

TICK: Final = 600
SPOT, ON_DEMAND = 1.0, 3.0


def policy(spot: int = 1, **rest: Any) -> Policy:
    """So many equal spot tiers and on-demand; by default without a deadline, and moved by nothing but the timeout."""
    tiers = [
        *(Tier(f"spot-{place}", spot=True, usd=SPOT) for place in range(spot)),
        Tier("on-demand", spot=False, usd=ON_DEMAND),
    ]
    plain: dict[str, Any] = {"max_moves_per_hour": 0, "probe_every": 0, "margin": 0, "checkpoint_every": 0}
    chosen: dict[str, Any] = {**plain, "restart": TICK, **rest}
    return Policy(tiers=tuple(tiers), **chosen)


def job(ticks: int, deadline: int = 1000, **rest: Any) -> Job:
    """So many ticks of work, with a changeover of one tick."""
    plain: dict[str, Any] = {"changeover": TICK, "on_demand_usd": ON_DEMAND, "spot_usd": (SPOT, SPOT)}
    return Job(work=ticks * TICK, deadline=deadline * TICK, **{**plain, **rest})


def run(rule: Policy, work: Job, *capacities: str) -> Outcome:
    return simulate(rule, work, market_of(capacities, TICK), tick=TICK)


def usd(spot: float, on_demand: float = 0) -> Any:
    """Of so many ticks."""
    return pytest.approx((spot * SPOT + on_demand * ON_DEMAND) / 6)


def test_a_run_without_an_eviction_pays_one_restart_and_the_work() -> None:
    assert run(policy(), job(5), "1" * 20) == Outcome(usd(6), 6 * TICK, 0, 1, 6 * TICK, 0)


def test_an_eviction_costs_a_restart_and_the_wait_is_free() -> None:
    assert run(policy(), job(5), "1110001111111") == Outcome(usd(7), 10 * TICK, 1, 2, 7 * TICK, 0)


def test_work_that_was_not_saved_is_done_again() -> None:
    """Of three trained ticks two are in a checkpoint."""
    assert run(policy(), job(5, checkpoint_every=2 * TICK), "1111011111111").finish == (4 + 1 + 1 + 3) * TICK


def test_a_tick_that_has_begun_is_billed_whole() -> None:
    outcome = run(policy(), job(2, changeover=60), "1" * 9)

    assert (outcome.finish, outcome.usd) == (3 * TICK, usd(3))


def test_after_pending_timeout_the_job_goes_on_at_on_demands_price() -> None:
    """The timeout is an hour, six ticks."""
    outcome = run(policy(), job(5), "11" + "0" * 40)

    assert outcome == Outcome(usd(2, 5), (2 + 6 + 5) * TICK, 1, 2, 2 * TICK, 5 * TICK)


def test_it_takes_an_equal_tier_that_is_there() -> None:
    outcome = run(policy(2), job(5), "1110000000", "0000111111")

    assert (outcome.starts, outcome.evictions, outcome.usd) == (2, 1, usd(7))


def test_every_node_is_billed_and_of_a_probe_one() -> None:
    returning = policy(min_stay=0, probe_every=3 * TICK)
    market = "1" + "0" * 8 + "0" * 31
    asked = run(returning, job(10, nodes=4, probe=TICK), market)

    # on on-demand from tick 7 to 18, asked in 7, 10, 13 and 16
    assert asked.usd == pytest.approx((4 * (1 * SPOT + 11 * ON_DEMAND) + 4 * SPOT) / 6)


def test_asking_while_the_job_waits_is_free() -> None:
    outcome = run(policy(2, probe_every=3 * TICK), job(5, probe=TICK), "11100111111", "00000000000")

    assert outcome.usd == usd(7)


def test_where_spot_is_the_last_tier_on_demand_is_asked_and_has_room() -> None:
    rule = policy(probe_every=TICK)
    upside_down = Policy(tiers=(rule.tiers[1], rule.tiers[0]._replace(usd=5.0)), probe_every=TICK, max_moves_per_hour=0)
    simulation = Simulation(upside_down, job(5), market_of(["0" * 20], TICK), tick=TICK)
    simulation.tier = upside_down.spot[0]

    assert simulation.run().on_demand == 6 * TICK


def test_a_record_that_ends_first_leaves_the_run_without_a_finish_and_late() -> None:
    outcome = run(policy(), job(5), "11")

    assert (outcome.finish, outcome.usd, outcome.spot) == (None, usd(2), 2 * TICK)
    assert outcome.late(1000 * TICK)


def test_a_run_is_late_from_the_second_after_its_deadline() -> None:
    outcome = run(policy(), job(5), "1" * 9)

    assert not outcome.late(6 * TICK)
    assert outcome.late(6 * TICK - 1)


def test_by_the_second_nothing_is_rounded_and_changes_count_when_they_come() -> None:
    market = Market((Tape(first=True, changes=(1_000, 1_250)),), end=100_000)
    outcome = simulate(policy(restart=100), Job(2_000, 100_000, 100, ON_DEMAND, (SPOT,)), market, tick=1)

    assert outcome == Outcome(2_200 / 3600, 2_450, 1, 2, 2_200, 0)


def test_what_does_not_matter_is_skipped() -> None:
    market = market_of(["1" * 500 + "0" * 30 + "1" * 500], TICK)
    skipping = Simulation(policy(), job(600), market, tick=TICK)
    stepping = Simulation(policy(), job(600), market, tick=TICK, skips=False)

    assert skipping.run() == stepping.run()
    assert skipping.decisions < 12
    assert stepping.decisions > 600


LISTED, LONGEST_UP = Order.LISTED, Order.LEAST_RECENTLY_FAILED
ZONES: Final = ("us-east-1a", "us-east-1f", "us-east-2a", "us-west-2a", "us-west-2c")


class Record(NamedTuple):
    """How the notes use a year's traces: seconds of a tick, hours of work."""

    gap: int
    work: int


OF_2022: Final = Record(600, 48)
OF_2023: Final = Record(195, 40)


@cache
def trace(shared: Path) -> str:
    """us-west-2a, k80, of 2022-10-26."""
    found = [json.loads(path.read_text()) for path in (shared / "traces/probe-1node-2022").glob("*us-west-2a_k80_1*")]
    return next(str(each["capacity"]) for each in found if each["start"].startswith("2022-10-26"))


@cache
def windows(shared: Path, zone: str) -> list[str]:
    path = shared / f"traces/probe-1node-2023/windows60h_{zone}_v100_1.json"
    return [
        window["capacity"] for window in sorted(json.loads(path.read_text())["windows"], key=lambda each: each["id"])
    ]


def cost(capacities: Sequence[str], hours: int, restart: float, record: Record, order: Order = LISTED) -> float:
    """Of the spare-share rule, with the note's prices."""
    changeover = round(restart * 3600)
    tiers = [Tier(f"zone-{place}", spot=True, usd=0.9731) for place in range(len(capacities))]
    rule = Policy(
        tiers=(*tiers, Tier("on-demand", spot=False, usd=3.06)), probe_every=0, mode="pace", restart=changeover,
        checkpoint_every=0, margin=0, max_moves_per_hour=0, order=order,
    )  # fmt: skip
    task = Job(record.work * 3600, hours * 3600, changeover, 3.06, (0.9731,) * len(capacities))
    market = market_of([each[: hours * 3600 // record.gap + 2] for each in capacities], record.gap)
    outcome = simulate(rule, task, market, tick=record.gap)
    assert not outcome.late(task.deadline)
    return round(outcome.usd, 4)


@pytest.mark.parametrize(
    ("hours", "restart", "expected"), [(52, 0.05, 53.1082), (52, 0.2, 56.8639), (60, 0.2, 49.0497), (60, 0.5, 52.7584)]
)
def test_the_published_runs_of_2022_cost_what_was_published(
    shared: Path, hours: int, restart: float, expected: float
) -> None:
    """beyond-up.md section 6: one zone, start 0."""
    assert cost([trace(shared)], hours, restart, OF_2022) == expected


def test_the_mean_over_the_starts_of_2022_is_the_published_one(shared: Path) -> None:
    whole = trace(shared)
    starts = range(0, len(whole) - ceil(60 * 3600 / 600) - 12, 10)
    costs = [cost([whole[start:]], 60, 0.2, OF_2022) for start in starts]

    assert len(costs) == 353
    assert round(sum(costs) / len(costs), 4) == 55.6017


@pytest.mark.parametrize(("hours", "expected"), [(44, 81.0764), (50, 63.5552), (56, 52.4543)])
def test_the_published_runs_of_2023_cost_what_was_published(shared: Path, hours: int, expected: float) -> None:
    """beyond-up.md section 6: us-east-1f, window 0."""
    assert cost([windows(shared, "us-east-1f")[0]], hours, 0.2, OF_2023) == expected


@pytest.mark.parametrize(
    ("order", "hours", "restart", "first", "mean"),
    [
        (LISTED, 44, 0.2, 41.5663, 41.4557),
        (LISTED, 50, 0.2, 40.1120, 40.2012),
        (LISTED, 56, 0.2, 40.1120, 40.1905),
        (LISTED, 44, 0.5, 51.7990, 54.4548),
        (LONGEST_UP, 44, 0.2, 41.8374, 41.0704),
        (LONGEST_UP, 50, 0.2, 40.3228, 40.0211),
        (LONGEST_UP, 56, 0.2, 40.3228, 40.0071),
        (LONGEST_UP, 44, 0.5, 56.3504, 51.5137),
    ],
)
def test_five_zones_cost_what_was_published(  # noqa: PLR0913, PLR0917 - a row of the note
    shared: Path, order: Order, hours: int, restart: float, first: float, mean: float
) -> None:
    """several-zones.md section 7: window 0, and the mean of 100 windows."""
    zones = [windows(shared, zone) for zone in ZONES]
    costs = [cost([zone[index] for zone in zones], hours, restart, OF_2023, order) for index in range(100)]

    assert costs[0] == first
    assert round(sum(costs) / len(costs), 4) == mean


@pytest.mark.parametrize("zone", ZONES)
def test_one_zone_among_several_tiers_is_one_zone(shared: Path, zone: str) -> None:
    """A tier that never has room changes nothing."""
    alone = windows(shared, zone)[3]

    assert cost([alone, "0" * 1107], 50, 0.2, OF_2023) == cost([alone], 50, 0.2, OF_2023)
