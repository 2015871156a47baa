"""The policies watch the stacks we ship: nothing is refused, and one thing taken away from them is noticed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

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

ROOT = Path(__file__).resolve().parents[2]
PROJECT = load_project(ROOT)
AWS_STACKS = sorted(name for name in PROJECT.stack_files if name.startswith("aws-"))

Mutation = Callable[[Resource], Resource | None]


@cache
def resources(stack: str) -> tuple[Resource, ...]:
    return capture(PROJECT.program, PROJECT.target(stack), "unknown").resources


def broken(policies: tuple[Policy, ...], captured: list[Resource]) -> set[str]:
    found = run_policies(captured, project=PROJECT.name, stack="test", policies=policies)
    return {one.policy for one in found if one.level != NOTE}


def without(token: str) -> Mutation:
    """The stack without every resource whose type ends so."""
    return lambda resource: None if resource.type.endswith(token) else resource


def changed(token: str, change: Callable[[Any], Any]) -> Mutation:
    """The inputs of every resource whose type ends so, changed."""
    return lambda one: replace(one, inputs=change(dict(one.inputs))) if one.type.endswith(token) else one


def key_removed(token: str, key: str) -> Mutation:
    def removed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: removed(item) for name, item in value.items() if name != key}
        return [removed(item) for item in value] if isinstance(value, list) else value

    return changed(token, removed)


def text_replaced(token: str, old: str, new: str) -> Mutation:
    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: replaced(item) for name, item in value.items()}
        if isinstance(value, list):
            return [replaced(item) for item in value]
        return value.replace(old, new) if isinstance(value, str) else value

    return changed(token, replaced)


def options(**options: Any) -> Mutation:
    return lambda resource: replace(resource, **options)


def spot_forever(inputs: Any) -> Any:
    spec = inputs["spec"]
    return {**inputs, "spec": {**spec, "tiers": [{**spec["tiers"][0], "maxFailures": -1}]}}


def first_tier_larger(inputs: Any) -> Any:
    first, *rest = inputs["spec"]["tiers"]
    first = {**first, "accelerator": {"type": "another", "count": 1}}
    return {**inputs, "spec": {**inputs["spec"], "tiers": [first, *rest]}}


def spec_with(**fields: Any) -> Callable[[Any], Any]:
    return lambda inputs: {**inputs, "spec": {**inputs["spec"], **fields}}


MUTATIONS: dict[str, Mutation] = {
    "spot-pools-are-tainted": key_removed(":NodePool", "taints"),
    "pools-are-labelled": key_removed(":NodePool", "spotproof.dev/capacity"),
    "pools-are-limited": key_removed(":NodePool", "limits"),
    "training-pools-are-left-alone": key_removed(":NodePool", "expireAfter"),
    "spot-price-cap-is-kept": changed(":NodePool", spec_with(spotMaxPrice="12.50")),
    "fallback-ends-on-on-demand": changed(":FallbackPolicy", spec_with(tiers=[])),
    "fallback-waits-for-spot": changed(":FallbackPolicy", spot_forever),
    "tiers-wait-long-enough": key_removed(":FallbackPolicy", "pendingTimeout"),
    "tiers-are-interchangeable": changed(":FallbackPolicy", first_tier_larger),
    "node-images-are-pinned": key_removed(":EC2NodeClass", "amiSelectorTerms"),
    "node-disks-hold-images": key_removed(":EC2NodeClass", "blockDeviceMappings"),
    "node-metadata-is-guarded": changed(":EC2NodeClass", spec_with(metadataOptions={"httpTokens": "optional"})),
    "node-classes-have-time-to-go": options(custom_timeouts={}),
    "node-classes-outlive-their-nodes": options(dependencies=(), property_dependencies={}),
    "one-gpu-plugin": text_replaced(":Release", "nvidia-device-plugin", "another"),
    "operators-on-on-demand-nodes": key_removed(":Release", "nodeSelector"),
    "karpenter-interruptions-are-heard": key_removed(":Release", "interruptionQueue"),
    "interruption-rules-are-complete": text_replaced(":EventRule", "Capacity Reservation", ""),
    "interruption-queue-admits-events": text_replaced(":QueuePolicy", "events.amazonaws.com", "sns.amazonaws.com"),
    "karpenter-nodes-have-their-own-role": text_replaced(":AccessEntry", "EC2_LINUX", "STANDARD"),
    "spot-service-linked-role-exists": without(":SpotServiceLinkedRole"),
    "spot-service-linked-role-is-kept": text_replaced(":SpotServiceLinkedRole", "existing", "sometimes"),
    "iam-names-its-actions": text_replaced("policy:Policy", "sqs:ReceiveMessage", "sqs:*"),
    "iam-names-its-resources": text_replaced("policy:Policy", "ec2:DescribeImages", "ec2:TerminateInstances"),
    "roles-are-not-administrators": changed(
        ":RolePolicyAttachment", lambda inputs: {**inputs, "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}
    ),
    "checkpoint-buckets-are-private": without(":BucketPublicAccessBlock"),
    "checkpoint-buckets-are-encrypted": without(":BucketServerSideEncryptionConfiguration"),
    "checkpoint-buckets-refuse-plain-http": text_replaced(":BucketPolicy", "aws:SecureTransport", "aws:Other"),
    "checkpoint-buckets-are-versioned": without(":BucketVersioning"),
    "checkpoint-buckets-are-protected": options(protect=False),
    "kubernetes-providers-have-an-identifier": key_removed("pulumi:providers:kubernetes", "clusterIdentifier"),
}
"""What breaks one policy each on a real stack. A policy without a line here might judge shapes that nobody makes."""


@pytest.mark.parametrize("stack", AWS_STACKS)
def test_no_stack_of_ours_is_refused_or_left_unjudged(stack: str) -> None:
    found = run_policies(resources(stack), project=PROJECT.name, stack=stack)

    assert [one for one in found if one.level != "advisory"] == []


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_one_thing_broken_in_a_real_stack_is_noticed(policy: Policy) -> None:
    real = resources("aws-prod")

    assert broken((policy,), [*real]) == set()
    mutated = [one for one in map(MUTATIONS[policy.name], real) if one is not None]
    assert broken((policy,), mutated) == {policy.name}


def test_the_short_cuts_of_the_runner_change_nothing() -> None:
    mutations = [MUTATIONS[name] for name in ("pools-are-labelled", "node-classes-have-time-to-go", "one-gpu-plugin")]
    broken_stack = [*resources("aws-prod")]
    for mutate in (*mutations, MUTATIONS["checkpoint-buckets-are-private"]):
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


def test_every_policy_is_broken_once() -> None:
    assert sorted(MUTATIONS) == sorted(policy.name for policy in POLICIES)
