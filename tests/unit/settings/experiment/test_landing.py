"""Where a role lands, of all the pools it could."""

from spotproof.settings import Environment
from tests.unit.settings.experiment.experiments import experiment, gpu, load, role, stack


def landed(raw: object, env: Environment | None = None) -> dict[str, list[str]]:
    return {each.part.name: [pool.name for pool in each.pools] for each in load(raw, env).landed}


def test_a_product_chooses_the_on_demand_pool() -> None:
    prod = stack("aws-prod")
    assert landed(experiment(gpu(product="NVIDIA-H100-80GB-HBM3")), prod) == {"worker": ["h100"]}
    assert landed(experiment(gpu(product="A100")), prod) == {"worker": ["a100"]}


def test_a_policy_is_all_of_its_tiers_in_order() -> None:
    assert landed(experiment(gpu(), fallbackPolicy="a100"), stack("aws-prod")) == {
        "worker": ["a100-spot-a", "a100-spot-b", "a100-spot-c", "a100"]
    }


def test_a_roles_own_pool_wins_and_the_others_move() -> None:
    raw = experiment(types={"Worker": gpu(), "Loader": role(pool="cpu")}, fallbackPolicy="standard")
    assert landed(raw) == {"worker": ["t4-spot", "t4"], "loader": ["cpu"]}


def test_a_zone_that_every_tier_has_is_kept() -> None:
    zone = {"topology.kubernetes.io/zone": "us-west-2a"}
    part = load(experiment(gpu() | {"extraSelectors": zone}, fallbackPolicy="standard")).landed[0].part
    assert part.other_selectors == zone
