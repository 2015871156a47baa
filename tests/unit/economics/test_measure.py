from math import isnan

import numpy as np
import pytest

from spotproof.economics.measure import Setup, error_of_mean, measure
from spotproof.fallback.policy import Policy
from tests.unit.economics.requests import ON_DEMAND, SPOT, H, made_up, policy, request

ALONE = Policy((ON_DEMAND,))
SPOT_ONLY = Policy((SPOT._replace(max_failures=-1),))


def setup(*policies: Policy, **changes: object) -> Setup:
    return Setup(policies, request(**changes).job, made_up())


def test_processes_give_what_one_gives_and_more_runs_begin_with_the_same() -> None:
    both = setup(policy(), SPOT_ONLY)
    one, other, fewer = measure(both, 60, workers=1), measure(both, 60, workers=2), measure(both, 7, workers=1)
    for mine, yours, first in zip(one, other, fewer, strict=True):
        assert np.array_equal(mine.usd, yours.usd)
        assert np.array_equal(mine.usd[:7], first.usd)


def test_on_demand_costs_its_start_its_work_and_its_writes_and_nothing_else() -> None:
    (runs,) = measure(setup(ALONE), 3)
    seconds = 720 + 10 * H * 31 / 30
    assert set(runs.usd) == {3 * seconds / H}
    assert set(runs.finish) == {seconds}
    assert runs.units.tolist() == [0, 1, 2]


def test_a_run_that_does_not_end_is_charged_for_the_rest_of_its_work() -> None:
    job = request().job
    dry = made_up(rate=3600.0, outage=1e9, end=5 * H)
    (runs,) = measure(Setup((SPOT_ONLY,), job, dry), 10)
    assert runs.unfinished.all()
    assert runs.usd == pytest.approx(3 * (720 + 10 * H * 31 / 30) / H, abs=0.1)


def test_the_error_of_a_mean_counts_runs_of_one_unit_as_one() -> None:
    values = np.random.default_rng(0).normal(size=400)
    alone = error_of_mean(values, np.arange(400))
    assert alone == pytest.approx(values.std(ddof=1) / 20, rel=1e-6)
    assert error_of_mean(np.repeat(values, 4), np.repeat(np.arange(400), 4)) == pytest.approx(alone)
    assert isnan(error_of_mean(values, np.zeros(400, np.int64)))
