"""What the bills of all clouds have in common: a table by resource type, a node with its disk, a Karpenter pool."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spotproof.clouds.charges import Bill, Billed, ByUse, Charge, Item, Ledger, PoolCharge, at
from spotproof.prices import Price
from spotproof.vocabulary import KARPENTER_CAPACITY_LABEL, ON_DEMAND, SPOT, TYPE_LABEL, Capacity


def tariff(handlers: Mapping[str, Bill], by_use: Mapping[str, str], free: tuple[str, ...]) -> Bill:
    """A cloud's bill: the charges of one resource; a type in none of the three is named as unpriced.

    Args:
        handlers: Resource type -> who knows its charges.
        by_use: Resource type -> what it is billed for by use.
        free: Beginnings of types that cost nothing themselves.
    """

    def bill(resource: Billed, ledger: Ledger) -> Iterator[Item]:
        if handler := handlers.get(resource.type):
            yield from handler(resource, ledger)
        elif what := by_use.get(resource.type):
            yield ByUse(what)
        elif not resource.type.startswith(free):
            yield Charge(resource.type, 1, None)

    return bill


def unit(cloud: str, item: str, what: str) -> Bill:
    """The bill of a resource that is one unit of a priced service."""

    def one(resource: Billed, ledger: Ledger) -> Iterator[Item]:
        yield Charge(what, 1, ledger.prices.service(cloud, ledger.region(resource), item))

    return one


def with_disk(node: Price | None, disk: Price | None, units: float = 1) -> Price | None:
    """A node's price with `units` of a disk's; without where one of them has none."""
    if node is None or disk is None:
        return node
    usd = node.usd_per_hour + disk.usd_per_hour * units
    return replace(node, usd_per_hour=usd, borrowed=node.borrowed or (disk.borrowed and units > 0))


@dataclass(frozen=True)
class KarpenterPool:
    """A `karpenter.sh/v1` NodePool, as far as a bill reads it."""

    resource: Billed

    @property
    def name(self) -> str:
        """The pool's name."""
        return str(at(self.resource.inputs, "metadata", "name") or self.resource.name)

    @property
    def node_class(self) -> object:
        """Name of its node class."""
        return at(self._spec, "nodeClassRef", "name")

    @property
    def capacity(self) -> Capacity:
        """A pool that allows both is billed as on-demand, which is the most it can cost."""
        return SPOT if self._allowed(KARPENTER_CAPACITY_LABEL) == [SPOT] else ON_DEMAND

    @property
    def instance_types(self) -> list[str]:
        """The types it may buy, where it names them."""
        return self._allowed(TYPE_LABEL)

    @property
    def max_nodes(self) -> int | None:
        """Its limit of nodes."""
        nodes = at(self.resource.inputs, "spec", "limits", "nodes")
        return int(str(nodes)) if str(nodes).isdigit() else None

    @property
    def _spec(self) -> object:
        return at(self.resource.inputs, "spec", "template", "spec")

    def _allowed(self, key: str) -> list[str]:
        requirements = at(self._spec, "requirements")
        for requirement in requirements if isinstance(requirements, list) else ():
            values = at(requirement, "values")
            if at(requirement, "key") == key and at(requirement, "operator") == "In" and isinstance(values, list):
                return [str(value) for value in values]
        return []


@dataclass(frozen=True)
class Nodes:
    """Full pools of one cloud and region: the dearest of the types, each with so many units of a disk."""

    cloud: str
    region: str
    disk: Price | None
    units: float = 1

    def charge(
        self, ledger: Ledger, *, pool: str, capacity: Capacity, types: Sequence[str], nodes: int | None
    ) -> PoolCharge:
        """The charge of a pool of these types."""
        node = ledger.prices.node
        priced = {name: price for name in types if (price := node(self.cloud, self.region, name, capacity))}
        dearest = max(priced, key=lambda name: priced[name].usd_per_hour, default="")
        return PoolCharge(
            pool=pool,
            capacity=capacity,
            nodes=nodes,
            instance_type=dearest,
            price=with_disk(priced.get(dearest), self.disk, self.units),
            on_demand=with_disk(node(self.cloud, self.region, dearest, ON_DEMAND), self.disk, self.units),
            unpriced=tuple(name for name in types if name not in priced),
        )
