"""The policies watch the stacks we ship: nothing is refused, and one thing taken away from them is noticed."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pulumi.runtime.proto import analyzer_pb2 as wire

from spotproof.preview import policy_run
from spotproof.preview.model import NOTE, Resource
from spotproof.preview.policy_config import resolve
from spotproof.preview.policy_run import run_policies
from spotproof.preview.project import load_project
from spotproof.preview.run import capture
from spotproof_policies.model import Policy
from spotproof_policies.registry import POLICIES
from tests.policies.mutations import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = load_project(ROOT)


@cache
def resources(stack: str) -> tuple[Resource, ...]:
    return capture(PROJECT.program, PROJECT.target(stack), "unknown").resources


def broken(policies: tuple[Policy, ...], captured: list[Resource]) -> set[str]:
    found = run_policies(captured, project=PROJECT.name, stack="test", policies=policies)
    return {one.policy for one in found if one.level != NOTE}


@pytest.mark.parametrize("stack", sorted(PROJECT.stack_files))
def test_no_stack_of_ours_is_refused_or_left_unjudged(stack: str) -> None:
    found = run_policies(resources(stack), project=PROJECT.name, stack=stack)

    assert [one for one in found if one.level != "advisory"] == []


@pytest.mark.parametrize(("cloud", "name"), [(cloud, name) for cloud in MUTATIONS for name in MUTATIONS[cloud]])
def test_one_thing_broken_in_a_real_stack_is_noticed(cloud: str, name: str) -> None:
    stacks = [stack for stack in sorted(PROJECT.stack_files) if stack.startswith(f"{cloud}-")]
    if not stacks:
        pytest.skip(f"no stack file begins with {cloud}-")
    policy = next(one for one in POLICIES if one.name == name)
    noticed: set[str] = set()
    for stack in stacks:
        real = resources(stack)
        assert broken((policy,), [*real]) == set()
        mutated = [one for one in map(MUTATIONS[cloud][name], real) if one is not None]
        noticed |= broken((policy,), mutated)
    assert noticed == {name}


def test_the_short_cuts_of_the_runner_change_nothing() -> None:
    names = "pools-are-labelled", "node-classes-have-time-to-go", "one-gpu-plugin", "checkpoint-buckets-are-private"
    broken_stack = [*resources("aws-prod")]
    for mutate in (MUTATIONS["aws"][name] for name in names):
        broken_stack = [one for one in map(mutate, broken_stack) if one is not None]

    found = run_policies(broken_stack, project=PROJECT.name, stack="aws-prod")

    assert len({one.policy for one in found}) >= 4
    assert sorted((one.policy, one.urn, one.message) for one in found) == sorted(_as_the_engine_asks(broken_stack))


def _as_the_engine_asks(captured: list[Resource]) -> Iterator[tuple[str, str, str]]:
    """Every resource to every policy of one servicer, then all of them whole."""
    servicer = policy_run._servicer(POLICIES, resolve(POLICIES, None))  # pyright: ignore[reportPrivateUsage]
    providers = policy_run._Providers(captured)  # pyright: ignore[reportPrivateUsage]
    for resource in captured:
        request = policy_run._request(resource, providers)  # pyright: ignore[reportPrivateUsage]
        for one in servicer.Analyze(request, None).diagnostics:
            yield one.policyName, resource.urn, one.message.partition("\n")[2]
    whole = [policy_run._whole(resource) for resource in captured]  # pyright: ignore[reportPrivateUsage]
    for one in servicer.AnalyzeStack(wire.AnalyzeStackRequest(resources=whole), None).diagnostics:
        yield one.policyName, one.urn, one.message.partition("\n")[2]


def test_every_policy_is_broken_somewhere() -> None:
    names = {name for table in MUTATIONS.values() for name in table}
    assert names == {policy.name for policy in POLICIES}
