"""Spare share: how much time must be spare to wait for spot, and to leave on-demand for it.

The share of the time left that is spare, (left - work - 2 changeovers) / left, is compared with straight lines, because
far from the deadline that is the shape of the exact optimum's thresholds. `weight` is the part of the whole saving that
is at stake, 1 between spot and on-demand. All comparisons are of whole numbers where it is 1.
"""

from math import sqrt
from typing import Final

from spotproof.fallback.budget import Budget
from spotproof.fallback.run import NEVER

# wait while share >= 0.10 + 0.04 an hour of outage, up to 4 hours; over 90,000 both are whole numbers of seconds
SCALE: Final = 90_000
KEPT: Final = 9_000
OLDEST: Final = 14_400
# leave on-demand while share >= changeover in hours / (1 + age / 18 min)
HALVED_AFTER: Final = 1_080
PER_HOUR: Final = 3
"""3 / 10 is 1,080 / 3,600: the changeover counted in hours, over an age counted in units of 18 minutes."""

ALL: Final = 1000
"""In thousandths: more is never spare."""


def share(budget: Budget) -> int:
    """Spare time in thousandths of the time left."""
    return 1000 * budget.spare // budget.left if budget.left > 0 else -1000


def kept(outage: int, weight: float = 1) -> int:
    """The share, in thousandths, that waiting needs in an outage of this many seconds."""
    return min(round(1000 * (KEPT + min(outage, OLDEST)) / SCALE / weight), ALL) if weight else ALL


def needed(budget: Budget, age: int, weight: float = 1) -> int:
    """The share, in thousandths, that leaving needs for a tier that has been up for this many seconds."""
    return min(round(300 * budget.changeover / (HALVED_AFTER + age) / weight), ALL) if weight else ALL


def may_wait(budget: Budget, outage: int, weight: float = 1) -> bool:
    """Whether enough is spare to wait in an outage of this many seconds rather than to pay more."""
    return budget.left > 0 and SCALE * budget.spare * weight >= (KEPT + min(outage, OLDEST)) * budget.left


def may_leave(budget: Budget, age: int, weight: float = 1) -> bool:
    """Whether enough is spare to leave for a cheaper tier that has been up for this many seconds."""
    spare = budget.spare
    return (
        spare >= 0
        and weight > 0
        and 10 * (HALVED_AFTER + age) * spare * weight >= PER_HOUR * budget.changeover * budget.left
    )


def until_no_wait(budget: Budget, outage: int, weight: float = 1) -> int:
    """Seconds after which may_wait may turn to no, while nothing is done; a second early rather than late."""
    left, scaled, floor = budget.left, SCALE * weight, KEPT + min(outage, OLDEST)
    ages = KEPT + OLDEST - floor
    # scaled * (spare - s) - (floor + s) * (left - s), until the outage is as old as counts
    root = _first_root(1.0, floor - left - scaled, scaled * budget.spare - floor * left)
    if root is not None and root <= ages:
        return max(int(root) - 1, 1)
    slope = scaled - KEPT - OLDEST
    if slope <= 0:
        return max(ages, 1)
    root = (scaled * budget.spare - (KEPT + OLDEST) * left) / slope
    return max(int(root) - 1, ages, 1)


def until_leave(budget: Budget, age: int, weight: float = 1) -> int:
    """Seconds after which may_leave may turn to yes, while the job runs where it is; a second early."""
    if not weight:
        return NEVER
    up, cost, lever = HALVED_AFTER + age, PER_HOUR * budget.changeover, 10 * weight
    stall, found = budget.stall, NEVER
    # until the changeover is paid: lever * (up + s) * (spare - s) - cost * (left - s)
    root = _first_root(lever, lever * (up - budget.spare) - cost, cost * budget.left - lever * up * budget.spare)
    if root is not None and 0 <= root <= stall:
        found = int(root) - 1
    elif stall < NEVER and (spare := budget.spare - stall) > 0:
        # after it, work falls as fast as time passes and what is spare stays
        found = int((cost * budget.left - lever * up * spare) / (lever * spare + cost)) - 1
    return max(found, 1)


def _first_root(square: float, linear: float, constant: float) -> float | None:
    """The smaller root of a parabola that opens upwards, if it has one from 0 on; None otherwise."""
    inner = linear * linear - 4 * square * constant
    if inner < 0:
        return None
    root = (-linear - sqrt(inner)) / (2 * square)
    return root if root >= 0 else None
