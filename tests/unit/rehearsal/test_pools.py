"""A stack's pools as the local Karpenter makes them."""

from datetime import date
from typing import Any

import pytest

from spotproof.prices import load_prices
from spotproof.rehearsal.pools import RehearsedPools, rehearsed
from spotproof.settings import Environment, load_stack, read_stack_file
from tests.conftest import ROOT

STACKS = sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))


def environment(stack: str) -> Environment:
    return load_stack(read_stack_file(ROOT / "stacks" / f"Pulumi.{stack}.yaml"), today=date(2026, 11, 1), source=stack)


def pools(stack: str) -> RehearsedPools:
    return rehearsed(environment(stack), load_prices())


def node_pools(stack: str) -> dict[str, Any]:
    objects: tuple[Any, ...] = pools(stack).objects
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == "NodePool"}


@pytest.mark.parametrize("stack", STACKS)
def test_every_pool_is_a_node_pool_whose_types_the_provider_knows(stack: str) -> None:
    made, known = node_pools(stack), {each["name"]: each for each in pools(stack).instance_types}
    assert list(made) == [pool.name for pool in environment(stack).pools]
    for pool in environment(stack).pools:
        spec = made[pool.name]["spec"]["template"]["spec"]
        wanted = {each["key"]: each["values"] for each in spec["requirements"]}
        gpus = str(pool.accelerator.count) if pool.accelerator else None
        for name in wanted["node.kubernetes.io/instance-type"]:
            assert known[name]["resources"].get("nvidia.com/gpu") == gpus
        assert wanted["karpenter.sh/capacity-type"] == [pool.capacity]


@pytest.mark.parametrize("stack", STACKS)
def test_every_type_is_offered_in_both_capacities_in_every_zone_of_its_pools(stack: str) -> None:
    for each in pools(stack).instance_types:
        offered = [tuple(value["values"][0] for value in one["Requirements"]) for one in each["offerings"]]
        assert len(set(offered)) == len(offered)
        assert {capacity for capacity, _ in offered} == {"spot", "on-demand"}
        assert all(one["Price"] > 0 for one in each["offerings"])


def test_nodes_carry_what_their_cloud_writes_about_capacity() -> None:
    labels = node_pools("gcp-prod")["a100-spot-a"]["spec"]["template"]["metadata"]["labels"]
    assert (labels["cloud.google.com/gke-spot"], labels["spotproof.dev/pool"]) == ("true", "a100-spot-a")
    taints = node_pools("azure-dev")["t4-spot"]["spec"]["template"]["spec"]["taints"]
    assert taints[0]["key"] == "kubernetes.azure.com/scalesetpriority"


def test_a_machine_with_and_without_attached_accelerators_is_two_types() -> None:
    env = environment("gcp-dev")
    bare = env.pools[0].model_copy(update={"name": "bare", "accelerator": None})
    both = rehearsed(env.model_copy(update={"pools": (env.pools[0], bare)}), load_prices())
    assert [each["name"] for each in both.instance_types] == ["n1-standard-8.t4-spot", "n1-standard-8"]


def test_nodes_that_somebody_else_made_have_a_zone_and_a_size_all_the_same() -> None:
    first = pools("kind-dev").instance_types[0]
    assert first["name"] == "cpu-spot"
    assert first["resources"]["cpu"] == "64"
