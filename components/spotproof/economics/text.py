"""How a plan writes its numbers."""

from datetime import timedelta
from typing import Final

from spotproof.settings.base import render_duration

MINUTE: Final = 60


def time(seconds: float) -> str:
    """As the settings write it, `1h30m`; from a minute up in whole minutes."""
    whole = round(seconds)
    return render_duration(timedelta(seconds=whole if whole < MINUTE else MINUTE * round(seconds / MINUTE)))


def percent(share: float, digits: int = 1) -> str:
    """`12.3 %` of a share of 1; never `-0.0 %`."""
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %"


def points(share: float) -> str:
    """The difference of two shares, as `1.2 points`."""
    return f"{round(100 * share, 1) + 0.0:.1f} points"


def usd(amount: float) -> str:
    """`1,234.50 USD`."""
    return f"{amount:,.2f} USD"
