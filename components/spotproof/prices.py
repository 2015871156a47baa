"""What things cost per hour: a small dated table, a prices file that overrides it, and when two prices are equal.

Prices age (p5.48xlarge went from 98.32 to 55.04 USD per hour between two snapshots), so each carries
its date and source, and every environment can bring its own.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from spotproof.settings.base import ListOf, Settings
from spotproof.settings.errors import Problem, SettingsError
from spotproof.settings.explain import explain
from spotproof.settings.pools import Pool
from spotproof.settings.provider import Provider
from spotproof.settings.providers import PROVIDERS
from spotproof.settings.stack_file import read_yaml
from spotproof.vocabulary import SPOT, Capacity

ASSUMED_SPOT_SHARE: Final = 0.35
"""Of on-demand, where no spot price is known: GPU spot has lately cost a third, the saving of 90 % is long gone."""
EQUAL_WITHIN: Final = 0.10
"""Prices this close are one price to the fallback rule; a move between them costs more than it saves."""
REFERENCE_REGION: Final[Mapping[str, str]] = {"aws": "us-east-1", "azure": "eastus", "gcp": "us-central1"}
"""The region of the table, whose prices stand in for those of others, and say so."""

EVERY_REGION: Final = "*"
ACCELERATOR: Final = "accelerator/"
"""Before the type of an accelerator that has a price of its own."""


@dataclass(frozen=True)
class Price:
    """USD per hour of one thing, and where the figure is from.

    `guessed` marks a spot price that is a share of on-demand, `borrowed` a price of another region.
    """

    usd_per_hour: float
    source: str
    guessed: bool = False
    borrowed: bool = False

    @property
    def assumed(self) -> bool:
        """Whether nobody has seen this price in this place."""
        return self.guessed or self.borrowed


@dataclass(frozen=True)
class Row:
    """One line of the table: an instance type, an `accelerator/<type>` that is attached, a service as `eks/cluster`."""

    usd_per_hour: float
    spot_usd_per_hour: float | None
    source: str


@dataclass(frozen=True)
class Prices:
    """Rows by (cloud, region, item)."""

    rows: Mapping[tuple[str, str, str], Row]

    def node(
        self,
        cloud: str,
        region: str,
        instance_type: str,
        capacity: Capacity,
        attached: tuple[str, int] | None = None,
    ) -> Price | None:
        """One node of this type; None where nothing is known of it, or of what is attached to it.

        A missing spot price is 0.35 of on-demand; a missing region is the reference region's. Both are marked.

        Args:
            cloud: Whose.
            region: Where, by the cloud's own name.
            instance_type: The machine, with whatever it comes with.
            capacity: How it is bought.
            attached: Type and number of accelerators that are paid for beside the machine, as on GCP's N1.
        """
        machine = self._unit(cloud, region, instance_type, capacity)
        if attached is None or machine is None:
            return machine
        kind, count = attached
        one = self._unit(cloud, region, f"{ACCELERATOR}{kind}", capacity)
        return one and _sum(machine, one, count)

    def _unit(self, cloud: str, region: str, item: str, capacity: Capacity) -> Price | None:
        row, borrowed = self._row(cloud, region, item)
        if row is None:
            return None
        if capacity != SPOT:
            return Price(row.usd_per_hour, row.source, borrowed=borrowed)
        if row.spot_usd_per_hour is not None:
            return Price(row.spot_usd_per_hour, row.source, borrowed=borrowed)
        share = f"{ASSUMED_SPOT_SHARE:.2f} of on-demand ({row.source})"
        return Price(round(row.usd_per_hour * ASSUMED_SPOT_SHARE, 6), share, guessed=True, borrowed=borrowed)

    def service(self, cloud: str, region: str, item: str) -> Price | None:
        """One unit of a service, as `vpc/nat-gateway`; None where nothing is known of it."""
        row, borrowed = self._row(cloud, region, item)
        return Price(row.usd_per_hour, row.source, borrowed=borrowed) if row else None

    def cheapest(
        self,
        cloud: str,
        region: str,
        instance_types: Iterable[str],
        capacity: Capacity,
        attached: tuple[str, int] | None = None,
    ) -> Price | None:
        """The cheapest of several types: what Karpenter takes first, and what a tier is compared by."""
        known = [price for name in instance_types if (price := self.node(cloud, region, name, capacity, attached))]
        return min(known, key=lambda price: price.usd_per_hour, default=None)

    def pool(self, provider: Provider, pool: Pool, capacity: Capacity | None = None) -> Price | None:
        """One node of a pool, as `cheapest` has it.

        Args:
            provider: The pool's cloud and place.
            pool: Its instance types.
            capacity: How the node is bought; left out, as the pool says.
        """
        machine = provider.machine(pool.instance_types[0]) if pool.instance_types else None
        beside = pool.accelerator if machine is not None and machine.takes_accelerators else None
        attached = (beside.type, beside.count) if beside else None
        bought = capacity or pool.capacity
        return self.cheapest(provider.cloud, provider.place, pool.instance_types, bought, attached)

    def _row(self, cloud: str, region: str, item: str) -> tuple[Row | None, bool]:
        if row := self.rows.get((cloud, region, item)) or self.rows.get((cloud, EVERY_REGION, item)):
            return row, False
        reference = REFERENCE_REGION.get(cloud, "")
        row = self.rows.get((cloud, reference, item))
        return (replace(row, source=f"{row.source}, price of {reference}"), True) if row else (None, False)


def _sum(machine: Price, one: Price, count: int) -> Price:
    """A machine with so many of one thing attached."""
    return Price(
        round(machine.usd_per_hour + count * one.usd_per_hour, 6),
        machine.source if one.source == machine.source else f"{machine.source}; {count} x {one.source}",
        guessed=machine.guessed or one.guessed,
        borrowed=machine.borrowed or one.borrowed,
    )


def equal(one: float, other: float) -> bool:
    """Whether two prices per node hour are one price to the fallback rule: within 10 % of the dearer."""
    return abs(one - other) <= EQUAL_WITHIN * max(one, other)


Usd = Annotated[float, Field(gt=0, le=100_000)]


class PriceLine(Settings):
    """One price of a prices file."""

    region: str | None = Field(default=None, description="Left out: every region.", examples=["us-west-2"])
    instance_type: str | None = Field(default=None, description="A node's type.", examples=["p4d.24xlarge"])
    accelerator: str | None = Field(
        default=None, description="One that is attached to a machine and paid for beside it.", examples=["nvidia-t4"]
    )
    service: str | None = Field(default=None, description="Something else.", examples=["vpc/nat-gateway"])
    usd_per_hour: Usd = Field(description="On-demand price, USD per hour.", examples=[21.96])
    spot_usd_per_hour: Usd | None = Field(default=None, description="Spot price, USD per hour.", examples=[7.7])

    @property
    def item(self) -> str:
        """What is priced: a node's type, an accelerator or a service."""
        return self.instance_type or (f"{ACCELERATOR}{self.accelerator}" if self.accelerator else self.service or "")

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if [self.instance_type, self.accelerator, self.service].count(None) != 2:  # noqa: PLR2004 - all but one
            raise ValueError(
                "names not exactly one of instanceType, accelerator and service; its price would belong to nothing; "
                "Write `instanceType: p4d.24xlarge`, `accelerator: nvidia-t4` or `service: vpc/nat-gateway`"
            )
        return self


class PriceFile(Settings):
    """A prices file: what this environment's owner pays."""

    cloud: Annotated[str, StringConstraints(pattern=f"^({'|'.join(PROVIDERS)})$")] = Field(
        default="aws", description="Whose prices, as in `provider.cloud`.", examples=["aws"]
    )
    as_of: Annotated[str, StringConstraints(pattern=r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]$")] = Field(
        description="The day they were looked up.", examples=["2026-11-01"]
    )
    source: str = Field(default="prices file", description="Where they are from.", examples=["our price list"])
    prices: ListOf[PriceLine] = Field(
        description="One line a price.", examples=[[{"instanceType": "p4d.24xlarge", "usdPerHour": 21.96}]]
    )


def load_prices(path: Path | None = None) -> Prices:
    """The table of this release, with the lines of a prices file before it where one is given.

    Raises:
        SettingsError: the file cannot be read, or its prices are not prices.
    """
    if path is None:
        return _table()
    raw = read_yaml(path)
    try:
        file = PriceFile.model_validate(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        raise SettingsError(explain(error, raw, PriceFile), path.name) from error
    if problems := list(_problems(file)):
        raise SettingsError(problems, path.name)
    everywhere = {line.item for line in file.prices if line.region is None}
    # a line without a region is meant everywhere, also where the table has a region's own price
    kept = {key: row for key, row in _table().rows.items() if not (key[0] == file.cloud and key[2] in everywhere)}
    source = f"{file.source} {file.as_of}"
    own = {
        (file.cloud, line.region or EVERY_REGION, line.item): Row(line.usd_per_hour, line.spot_usd_per_hour, source)
        for line in file.prices
    }
    return Prices(kept | own)


def _problems(file: PriceFile) -> Iterator[Problem]:
    """Lines that each are a price and together are not: a service has no spot price, and one thing has one price."""
    first: dict[tuple[str | None, str], int] = {}
    for index, line in enumerate(file.prices):
        key = f"prices[{index}]"
        if line.region is not None and not PROVIDERS[file.cloud].makes_nodes:
            what = f"is {line.region}, and a cluster of `cloud: {file.cloud}` is in no region"
            yield Problem(f"{key}.region", what, "this price would never be found", "Remove it")
        if line.service is not None and line.spot_usd_per_hour is not None:
            yield Problem(f"{key}.spotUsdPerHour", "is set on a service", "services have no spot price", "Remove it")
        before = first.setdefault((line.region, line.item), index)
        if before != index:
            what = f"prices {line.item} a second time, after prices[{before}]"
            yield Problem(key, what, "one of the two would silently win", "Keep one of them")


@cache
def _table() -> Prices:
    text = files("spotproof").joinpath("prices.csv").read_text(encoding="utf-8")
    return Prices(
        {
            (line["cloud"], line["region"], line["item"]): Row(
                float(line["usdPerHour"]),
                float(line["spotUsdPerHour"]) if line["spotUsdPerHour"] else None,
                f"{line['source']} {line['asOf']}",
            )
            for line in csv.DictReader(text.splitlines())
        }
    )
