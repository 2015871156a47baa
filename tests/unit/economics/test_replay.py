from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.reference import SPOT_USD, job, zones
from spotproof.economics.market import Bill, PriceTape
from spotproof.economics.outcome import Job, Outcome
from spotproof.economics.replay import (
    Baseline,
    Omniscient,
    Ours,
    Record,
    Summary,
    pace_policy,
    records,
    replay,
    summary,
    total,
)
from spotproof.economics.starts import Every, Run
from spotproof.economics.traces import Trace, Window, read_trace
from spotproof.fallback.policy import Order

TICK, HOUR = 600, 3600
JOB = Job(work=2 * HOUR, deadline=4 * HOUR, changeover=0, on_demand_usd=3.0, spot_usd=(1.0,))


def trace(name: str, capacity: str, gap: int = TICK) -> Trace:
    return Trace(name, "a", "p3.2xlarge", gap, (Window(None, None, capacity),), whole=True)


def only(capacity: str, *, prices: tuple[PriceTape, ...] = ()) -> Record:
    return Record("x", TICK, (Run(None, 0, (capacity,)),), (prices,) if prices else ())


def test_what_is_saved_is_of_the_work_alone_on_on_demand() -> None:
    restarts = JOB._replace(changeover=HOUR)

    (found,) = replay(Baseline("on-demand"), restarts, [only("0" * 30)])

    assert found == Summary(1, 9.0, -50.0, 0, 0.0, 0.0, 3.0, 0)


def test_every_trace_weighs_the_same_however_many_runs_it_has() -> None:
    long, short = trace("long", "1" * 60), trace("short", "0" * 40)
    found = replay(Baseline("greedy"), JOB, records([long, short], Every(1), JOB.deadline))

    both = total(found)

    assert [each.runs for each in found] == [24, 4]
    assert both.runs == 28
    assert both.usd == pytest.approx((found[0].usd + found[1].usd) / 2)
    assert both.saved_percent == pytest.approx((found[0].saved_percent + found[1].saved_percent) / 2)


def test_a_run_that_its_record_ends_is_late_and_unfinished() -> None:
    (found,) = replay(Baseline("spot-only"), JOB, [only("1" * 6)])

    assert (found.late, found.unfinished, found.usd) == (1, 1, 1.0)


def test_a_run_that_ends_after_its_deadline_is_late_and_finished() -> None:
    (found,) = replay(Baseline("spot-only"), JOB, [only("0" * 24 + "1" * 12)])

    assert (found.late, found.unfinished, found.spot_hours) == (1, 0, 2.0)


def test_windows_of_one_id_run_side_by_side_in_one_line() -> None:
    one, other = (
        replace(trace(name, "1"), whole=False, windows=tuple(Window(n, None, c) for n, c in found))
        for name, found in (("one", ((0, "10"), (1, "11"))), ("other", ((1, "01"), (2, "00"))))
    )

    (found,) = records([one, other], Every(), JOB.deadline, as_tiers=True)

    assert found.name == "one + other"
    assert found.runs == (Run(1, 0, ("11", "01")),)


def test_pace_takes_the_other_tier_when_one_is_lost() -> None:
    two = JOB._replace(spot_usd=(1.0, 1.0))
    side_by_side = Record("x", TICK, (Run(None, 0, ("1" * 6 + "0" * 30, "0" * 6 + "1" * 30)),))

    (found,) = replay(Ours(pace_policy(two)), two, [side_by_side])

    assert (found.evictions, found.spot_hours, found.on_demand_hours) == (1, 2.0, 0.0)


@pytest.mark.parametrize(("order", "usd"), [(Order.LISTED, 1.0), (Order.LEAST_RECENTLY_FAILED, 1.05)])
def test_the_order_of_a_policy_says_which_tier_is_taken_when_one_is_lost(order: Order, usd: float) -> None:
    three = JOB._replace(spot_usd=(1.0, 1.0, 1.05))
    lost = Record("x", TICK, (Run(None, 0, ("111" + "0" * 30, "001" + "1" * 30, "011" + "1" * 30)),))

    (found,) = replay(Ours(pace_policy(three, order=order)), three, [lost])

    assert found.usd == pytest.approx((3 * 1.0 + 9 * usd) / 6)


def test_probes_of_a_running_job_are_billed_and_requests_of_a_waiting_one_are_not() -> None:
    paid = JOB._replace(deadline=3 * HOUR, probe=600)
    never = only("0" * 30)

    free = replay(Ours(pace_policy(paid)), paid, [never])[0].usd
    probed = replay(Ours(pace_policy(paid, probe_every=1800)), paid, [never])[0].usd

    # 2 h on on-demand, the first ask at once, one every half an hour after it, while time is spare: ten minutes each
    assert free == pytest.approx(6.0)
    assert (probed - free) * 6 == pytest.approx(4)


def test_continuous_time_loses_nodes_within_ticks_and_is_the_same_for_the_same_seed() -> None:
    many = Record("x", TICK, tuple(Run(None, n, ("1" * (3 + n) + "0" * 3 + "1" * 40,)) for n in range(6)))
    policy = pace_policy(JOB)

    first, again, other = (Ours(policy, continuous=True, seed=seed)(JOB, many) for seed in (1, 1, 2))

    assert first == again != other
    assert any((each.finish or 0) % TICK for each in first)
    assert not any((each.finish or 0) % TICK for each in Ours(policy)(JOB, many))


@pytest.mark.parametrize(("bill", "usd"), [(Bill.FIXED_AT_LAUNCH, 2.0), (Bill.FLOATING, 3.0)])
def test_prices_that_move_are_billed_as_at_launch_or_as_they_float(bill: Bill, usd: float) -> None:
    doubled = PriceTape((0, HOUR), (1.0, 2.0))

    (found,) = replay(Ours(pace_policy(JOB), bill=bill), JOB, [only("1" * 40, prices=(doubled,))])

    assert found.usd == pytest.approx(usd)


def test_other_processes_find_what_this_one_finds() -> None:
    record = records([trace("x", "1101" * 100)], Every(2), JOB.deadline)

    assert replay(Ours(pace_policy(JOB)), JOB, record, workers=2) == replay(Ours(pace_policy(JOB)), JOB, record)


def test_a_summary_is_means_and_counts_over_the_runs_of_all_nodes() -> None:
    found = [
        Outcome(6.0, 3 * HOUR, evictions=1, starts=2, spot=HOUR, on_demand=HOUR),
        Outcome(2.0, None, evictions=0, starts=1, spot=2 * HOUR, on_demand=0),
    ]

    assert summary(JOB._replace(nodes=2), found) == pytest.approx((2, 4.0, 100 * 2 / 3, 1, 0.5, 1.5, 0.5, 1))


def test_one_whole_trace_is_as_published(shared: Path) -> None:
    found = read_trace(shared / "traces" / "probe-1node-2022" / "2022-10-26_us-west-2a_k80_1.json")
    one = job(48, 60, 0.2)
    record = records([found], Every(10), one.deadline)

    usd = [
        replay(each, one, record)[0].usd
        for each in (Ours(pace_policy(one)), Baseline("uniform-progress"), Omniscient())
    ]

    assert [round(each, 4) for each in usd[:2]] == [55.6017, 59.5357]
    assert usd[2] < usd[0]


@pytest.mark.parametrize(("order", "usd"), [(Order.LISTED, 40.1120), (Order.LEAST_RECENTLY_FAILED, 40.3228)])
def test_five_zones_side_by_side_are_as_published(shared: Path, order: Order, usd: float) -> None:
    five = zones(shared / "traces")
    one = job(40, 50, 0.2, tiers=5)
    (record,) = records(five, Every(), one.deadline, as_tiers=True)
    first = record._replace(runs=record.runs[:1])

    (found,) = replay(Ours(pace_policy(one, order=order)), one, [first])

    assert found.usd == pytest.approx(usd, abs=5e-5)
    assert one.spot_usd == (SPOT_USD,) * 5
