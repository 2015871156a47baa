"""Where spot stops paying."""

from itertools import pairwise
from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.economics.break_even import (
    break_even_extra_runtime,
    break_even_mtbf_seconds,
    break_even_rate,
    chance_to_save,
    pays,
)
from spotproof.economics.checkpoints import Cycle
from tests.unit.economics.conditions import CYCLES, HOUR

# The table does not say its write time. With 73 s every cell comes out; with a minute six of them differ in a digit.
WRITE = 73
RESTART_AND_INTERVAL = ((0.1, 0.25), (0.2, 0.5), (0.3, 1), (0.5, 1))
MTBF_HOURS = {
    0.1: (0.11, 0.22, 0.40, 0.48),
    0.3: (0.21, 0.41, 0.72, 0.88),
    0.5: (0.35, 0.69, 1.22, 1.50),
    0.7: (0.67, 1.31, 2.32, 2.87),
    0.9: (2.24, 4.39, 7.74, 9.63),
}


@pytest.mark.parametrize("share", MTBF_HOURS)
def test_the_time_between_evictions_below_which_spot_loses_money_is_the_known_one(share: float) -> None:
    cycles = [Cycle(every * HOUR, WRITE, restart * HOUR) for restart, every in RESTART_AND_INTERVAL]

    assert tuple(round(break_even_mtbf_seconds(share, cycle) / HOUR, 2) for cycle in cycles) == MTBF_HOURS[share]


@given(share=st.floats(0.01, 0.999), cycle=CYCLES)
def test_spot_pays_just_above_the_break_even_and_not_just_below(share: float, cycle: Cycle) -> None:
    rate = break_even_rate(share, cycle)

    assert pays(share, rate * 0.9999, cycle)
    assert not pays(share, rate * 1.0001, cycle)


@given(cycle=CYCLES)
def test_the_dearer_spot_is_the_rarer_evictions_have_to_be(cycle: Cycle) -> None:
    needed = [break_even_mtbf_seconds(share, cycle) for share in (0, 0.1, 0.5, 0.9, 1, 1.2)]

    assert all(one <= other for one, other in pairwise(needed))
    assert needed[0] == 0
    assert needed[-2:] == [inf, inf]
    assert break_even_rate(0, cycle) == inf


EXTRA = {
    0.9: (36.99, 56.25, 81.82, 117.39, 900),
    0.7: (26.6, 38.9, 53.8, 72.4, 233),
    0.6: (22.0, 31.6, 42.9, 56.2, 150),
    0.5: (17.6, 25.0, 33.3, 42.9, 100),
    0.3: (9.9, 13.6, 17.6, 22.0, 42.9),
}


@pytest.mark.parametrize("discount", EXTRA)
def test_the_extra_runtime_that_costs_nothing_is_the_known_one(discount: float) -> None:
    found = [100 * break_even_extra_runtime(discount, alpha) for alpha in (0.3, 0.4, 0.5, 0.6, 1)]

    digits = [len(str(known).partition(".")[2]) for known in EXTRA[discount]]
    # 56.25 is printed as 56.2 there
    assert tuple(round(one - 1e-9, places) for one, places in zip(found, digits, strict=True)) == EXTRA[discount]


def test_what_is_free_may_run_for_ever() -> None:
    assert break_even_extra_runtime(1, 1) == inf
    assert break_even_extra_runtime(0.9, 0) == 0


def test_at_one_eviction_per_attempt_37_per_cent_of_the_attempts_save_anything() -> None:
    cycle = Cycle(1800, 60, 720)

    assert chance_to_save(HOUR / (1800 + 60 + 720), cycle) == pytest.approx(exp(-1))
    assert chance_to_save(0, cycle) == 1
