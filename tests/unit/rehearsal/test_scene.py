"""What is set up for every stack there is, and for those that have less."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from spotproof.clouds.registry import checkpoint_store
from spotproof.prices import load_prices
from spotproof.rehearsal.default_job import NothingToTake, default_case
from spotproof.rehearsal.haste import hastened
from spotproof.rehearsal.scene import SPARE, Scene, scene
from spotproof.settings import Environment, clock, load_stack, read_stack_file, read_yaml
from spotproof.settings.experiment.load import load_experiment
from spotproof.settings.experiment.room import likely, pods_of_the_best_node

ROOT = Path(__file__).resolve().parents[3]
STACKS = {file.name.split(".")[1]: file for file in sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))}


def environment(stack: str, **changes: Any) -> Environment:
    config: dict[str, Any] = read_stack_file(STACKS[stack])
    key = "spotproof:environment"
    return load_stack({**config, key: {**config[key], **changes}}, today=clock.today(), source=stack)


def made(stack: str, env: Environment | None = None, *, controller: bool = False) -> Scene:
    env = env or environment(stack)
    home, store = next(iter(env.workspaces), SPARE), checkpoint_store(stack, env)
    return scene(stack, default_case(env), home, store, load_prices(None), controller=controller)


def kinds(found: Scene) -> list[str]:
    return [str(each["kind"]) for each in found.objects]


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_has_a_job_on_the_first_tier_of_its_first_policy(stack: str) -> None:
    env, found = environment(stack), made(stack)

    assert [pool.name for pool in found.starts_on] == [env.fallback_policies[0].tiers[0].pool]
    assert found.policy is not None
    assert found.policy.name == env.fallback_policies[0].name
    assert [each["kind"] for each in found.kinds] == ["CustomResourceDefinition"]
    assert kinds(found).count("FallbackPolicy") == len(env.fallback_policies)
    assert kinds(found).count("Namespace") == len(env.workspaces)
    assert "MutatingAdmissionPolicy" in kinds(found)


@pytest.mark.parametrize("stack", [name for name in STACKS if name != "kind-dev"])
def test_two_pods_have_a_node_each_on_the_machines_of_the_pool(stack: str) -> None:
    env = environment(stack)
    case = default_case(env)
    (landed,) = case.landed

    assert landed.part.role.count == 2
    assert pods_of_the_best_node(env, landed.part, landed.pool, likely) == 1
    gpus = landed.part.gpu.count if landed.part.gpu else 0
    assert gpus == (landed.pool.accelerator.count if landed.pool.accelerator else 0)


def test_a_claim_that_a_job_mounts_is_there_with_a_volume_bound_to_it() -> None:
    found = {str(each["kind"]): each for each in made("kind-dev").objects}
    volume: Any = found["PersistentVolume"]["spec"]
    claim: Any = found["PersistentVolumeClaim"]

    assert volume["claimRef"] == {"name": "checkpoints", "namespace": "research"}
    assert claim["spec"]["volumeName"] == found["PersistentVolume"]["metadata"]["name"]  # pyright: ignore[reportIndexIssue]
    assert "PersistentVolumeClaim" not in kinds(made("aws-dev"))


def test_without_policies_the_job_is_on_the_first_spot_pool() -> None:
    found = made("aws-dev", environment("aws-dev", fallbackPolicies=[]))

    assert found.policy is None
    assert [pool.name for pool in found.starts_on] == ["t4-spot"]


def test_a_stack_without_workspaces_gets_one_of_its_own() -> None:
    found = made("aws-dev", environment("aws-dev", workspaces=[]))

    assert found.job["metadata"]["namespace"] == "rehearsal"
    assert kinds(found).count("Namespace") == 1


def test_a_stack_without_jobset_has_a_ray_job_with_its_head_on_demand() -> None:
    found = made("aws-dev", environment("aws-dev", operators={"jobset": {"mode": "off"}}))

    assert found.needs_ray
    assert [(pool.name, pool.capacity) for pool in found.starts_on] == [("cpu", "on-demand"), ("t4-spot", "spot")]


def test_without_spot_there_is_nothing_to_take_away() -> None:
    pools = [{"name": "cpu", "capacity": "on-demand", "instanceTypes": ["m7i.2xlarge"], "maxNodes": 2}]
    env = environment("aws-dev", pools=pools, fallbackPolicies=[])

    with pytest.raises(NothingToTake, match="no spot pool, so there is nothing to take away"):
        default_case(env)


def test_an_experiment_that_stays_on_demand_is_refused_before_anything_starts() -> None:
    env = environment("aws-dev")
    raw: Any = read_yaml(ROOT / "examples" / "experiments" / "jobset.yaml")
    raw["spec"] = {key: each for key, each in raw["spec"].items() if key != "fallbackPolicy"}
    case = load_experiment(raw, env, stem="x")

    with pytest.raises(NothingToTake, match="starts on t4, which is on-demand"):
        scene("aws-dev", case, env.workspaces[0], checkpoint_store("aws-dev", env), load_prices(None))


def test_a_control_plane_before_1_36_is_not_given_the_policies_it_has_no_kind_for() -> None:
    found = made("aws-dev")

    assert found.on("v1.36.3") is found
    assert "MutatingAdmissionPolicy" not in kinds(found.on("v1.35.4"))
    assert len(found.on("v1.35.4").objects) < len(found.objects)


def test_with_the_controller_its_kind_and_its_rights_are_there_and_policies_have_the_times_of_a_rehearsal() -> None:
    without, found = made("aws-dev"), made("aws-dev", controller=True)

    crds: Any = found.kinds
    assert [each["metadata"]["name"] for each in crds] == [
        "fallbackpolicies.spotproof.dev",
        "trainingruns.spotproof.dev",
    ]
    assert kinds(found).count("Role") == kinds(without).count("Role") + 1
    (policy,) = (each for each in found.objects if each["kind"] == "FallbackPolicy")
    spec: Any = policy["spec"]
    assert [tier["pendingTimeout"] for tier in spec["tiers"]] == ["20s", "1h"]
    assert [tier["maxFailures"] for tier in spec["tiers"]] == [10, -1]
    assert (spec["return"]["minStay"], spec["probe"]["every"]) == ("10s", "5s")
    assert found.policy == without.policy
    assert found.policy is not None
    assert found.policy.tiers[0].pending_timeout == timedelta(hours=1)
    assert [pool.name for pool in found.fallbacks] == ["t4"]
    assert found.returns


def test_a_time_that_is_shorter_already_stays() -> None:
    policy = made("aws-dev").policy
    assert policy is not None
    first, last = policy.tiers
    short = first.model_copy(update={"pending_timeout": timedelta(seconds=3)})
    found = hastened(policy.model_copy(update={"tiers": (short, last), "return_": None}))
    assert (found.tiers[0].pending_timeout, found.return_) == (timedelta(seconds=3), None)
