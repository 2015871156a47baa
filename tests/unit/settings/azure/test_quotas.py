"""What full pools count against: spot in one limit of the region, on-demand in the region's and its family's."""

import pytest

from spotproof.settings import load_environment
from spotproof.settings.azure.quotas import family
from tests.unit.settings.azure.samples import CLASSIC, FULL, TODAY, environment, pool


def needed(**changes: object) -> dict[str, int]:
    env = environment(**changes)
    return {quota.name: quota.needed for quota in env.provider.quotas(env)}


def test_spot_counts_in_one_limit_and_on_demand_in_two() -> None:
    both = [
        pool("a-spot", capacity="spot", instanceTypes=["Standard_NC24ads_A100_v4"], maxNodes=10),
        pool("a", instanceTypes=["Standard_NC24ads_A100_v4"], maxNodes=2),
    ]

    assert needed(pools=both) == {
        "Standard DDSv5 Family vCPUs": 8,
        "Standard NCADS_A100_v4 Family vCPUs": 48,
        "Total Regional Low-priority vCPUs": 240,
        "Total Regional vCPUs": 56,
    }


def test_a_pool_of_several_sizes_counts_at_its_largest_once_in_the_region_and_in_every_family() -> None:
    sizes = ["Standard_D8s_v5", "Standard_D16s_v5", "Standard_E4s_v5"]

    assert needed(pools=[pool(instanceTypes=sizes, maxNodes=10)]) == {
        "Standard DDSv5 Family vCPUs": 8,
        "Standard DSv5 Family vCPUs": 160,
        "Standard ESv5 Family vCPUs": 40,
        "Total Regional vCPUs": 168,
    }


def test_a_size_whose_cpus_nobody_knows_counts_nowhere() -> None:
    assert set(needed(pools=[pool(instanceTypes=["Standard_D11_v2"])]).values()) == {8}


def test_a_limit_says_which_capacity_counts_in_it() -> None:
    env = environment(pools=[pool("a-spot", capacity="spot", maxNodes=3), pool("a", maxNodes=2)])

    assert [str(quota) for quota in env.provider.quotas(env)] == [
        "this stack can use up to 8 on-demand vCPUs: Standard DDSv5 Family vCPUs, eastus",
        "this stack can use up to 16 on-demand vCPUs: Standard DSv5 Family vCPUs, eastus",
        "this stack can use up to 24 spot vCPUs: Total Regional Low-priority vCPUs, eastus",
        "this stack can use up to 24 on-demand vCPUs: Total Regional vCPUs, eastus",
    ]


def test_a_kind_of_pool_changes_nothing_and_limits_say_where_they_count() -> None:
    one, other = (load_environment(raw, today=TODAY) for raw in (FULL, CLASSIC))

    assert list(one.provider.quotas(one)) == list(other.provider.quotas(other))
    assert {(quota.unit, quota.where) for quota in one.provider.quotas(one)} == {("vCPUs", "eastus")}


@pytest.mark.parametrize(
    ("size", "name"),
    [
        ("Standard_NC4as_T4_v3", "Standard NCASv3_T4 Family vCPUs"),
        ("Standard_ND96isr_H100_v5", "Standard NDSH100v5 Family vCPUs"),
        ("Standard_D8ds_v5", "Standard DDSv5 Family vCPUs"),
        ("Standard_D8as_v4", "Standard DASv4 Family vCPUs"),
        ("Standard_F8s_v2", "Standard FSv2 Family vCPUs"),
    ],
)
def test_the_family_of_a_size(size: str, name: str) -> None:
    assert family(size) == name
