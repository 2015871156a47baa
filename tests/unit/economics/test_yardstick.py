"""The dynamic programme that the rule is measured against is the published one."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import reference, yardstick
from spotproof.economics.starts import Run


def test_chances_of_a_change_are_counted_by_age_and_apart_in_the_first_spell() -> None:
    chances = yardstick.fit([Run(None, 0, ("110" + "1" * 4,))], gap=600, ticks=7)

    assert chances.sum(axis=1) == pytest.approx(np.ones(yardstick.STATES))
    first_up, later_up, later_down = (yardstick.state(*at) for at in ((0, 1, 0), (1, 1, 0), (1, 0, 0)))
    assert chances[first_up, later_down] == pytest.approx(0.5)
    assert chances[later_down, later_up] == 1
    assert chances[later_up, later_down] == yardstick.LEAST_CHANGE


@pytest.mark.parametrize("number", [0, 8])
def test_the_published_saving_of_a_cell_is_met_within_a_tenth(number: int, shared: Path) -> None:
    got = yardstick.saving(shared / "traces", reference.CELLS[number])

    assert got == pytest.approx(yardstick.PUBLISHED[number], abs=0.1)
