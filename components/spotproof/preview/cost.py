"""What a previewed stack costs per hour: idle, and with every pool full."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Final

from spotproof.clouds.charges import Billed, ByUse, Charge, Ledger, PoolCharge, bill
from spotproof.preview.model import Capture
from spotproof.preview.regions import region_of
from spotproof.prices import ASSUMED_SPOT_SHARE, Price, Prices
from spotproof.vocabulary import ON_DEMAND, SPOT

# A line is what is paid for, two amounts of 12 and 14 columns and their marks.
AMOUNTS: Final = 30
USUAL: Final = 42
NARROWEST: Final = 16


@dataclass(frozen=True)
class CostEstimate:
    """USD per hour. What has no price is named in `unpriced`, and counts nowhere."""

    idle: tuple[Charge, ...]
    pools: tuple[PoolCharge, ...]
    unpriced: tuple[str, ...]
    by_use: tuple[str, ...]

    @property
    def idle_usd(self) -> float:
        """Paid while no pool has a node."""
        return sum(charge.count * charge.price.usd_per_hour for charge in self.idle if charge.price)

    def full_usd(self, capacity: str) -> float:
        """All pools of one capacity with every node they may have."""
        return sum(pool.full_usd or 0 for pool in self.pools if pool.capacity == capacity)

    def as_json(self) -> dict[str, object]:
        """The `cost` of a JSON preview; amounts are USD per hour."""
        spot, on_demand = self.full_usd(SPOT), self.full_usd(ON_DEMAND)
        return {
            "currency": "USD",
            "per": "hour",
            "idle": {"total": _usd(self.idle_usd), "items": [_charge(charge) for charge in self.idle]},
            "pools": [_pool(pool) for pool in self.pools],
            "full": {"spot": _usd(spot), "onDemand": _usd(on_demand), "total": _usd(self.idle_usd + spot + on_demand)},
            "unpriced": list(self.unpriced),
            "byUse": list(self.by_use),
        }

    def lines(self, width: int = 79) -> list[str]:
        """The same for a person, one line a thing, at most `width` columns."""
        return list(self._lines(width))

    def _lines(self, width: int) -> Iterator[str]:
        longest = max((len(line.what) for line in self._amounts()), default=0) + 1
        column = max(NARROWEST, min(max(USUAL, longest), width - AMOUNTS))
        if self.idle or self.pools:
            beside = f"   {'on-demand':>14}" if self.pools else ""
            yield f"{'':<{column}}{'USD/h':>12}{beside}"
            yield from (line.at(column) for line in self._amounts())
        for note in self._notes():
            yield from wrap(note, width - 2, subsequent_indent="  ")

    def _amounts(self) -> Iterator["_Line"]:
        yield _Line("idle", self.idle_usd)
        for charge in self.idle:
            if charge.price:
                what = charge.what if charge.count == 1 else f"{charge.count:g} x {charge.what}"
                yield _Line(f"  {what}", charge.count * charge.price.usd_per_hour, _marks(charge.price))
        if not self.pools:
            return
        for pool in self.pools:
            yield _pool_line(pool)
        spot, on_demand = self.full_usd(SPOT), self.full_usd(ON_DEMAND)
        yield _Line("everything full", self.idle_usd + spot + on_demand)
        yield _Line("  of it spot pools", spot, "", sum(p.full_on_demand_usd or 0 for p in self._spot_pools()))
        yield _Line("  of it on-demand pools", on_demand)

    def _spot_pools(self) -> Iterator[PoolCharge]:
        return (pool for pool in self.pools if pool.capacity == SPOT)

    def _notes(self) -> Iterator[str]:
        prices = [item.price for item in (*self.idle, *self.pools) if item.price]
        if any(price.guessed for price in prices):
            yield f"* no spot price known: {ASSUMED_SPOT_SHARE:.2f} of on-demand assumed; a prices file overrides it"
        if any(price.borrowed for price in prices):
            yield "~ price of another region, as the table has none of this one"
        if self.unpriced:
            yield f"without a price, not counted: {', '.join(self.unpriced)}"
        if self.by_use:
            yield f"billed by use, not counted: {'; '.join(self.by_use)}"


def estimate(capture: Capture, prices: Prices, regions: Mapping[str, str] | None = None) -> CostEstimate:
    """What the captured resources cost by these prices.

    `regions` are those of default providers: package -> region, where the stack's configuration says them.
    """
    resources: dict[str, Billed] = {resource.urn: resource for resource in capture.resources}
    ledger = Ledger(resources, prices, region_of(capture, regions or {}))
    items = [item for resource in capture.resources for item in bill(resource, ledger)]
    charges = [item for item in items if isinstance(item, Charge)]
    pools = tuple(item for item in items if isinstance(item, PoolCharge))
    return CostEstimate(
        idle=tuple(_merged([charge for charge in charges if charge.price])),
        pools=tuple(sorted(pools, key=lambda pool: (pool.capacity != SPOT, pool.pool))),
        unpriced=tuple(sorted({charge.what for charge in charges if not charge.price}.union(*map(_missing, pools)))),
        by_use=tuple(sorted({item.what for item in items if isinstance(item, ByUse)})),
    )


def _merged(charges: list[Charge]) -> Iterator[Charge]:
    """One line for equal things: three NAT gateways are one line with a count."""
    merged: dict[tuple[str, Price | None], Charge] = {}
    for charge in charges:
        key = (charge.what, charge.price)
        merged[key] = replace(charge, count=charge.count + merged[key].count) if key in merged else charge
    return iter(sorted(merged.values(), key=lambda charge: charge.what))


def _missing(pool: PoolCharge) -> tuple[str, ...]:
    """What keeps a full pool from having a price."""
    return pool.unpriced if pool.nodes is not None else (*pool.unpriced, f"pool {pool.pool} (no limit of nodes)")


@dataclass(frozen=True)
class _Line:
    """What is paid for and its amounts; `usd` None: nobody knows."""

    what: str
    usd: float | None
    marks: str = ""
    on_demand: float | None = None

    def at(self, column: int) -> str:
        amount = "no price" if self.usd is None else f"{self.usd:,.4f}"
        beside = f"{self.on_demand:>14,.4f}" if self.on_demand is not None else ""
        short = self.what if len(self.what) <= column else f"{self.what[: column - 1]}…"
        return f"{short:<{column}}{amount:>12} {self.marks:<2}{beside}".rstrip()


def _pool_line(pool: PoolCharge) -> _Line:
    count = "any number of" if pool.nodes is None else f"{pool.nodes} x"
    what = f"{pool.pool} full: {count} {pool.instance_type or ', '.join(pool.unpriced)}"
    beside = pool.full_on_demand_usd if pool.capacity == SPOT else None
    return _Line(what, pool.full_usd, _marks(pool.price) if pool.price else "", beside)


def _marks(price: Price) -> str:
    return f"{'*' if price.guessed else ''}{'~' if price.borrowed else ''}"


def _charge(charge: Charge) -> dict[str, object]:
    assert charge.price is not None  # noqa: S101 - for the type checker: charges without a price are not in `idle`
    total = charge.count * charge.price.usd_per_hour
    return {
        "what": charge.what, "count": charge.count, "usdPerHour": _usd(total),
        "source": charge.price.source, "assumed": charge.price.assumed,
    }  # fmt: skip


def _pool(pool: PoolCharge) -> dict[str, object]:
    return {
        "pool": pool.pool,
        "capacity": pool.capacity,
        "nodes": pool.nodes,
        "instanceType": pool.instance_type or None,
        "usdPerNodeHour": _usd(pool.price.usd_per_hour) if pool.price else None,
        "onDemandUsdPerNodeHour": _usd(pool.on_demand.usd_per_hour) if pool.on_demand else None,
        "usdPerHourFull": _usd(pool.full_usd) if pool.full_usd is not None else None,
        "source": pool.price.source if pool.price else None,
        "assumed": pool.price.assumed if pool.price else None,
        "unpriced": list(pool.unpriced),
    }


def _usd(amount: float) -> float:
    return round(amount, 6)
