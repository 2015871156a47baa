"""What full pools use up of EC2's limits: vCPUs by class of instance, spot and on-demand apart."""

from datetime import date

from spotproof.settings import load_environment
from spotproof.settings.machines import Quota

STANDARD = "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"


def quotas(*pools: dict[str, object]) -> list[Quota]:
    provider = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}
    env = load_environment({"provider": provider, "pools": list(pools)}, today=date(2026, 11, 20))
    return list(env.provider.quotas(env))


def pool(name: str, capacity: str, types: list[str], nodes: int) -> dict[str, object]:
    return {"name": name, "capacity": capacity, "instanceTypes": types, "maxNodes": nodes}


def test_a_pool_needs_its_largest_type_times_its_limit() -> None:
    found = quotas(pool("l4", "spot", ["g6.xlarge", "g6.4xlarge"], 20))

    assert found == [
        Quota("All G and VT Spot Instance Requests", 320, "vCPUs", "us-west-2", "spot"),
        Quota(STANDARD, 4, "vCPUs", "us-west-2", "on-demand"),
    ]


def test_pools_of_one_class_add_up_and_spot_counts_apart() -> None:
    found = quotas(
        pool("a", "on-demand", ["m7i.2xlarge"], 2),
        pool("b", "on-demand", ["c7i.2xlarge"], 1),
        pool("c", "spot", ["m7i.2xlarge"], 3),
    )

    assert {(one.capacity, one.needed) for one in found} == {("on-demand", 4 + 24), ("spot", 24)}


def test_a_quota_is_told_in_one_line() -> None:
    assert str(quotas(pool("l4", "spot", ["g6.4xlarge"], 100))[0]) == (
        "this stack can use up to 1,600 spot vCPUs: All G and VT Spot Instance Requests, us-west-2"
    )
    assert str(Quota("SSD_TOTAL_GB", 200, "GB", "us-central1")) == (
        "this stack can use up to 200 GB: SSD_TOTAL_GB, us-central1"
    )
