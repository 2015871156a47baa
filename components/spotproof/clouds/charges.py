"""What a preview can say of the bill: charges, and the table of who can tell them for which resources."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias, cast

from spotproof.prices import Price, Prices
from spotproof.settings.providers import PROVIDERS
from spotproof.vocabulary import Capacity


class Billed(Protocol):
    """What is needed of a captured resource; `inputs` in wire (camelCase) names."""

    @property
    def urn(self) -> str:
        """Its name in the stack, unique."""
        ...

    @property
    def type(self) -> str:
        """Its type token, as `aws:eks/cluster:Cluster`."""
        ...

    @property
    def name(self) -> str:
        """The last part of its URN."""
        ...

    @property
    def inputs(self) -> Mapping[str, object]:
        """Its inputs as plain values."""
        ...

    @property
    def dependencies(self) -> Sequence[str]:
        """URNs of what it depends on."""
        ...


@dataclass(frozen=True)
class Charge:
    """Something that is paid for while nothing runs: `count` units of one price. No price: it has none here."""

    what: str
    count: float
    price: Price | None


@dataclass(frozen=True)
class PoolCharge:
    """A node pool when it is full: `nodes` of the dearest of its types, disk included; None: nothing limits it.

    `on_demand` is the same node bought on-demand; `unpriced` are types of the pool without a price.
    """

    pool: str
    capacity: Capacity
    nodes: int | None
    instance_type: str
    price: Price | None
    on_demand: Price | None
    unpriced: tuple[str, ...] = ()

    @property
    def full_usd(self) -> float | None:
        """USD per hour with every node; None where a price or the limit is missing, which is never zero."""
        return None if self.price is None or self.nodes is None else self.price.usd_per_hour * self.nodes

    @property
    def full_on_demand_usd(self) -> float | None:
        """The same nodes bought on-demand."""
        return None if self.on_demand is None or self.nodes is None else self.on_demand.usd_per_hour * self.nodes


@dataclass(frozen=True)
class ByUse:
    """Something billed by what is stored or sent, which nobody knows before."""

    what: str


Item: TypeAlias = Charge | PoolCharge | ByUse


@dataclass(frozen=True)
class Ledger:
    """What a bill is computed from: all resources, the prices, and the region of each resource."""

    resources: Mapping[str, Billed]
    prices: Prices
    region: Callable[[Billed], str]


Bill: TypeAlias = Callable[[Billed, Ledger], Iterator[Item]]

KARPENTER_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"

BILLS: Final[Mapping[str, str]] = MappingProxyType(
    {provider.package: f"spotproof.clouds.{cloud}.bill" for cloud, provider in PROVIDERS.items() if provider.package}
)
"""First part of a cloud's type tokens -> the module whose `bill(resource, ledger)` knows their prices."""

_PAID_BY: Final = {provider.node_class_group: provider.package for provider in PROVIDERS.values()}


def bill(resource: Billed, ledger: Ledger) -> Iterator[Item]:
    """What one resource costs; nothing for those that are free, or of a provider nobody bills here."""
    if (package := paying_package(resource)) in BILLS:
        yield from cast("Bill", import_module(BILLS[package]).bill)(resource, ledger)


def paying_package(resource: Billed) -> str:
    """Whose prices a resource has: its own package's, and for a Karpenter pool those of the cloud of its node class."""
    if resource.type == KARPENTER_POOL:
        group = str(at(resource.inputs, "spec", "template", "spec", "nodeClassRef", "group"))
        return _PAID_BY.get(group, "")
    return resource.type.partition(":")[0]


def at(value: object, *path: str | int) -> object:
    """What stands at a path of plain values; None where something is missing or unknown."""
    for part in path:
        if isinstance(part, str) and isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(part, int) and isinstance(value, Sequence) and not isinstance(value, str) and part < len(value):
            value = value[part]
        else:
            return None
    return value
