"""What bills of all clouds share: nothing is ever counted as zero because nobody knows it."""

from collections.abc import Iterator
from typing import Any

import pytest

from spotproof.clouds.charges import Billed, ByUse, Charge, Item, Ledger
from spotproof.clouds.tariff import KarpenterPool, Nodes, tariff, with_disk
from spotproof.preview.model import Resource
from spotproof.prices import Price, Prices, Row

ROWS = {("toy", "here", "small"): Row(1.0, None, "list"), ("toy", "here", "large"): Row(4.0, 1.0, "list")}
LEDGER = Ledger({}, Prices(ROWS), lambda _: "here")


def resource(kind: str, **inputs: Any) -> Resource:
    urn = f"urn:pulumi:dev::p::{kind}::one"
    return Resource(urn, kind, "one", custom=True, parent="", provider="", inputs=inputs)


def karpenter(**spec: Any) -> KarpenterPool:
    return KarpenterPool(resource("kubernetes:karpenter.sh/v1:NodePool", metadata={"name": "gpu"}, spec=spec))


def requirement(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def priced(_resource: Billed, _ledger: Ledger) -> Iterator[Item]:
    yield Charge("a thing", 2, None)


BILL = tariff({"toy:a:Thing": priced}, {"toy:a:Store": "what is stored"}, ("toy:free",))

CASES = [
    ("toy:a:Thing", [Charge("a thing", 2, None)]),
    ("toy:a:Store", [ByUse("what is stored")]),
    ("toy:free/anything:Anything", []),
    ("toy:a:New", [Charge("toy:a:New", 1, None)]),
]


@pytest.mark.parametrize(("kind", "items"), CASES)
def test_a_type_is_priced_billed_by_use_free_or_named_as_unpriced(kind: str, items: list[Item]) -> None:
    assert list(BILL(resource(kind), LEDGER)) == items


def test_a_pool_is_billed_with_the_dearest_of_its_types_and_names_those_without_a_price() -> None:
    disk = Price(0.01, "list")
    charge = Nodes("toy", "here", disk, 100).charge(
        LEDGER, pool="gpu", capacity="spot", types=["small", "large", "odd"], nodes=3
    )

    assert (charge.instance_type, charge.unpriced) == ("large", ("odd",))
    assert charge.full_usd == pytest.approx(3 * (1.0 + 1.0))
    assert charge.full_on_demand_usd == pytest.approx(3 * (4.0 + 1.0))


def test_a_node_without_a_price_has_none_with_a_disk_either() -> None:
    assert with_disk(None, Price(1.0, "list")) is None


def test_a_borrowed_disk_makes_a_borrowed_node_only_where_there_is_a_disk() -> None:
    node, disk = Price(1.0, "list"), Price(0.1, "list", borrowed=True)

    assert [with_disk(node, disk, units) for units in (10, 0)] == [
        Price(2.0, "list", borrowed=True),
        Price(1.0, "list"),
    ]


def test_a_karpenter_pool_that_may_buy_both_is_billed_as_on_demand() -> None:
    both = karpenter(
        template={"spec": {"requirements": [requirement("karpenter.sh/capacity-type", "spot", "on-demand")]}}
    )
    spot = karpenter(template={"spec": {"requirements": [requirement("karpenter.sh/capacity-type", "spot")]}})

    assert (both.capacity, spot.capacity) == ("on-demand", "spot")


def test_a_karpenter_pool_without_a_limit_has_none() -> None:
    assert [karpenter(limits=limits).max_nodes for limits in ({"nodes": "8"}, {"nodes": 8}, {})] == [8, 8, None]
