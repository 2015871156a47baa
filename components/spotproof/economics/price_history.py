"""Recorded spot prices, beside the recorded markets they belong to.

The file is a CSV of price changes, in any order of rows, with the columns of COLUMNS.
"""

import csv
import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from spotproof.economics.market import PriceTape
from spotproof.economics.starts import Run
from spotproof.economics.traces import Trace, TraceError
from spotproof.settings.errors import shown
from spotproof.settings.near import one_of

COLUMNS: Final = ("availability_zone", "instance_type", "timestamp", "spot_usd_per_hour")


@dataclass(frozen=True)
class PriceHistory:
    """Price changes by zone and instance type: UNIX seconds, rising, and the USD per node hour from there on."""

    source: str
    changes: Mapping[tuple[str, str], tuple[tuple[int, float], ...]]

    def tape(self, trace: Trace, run: Run) -> PriceTape:
        """The prices that one run of a trace sees, in seconds from its start.

        Raises:
            TraceError: the file has no price of the trace's zone and instance type.
        """
        changes = self._of(trace)
        window = next(each for each in trace.windows if each.id == run.window)
        begin = self._begin(trace, window.start) + run.start_tick * trace.gap_seconds
        now = max(bisect_right(changes, (begin, math.inf)) - 1, 0)
        seen = changes[now:]
        return PriceTape(tuple(at - begin for at, _ in seen), tuple(usd for _, usd in seen))

    def shifted(self, trace: Trace) -> bool:
        """Whether the trace and its prices are of different times, and the prices are put beside it nevertheless.

        Raises:
            TraceError: the file has no price of the trace's zone and instance type.
        """
        changes, starts = self._of(trace), [instant(each.start) for each in trace.windows]
        known = [start for start in starts if start is not None]
        if len(known) < len(starts):
            return True
        longest = max(len(each.capacity) for each in trace.windows) * trace.gap_seconds
        return max(known) + longest <= changes[0][0] or min(known) > changes[-1][0]

    def _begin(self, trace: Trace, start: str | None) -> int:
        """When a window begins: as recorded, or so that the trace's first one begins with the first price."""
        if not self.shifted(trace):
            return instant(start) or 0
        known = [found for each in trace.windows if (found := instant(each.start)) is not None]
        first_price = self._of(trace)[0][0]
        at = instant(start)
        return first_price if at is None else first_price + at - min(known)

    def _of(self, trace: Trace) -> tuple[tuple[int, float], ...]:
        found = self.changes.get((trace.zone, trace.instance))
        if found is None:
            zones = sorted(zone for zone, instance in self.changes if instance == trace.instance)
            has = f"of {trace.instance} it has {one_of(zones)}" if zones else f"it has none of {trace.instance} at all"
            raise TraceError(
                f"{self.source}: has no price of {trace.instance} in {trace.zone}, where {trace.name} is from; {has}"
            )
        return found


def instant(text: str | None) -> int | None:
    """UNIX seconds of an ISO time, in UTC where it names no zone; None where it is no time."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def read_prices(path: Path) -> PriceHistory:
    """A file of price changes.

    Raises:
        TraceError: the file cannot be read, has other columns, or holds a row that is no price.
    """
    changes: dict[tuple[str, str], list[tuple[int, float]]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
                raise TraceError(f"{path}: has no column {missing[0]}; a price file has {', '.join(COLUMNS)}")
            for row in rows:
                zone, instance, at, usd = (row[name] or "" for name in COLUMNS)
                changes.setdefault((zone, instance), []).append(_change(f"{path}: line {rows.line_num}", at, usd))
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror or error}); name a file of price changes") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: is no CSV file in UTF-8 ({error})") from None
    if not changes:
        raise TraceError(f"{path}: holds no price; write a row a change: {', '.join(COLUMNS)}")
    return PriceHistory(str(path), {key: tuple(sorted(found)) for key, found in changes.items()})


def _change(where: str, at: str, usd: str) -> tuple[int, float]:
    when = instant(at)
    if when is None:
        raise TraceError(f"{where} has the timestamp {shown(at)}; write it as 2020-03-01T12:00:00Z")
    try:
        price = float(usd)
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:
        raise TraceError(f"{where} has the price {shown(usd)}; write USD per hour as in 0.9731")
    return when, price
