import pytest

from spotproof.economics.traces import TraceError
from tests.unit.economics.requests import H, made_up, on_record, trace, windows

DAY = "1" * 60 + "0" * 12 + "1" * 72


def test_a_run_has_the_same_market_whatever_was_asked_before() -> None:
    source = made_up()
    first = source.market(3)
    source.market(0)
    assert source.market(3) == first
    assert source.market(4) != first
    assert made_up(seed=1).market(3) != first


def test_every_trace_weighs_the_same_and_every_window_comes_before_one_comes_twice() -> None:
    source = on_record(windows("1" * 20, "0" * 20, name="a"), windows("10" * 10, name="b"))
    tapes = [source.market(run).tapes[0] for run in range(4)]
    assert len({source.unit(run) for run in (0, 2)}) == 2
    assert [len(tape.changes) for tape in tapes] == [0, 19, 0, 19]
    assert source.unit(1) == source.unit(3) == source.unit(5)


def test_runs_that_overlap_in_a_whole_trace_are_of_one_unit() -> None:
    source = on_record(trace(DAY))
    starts = {source.market(run).end: source.unit(run) for run in range(12)}
    assert len(starts) == 12
    assert 2 <= len(set(starts.values())) < 12


def test_a_change_is_at_some_moment_of_the_tick_before_it_was_seen() -> None:
    source = on_record(windows("1" * 10 + "0" * 10))
    moments = {source.market(run).tapes[0].changes[0] for run in range(50)}
    assert len(moments) > 25
    assert min(moments) > 9 * 600
    assert max(moments) <= 10 * 600


def test_several_tiers_take_a_trace_each_side_by_side() -> None:
    source = on_record(windows("1" * 20), windows("0" * 20), tiers=2)
    assert [tape.first for tape in source.market(0).tapes] == [True, False]
    assert source.availability == (1.0, 0.0)


def test_evictions_and_outages_are_counted_in_the_traces() -> None:
    spells = on_record(windows("1111110011111100", "1" * 16)).spells()
    assert spells.evictions_per_hour == pytest.approx(2 / (28 * 600 / H))
    assert spells.outage_seconds == 1200


def test_a_market_without_spot_has_one_long_outage() -> None:
    assert on_record(windows("0" * 20)).spells().outage_seconds == 20 * 600


@pytest.mark.parametrize(
    ("traces", "tiers", "says"),
    [
        ((trace(DAY),), 3, "1 trace is given for 3 spot tiers; give one trace a spot tier"),
        ((trace("1" * 12),), 1, "zone: is 2h long, and this job needs a record of 4h10m"),
        ((windows("1" * 11),), 1, "zone: is 1h50m long, and this job needs a record of 2h"),
        ((trace(DAY), windows("1" * 30)), 2, "cannot run side by side"),
    ],
)
def test_records_that_do_not_fit_are_refused(traces: tuple[object, ...], tiers: int, says: str) -> None:
    with pytest.raises(TraceError, match=says):
        on_record(*traces, tiers=tiers)  # pyright: ignore[reportArgumentType] - traces of two kinds


def test_prices_move_by_the_same_seed() -> None:
    source = made_up()
    assert source.market(0).prices == source.market(0).prices != source.market(1).prices
    assert source.market(0).bill is source.bought.bill
