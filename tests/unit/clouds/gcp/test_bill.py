"""What GCP resources cost, from plain inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from spotproof.clouds.charges import ByUse, Charge, Item, Ledger, PoolCharge, bill
from spotproof.prices import load_prices

POOL = "gcp:container/nodePool:NodePool"


@dataclass(frozen=True)
class Seen:
    type: str
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    name: str = "it"
    urn: str = "urn:it"
    dependencies: Sequence[str] = ()


def items(one: Seen, *beside: Seen, region: str = "us-central1") -> list[Item]:
    resources = {seen.urn: seen for seen in (one, *beside)}
    return list(bill(one, Ledger(resources, load_prices(), lambda _: region)))


def pool(**node: Any) -> Seen:
    config = {"machineType": "n1-standard-8", "diskSizeGb": 200, "diskType": "pd-balanced", **node}
    scaling = {"totalMaxNodeCount": 4}
    return Seen(POOL, {"name": "t4-spot", "autoscaling": scaling, "nodeConfig": config})


T4 = {"guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 2}]}
DISK = 200 * 0.00013699


def only_pool(one: Seen, **more: Any) -> PoolCharge:
    (charge,) = items(one, **more)
    assert isinstance(charge, PoolCharge)
    return charge


def test_accelerators_of_n1_are_added_to_the_machine_in_both_capacities() -> None:
    charge = only_pool(pool(spot=True, **T4))

    assert charge.price is not None
    assert charge.on_demand is not None
    assert charge.price.usd_per_hour == pytest.approx(0.08 + 2 * 0.175 + DISK)
    assert charge.on_demand.usd_per_hour == pytest.approx(0.38 + 2 * 0.35 + DISK)
    assert not charge.price.assumed
    assert charge.instance_type == "n1-standard-8 + 2 nvidia-t4"


def test_accelerators_that_come_with_the_machine_are_in_its_price() -> None:
    accelerators = {"guestAccelerators": [{"type": "nvidia-tesla-a100", "count": 8}]}
    charge = only_pool(pool(machineType="a2-highgpu-8g", **accelerators))

    assert charge.price is not None
    assert charge.price.usd_per_hour == pytest.approx(29.38708 + DISK)


def test_a_pool_is_full_at_its_limit_in_all_zones_or_in_each() -> None:
    each = Seen(
        POOL,
        {
            "nodeLocations": ["a", "b"],
            "autoscaling": {"maxNodeCount": 3},
            "nodeConfig": {"machineType": "e2-standard-4"},
        },
    )

    assert (only_pool(pool()).nodes, only_pool(each).nodes) == (4, 6)


def test_a_machine_without_a_price_is_named() -> None:
    charge = only_pool(pool(machineType="a4-highgpu-8g"))

    assert (charge.price, charge.unpriced) == (None, ("a4-highgpu-8g",))


def test_an_accelerator_without_a_price_leaves_the_node_without_one() -> None:
    charge = only_pool(pool(guestAccelerators=[{"type": "nvidia-tesla-p4", "count": 1}]))

    assert (charge.price, charge.unpriced) == (None, ("n1-standard-8 + 1 nvidia-tesla-p4",))


def test_the_price_of_another_region_says_so() -> None:
    price = only_pool(pool(), region="europe-west4").price

    assert price is not None
    assert price.borrowed


def test_a_pool_of_a_fixed_size_is_paid_for_while_nothing_runs() -> None:
    fixed = Seen(POOL, {"nodeCount": 1, "nodeLocations": ["a", "b"], "nodeConfig": {"machineType": "e2-standard-4"}})
    node, disk = items(fixed)

    assert isinstance(node, Charge)
    assert isinstance(disk, Charge)
    assert (node.count, node.price and node.price.usd_per_hour) == (2, 0.13402)
    assert disk.count == 2 * 100, "what GKE gives a pool that says nothing"


def test_nat_is_paid_by_the_machine_that_stays() -> None:
    fixed = Seen(POOL, {"nodeCount": 1, "nodeLocations": ["a", "b"]}, urn="urn:system")
    machines, address = items(Seen("gcp:compute/routerNat:RouterNat"), fixed)

    assert isinstance(machines, Charge)
    assert isinstance(address, Charge)
    assert (machines.count, machines.price and machines.price.usd_per_hour) == (2, 0.0014)
    assert address.price


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "7 days more (soft delete)"),
        ({"softDeletePolicy": {"retentionDurationSeconds": 864_000}}, "10 days more (soft delete)"),
        ({"softDeletePolicy": {"retentionDurationSeconds": 0}}, "requested"),
    ],
)
def test_soft_delete_is_part_of_what_a_bucket_costs(inputs: dict[str, object], said: str) -> None:
    (item,) = items(Seen("gcp:storage/bucket:Bucket", inputs))

    assert isinstance(item, ByUse)
    assert item.what.endswith(said)


def test_what_is_neither_priced_nor_free_is_named() -> None:
    (item,) = items(Seen("gcp:redis/instance:Instance"))

    assert isinstance(item, Charge)
    assert (item.what, item.price) == ("gcp:redis/instance:Instance", None)
    assert items(Seen("gcp:compute/network:Network")) == []


def test_the_control_plane_has_a_price() -> None:
    (item,) = items(Seen("gcp:container/cluster:Cluster"))

    assert isinstance(item, Charge)
    assert item.price is not None
    assert item.price.usd_per_hour == 0.1
