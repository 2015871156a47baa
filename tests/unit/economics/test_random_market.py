import numpy as np
import pytest

from spotproof.economics.random_market import Rate, moving_prices, random_market

H = 3600
MEASURED_2022 = Rate(1 / 1.7, 1.6 * H)


def lengths(rate: Rate, hours: int = 1000, runs: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Whole spells of capacity and outages, in hours."""
    chance = np.random.default_rng(0)
    spells: dict[bool, list[int]] = {True: [], False: []}
    for _ in range(runs):
        tape = random_market(chance, rate, 1, hours * H).tapes[0]
        for number, length in enumerate(np.diff(tape.changes)):
            spells[tape.first ^ (number % 2 == 0)].append(int(length))
    return np.array(spells[True]) / H, np.array(spells[False]) / H


def test_spells_and_outages_are_as_uneven_as_measured_on_aws() -> None:
    up, down = lengths(MEASURED_2022)
    assert up.mean() == pytest.approx(1.7, rel=0.03)
    assert np.median(up) == pytest.approx(0.5, abs=0.15)
    assert (up[up > 1] - 1).mean() == pytest.approx(4, abs=0.8)
    assert down.mean() == pytest.approx(1.6, rel=0.03)
    assert 0.3 <= np.median(down) <= 0.5
    assert (down[down > 1] - 1).mean() == pytest.approx(3.6, abs=0.5)
    shares = [float((down <= hours).mean()) for hours in (0.5, 1, 2, 4)]
    for share, (least, most) in zip(shares, [(0.50, 0.65), (0.65, 0.78), (0.78, 0.87), (0.88, 0.93)], strict=True):
        assert least <= share <= most


def test_memoryless_spells_have_no_age() -> None:
    up, _ = lengths(Rate(0.5, H, shape=1.0))
    assert up.mean() == pytest.approx(2, rel=0.03)
    assert (up[up > 2] - 2).mean() == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("shape", [0.5, 1.0])
def test_a_job_comes_at_any_moment_of_the_market(shape: float) -> None:
    """Spot is there at the start, and hours later, as often as it is there at all."""
    rate, chance = Rate(0.4, 1.5 * H, shape), np.random.default_rng(1)
    tapes = [random_market(chance, rate, 1, 40 * H).tapes[0] for _ in range(4000)]
    for moment in (0, H, 30 * H):
        there = np.mean([tape.first ^ bool(np.searchsorted(tape.changes, moment, "right") % 2) for tape in tapes])
        assert there == pytest.approx(rate.availability, abs=0.025)


def test_tiers_are_markets_of_their_own_and_none_lasts_less_than_a_second() -> None:
    market = random_market(np.random.default_rng(2), Rate(50, 1), 3, 100 * H)
    assert len({tape.changes for tape in market.tapes}) == 3
    assert all(np.diff(tape.changes).min() >= 1 for tape in market.tapes)


def test_without_evictions_spot_is_always_there() -> None:
    assert random_market(np.random.default_rng(0), Rate(0, H), 1, H).tapes[0] == (
        tape := random_market(np.random.default_rng(9), Rate(0, 0), 1, H).tapes[0]
    )
    assert (tape.first, tape.changes) == (True, ())


def test_prices_start_as_listed_keep_their_mean_and_stay_below_on_demand() -> None:
    chance = np.random.default_rng(0)
    paths = [moving_prices(chance, (1.0, 2.9), 3.0, 7 * 24 * H) for _ in range(500)]
    assert {tapes[0].usd[0] for tapes in paths} == {1.0}
    assert max(max(tapes[1].usd) for tapes in paths) == 3.0
    last = np.array([tapes[0].usd[-1] for tapes in paths])
    assert last.mean() == pytest.approx(1, abs=0.01)
    assert np.abs(last - 1).mean() == pytest.approx(0.05, abs=0.01)
