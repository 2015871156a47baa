"""What full pools need of each limit."""

from tests.unit.settings.gcp.test_settings import load, pool, t4


def needed(**settings: object) -> dict[str, int]:
    env = load(**settings)
    return {one.name: one.needed for one in env.provider.quotas(env)}


def test_spot_and_on_demand_count_apart_and_gpus_count_in_the_world_too() -> None:
    found = needed(pools=[t4(name="a", maxNodes=4), t4(name="b", capacity="on-demand", maxNodes=2, count=2)])

    assert found == {
        "CPUS": 8 + 2 * 8,
        "GPUS_ALL_REGIONS": 4 + 2 * 2,
        "NVIDIA_T4_GPUS": 2 * 2,
        "PREEMPTIBLE_CPUS": 4 * 8,
        "PREEMPTIBLE_NVIDIA_T4_GPUS": 4,
        "SSD_TOTAL_GB": 100 + 6 * 200,
    }


def test_pools_of_one_family_add_up() -> None:
    found = needed(pools=[pool(name=name, machine="n2-standard-8", capacity="on-demand") for name in ("a", "b")])

    assert found["N2_CPUS"] == 2 * 4 * 8


def test_what_has_no_quota_that_is_known_is_left_out() -> None:
    found = needed(pools=[pool(machine="a3-highgpu-8g", capacity="on-demand")])

    assert set(found) == {"CPUS", "GPUS_ALL_REGIONS", "SSD_TOTAL_GB"}


def test_a_limit_says_whether_it_counts_spot_or_on_demand() -> None:
    env = load(pools=[t4(name="a", maxNodes=4), t4(name="b", capacity="on-demand", maxNodes=2)])

    assert {one.name: one.capacity for one in env.provider.quotas(env)} == {
        "CPUS": "on-demand",
        "GPUS_ALL_REGIONS": None,
        "NVIDIA_T4_GPUS": "on-demand",
        "PREEMPTIBLE_CPUS": "spot",
        "PREEMPTIBLE_NVIDIA_T4_GPUS": "spot",
        "SSD_TOTAL_GB": None,
    }


def test_gpus_of_all_regions_are_counted_globally() -> None:
    env = load(pools=[pool()])

    assert {one.name: one.where for one in env.provider.quotas(env)}["GPUS_ALL_REGIONS"] == "global"
