"""The policy pack says under the real engine what it says in our preview."""

from collections.abc import Callable, Iterable
from typing import Any

import pulumi
import pytest
from pulumi.automation.events import PolicyEvent

from spotproof.preview.model import NOTE
from spotproof_policies.registry import POLICIES
from tests.engine.driver import Engine, our_program
from tests.stacks.runs import ROOT, preview_settings, settings_of

Said = tuple[str, str, str, str]
"""Policy, level, resource, sentence."""

NOTES = {
    ("aws-dev", "checkpoint-versions-expire"),
    ("aws-dev", "live-checkpoints-are-kept"),
    ("gcp-dev", "one-gpu-plugin"),
}
"""Notes that the engine has and our preview has not, in one mode: a policy over the whole stack sees what the provider
answers, where `nodeConfig.guestAccelerators` of a pool without any is unknown, and so are the parts that a rule for the
objects of a bucket does not have; ours sees what was written. Our preview judges it, the engine's judges it at `up`."""

DESCRIPTIONS = {policy.name: policy.description for policy in POLICIES}


def with_mistakes() -> None:
    """Our program, whose pools and policies somebody changed on their way to the engine."""

    def spoilt(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        spec: Any = args.props.get("spec")
        if args.type_.endswith(":FallbackPolicy"):
            return changed(args, spec={**spec, "tiers": [{**spec["tiers"][0], "maxFailures": -1}]})
        if args.type_.endswith(":NodePool") and "t4-spot" in args.name:
            template = {**spec["template"], "spec": {**spec["template"]["spec"], "taints": []}}
            return changed(args, spec={**spec, "template": template})
        return None

    def changed(args: pulumi.ResourceTransformArgs, **props: Any) -> pulumi.ResourceTransformResult:
        return pulumi.ResourceTransformResult(props={**args.props, **props}, opts=args.opts)

    pulumi.runtime.register_resource_transform(spoilt)
    our_program()


@pytest.mark.parametrize(
    ("stack", "program"),
    [
        ("aws-dev", with_mistakes),
        *((stack, our_program) for stack in ("aws-dev", "azure-dev", "gcp-dev", "kind-dev")),
    ],
)
def test_the_engine_hears_from_the_pack_what_our_preview_hears(
    engine: Engine, stack: str, program: Callable[[], None]
) -> None:
    name = f"judged-{stack}-{program.__name__.replace('_', '-')}"
    ours = preview_settings(settings_of(stack), name, program=program, modes=("unknown",))

    run = engine.stack(name, settings_of(stack), program).preview(policy_packs=[ROOT / "policies"])

    heard = said_to_engine(run.policies)
    mandatory = {one for one in heard if one[1] == "mandatory"}
    notes = {one for one in heard if (stack, one[0]) in NOTES and "can't run policy" in one[3]}
    assert {one[0] for one in notes} == {policy for of, policy in NOTES if of == stack}
    assert heard - notes == {(one.policy, level(one.level), one.urn, one.message) for one in ours.policies}
    assert bool(run.error) == bool(mandatory) == (program is with_mistakes)


def said_to_engine(events: Iterable[PolicyEvent]) -> set[Said]:
    return {
        (one.policy_name, one.enforcement_level, one.resource_urn or "", sentence(one.policy_name, one.message))
        for one in events
    }


def sentence(policy: str, message: str) -> str:
    """The engine shows a policy's description above what it says."""
    return message.removeprefix(f"{DESCRIPTIONS[policy]}\n").strip()


def level(ours: str) -> str:
    return "advisory" if ours == NOTE else ours
