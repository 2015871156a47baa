"""What an environment counts against in an account."""

import pytest

from spotproof.settings.machines import Quota
from tests.unit.manifests.samples import environment


def pool(name: str, capacity: str, *types: str, nodes: int = 4) -> dict[str, object]:
    return {"name": name, "capacity": capacity, "instanceTypes": list(types), "maxNodes": nodes}


def quotas(*pools: dict[str, object]) -> dict[str, int]:
    env = environment(pools=list(pools))
    return {quota.name: quota.needed for quota in env.provider.quotas(env)}


CLASSES = [
    ("p4d.24xlarge", "All P4, P3 and P2 Spot Instance Requests", 96),
    ("p5.48xlarge", "All P5 Spot Instance Requests", 192),
    ("g6.xlarge", "All G and VT Spot Instance Requests", 4),
    ("gr6.4xlarge", "All G and VT Spot Instance Requests", 16),
    ("m7i.2xlarge", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 8),
    ("im4gn.xlarge", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 4),
]


@pytest.mark.parametrize(("instance_type", "name", "vcpus"), CLASSES)
def test_a_spot_pool_counts_its_vcpus_against_the_quota_of_its_class(instance_type: str, name: str, vcpus: int) -> None:
    assert quotas(pool("a", "spot", instance_type))[name] == 4 * vcpus


def test_a_pool_of_several_sizes_counts_with_its_largest() -> None:
    assert quotas(pool("a", "spot", "g6.xlarge", "g6.4xlarge"))["All G and VT Spot Instance Requests"] == 64


def test_pools_of_one_class_add_up_and_capacities_are_apart() -> None:
    found = quotas(
        pool("a", "spot", "p3.2xlarge"), pool("b", "spot", "p4d.24xlarge"), pool("c", "on-demand", "p5.48xlarge")
    )

    assert found["All P4, P3 and P2 Spot Instance Requests"] == 4 * (8 + 96)
    assert found["Running On-Demand P instances"] == 4 * 192


def test_the_nodes_of_the_operators_are_counted() -> None:
    env = environment(pools=[pool("a", "on-demand", "m7i.2xlarge", nodes=1)])

    assert list(env.provider.quotas(env)) == [
        Quota("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 12, "vCPUs", "us-west-2", "on-demand")
    ]


def test_a_quota_is_told_in_one_line() -> None:
    spot = Quota("All G and VT Spot Instance Requests", 1600, "vCPUs", "us-west-2", "spot")

    assert str(spot) == "this stack can use up to 1,600 spot vCPUs: All G and VT Spot Instance Requests, us-west-2"
    assert str(Quota("SSD_TOTAL_GB", 200, "GB", "us-central1")) == (
        "this stack can use up to 200 GB: SSD_TOTAL_GB, us-central1"
    )
