"""The policies run on captured resources as Pulumi's engine would run them."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from spotproof.preview.model import NOTE, UNKNOWN, Asset, Reference, Resource, Secret
from spotproof.preview.policy_config import PolicyConfigError
from spotproof.preview.policy_run import run_policies
from spotproof_policies.model import Config, EachResource, Finding, Policy, Stack, WholeStack
from spotproof_policies.model import Resource as Judged

THING = "test:index:Thing"


def thing(name: str = "thing", **options: Any) -> Resource:
    written: dict[str, Any] = {"type": THING, "custom": True, "parent": "", "provider": "", "inputs": {}, **options}
    return Resource(urn=f"urn:pulumi:dev::p::{written['type']}::{name}", name=name, **written)


def names(resource: Judged, _config: Config) -> Iterator[str]:
    yield f"{resource.name} is wrong."


def bounded(_resource: Judged, config: Config) -> Iterator[str]:
    yield f"most is {config['most']}"


def policy(judges: EachResource | WholeStack, name: str = "a-rule", **fields: Any) -> Policy:
    return Policy(
        name=name,
        description="The rule holds.",
        level=fields.pop("level", "mandatory"),
        severity="high",
        remedy="Do it.",
        url="https://example.org",
        judges=judges,
        **fields,
    )


def run(resources: list[Resource], *policies: Policy, config: dict[str, object] | None = None) -> list[Any]:
    return run_policies(resources, project="p", stack="dev", config=config, policies=policies)


def seen(resource: Resource, *others: Resource) -> Judged:
    """What a policy over single resources is given for it."""
    found: list[Judged] = []

    def check(judged: Judged, _config: object) -> Any:
        found.append(judged)
        yield from ()

    run([resource, *others], policy(EachResource((THING,), check)))
    return found[0]


def stack_seen(*resources: Resource) -> Stack:
    """What a policy over the stack is given."""
    found: list[Stack] = []

    def check(stack: Stack, _config: object) -> Any:
        found.append(stack)
        yield from ()

    run([*resources], policy(WholeStack((THING,), check)))
    return found[0]


def test_a_violation_carries_all_that_a_report_needs() -> None:
    rule = policy(EachResource((THING,), names))

    found = run([thing("b"), thing("a")], rule)

    assert [(one.policy, one.level, one.severity, one.message, one.remedy) for one in found] == [
        ("a-rule", "mandatory", "high", "a is wrong.", "Do it."),
        ("a-rule", "mandatory", "high", "b is wrong.", "Do it."),
    ]
    assert found[0].urn == thing("a").urn


def test_an_unknown_value_gives_a_note_and_keeps_what_was_found_before() -> None:
    def check(resource: Judged, _config: object) -> Any:
        yield "Found first."
        yield str(resource.props["size"])

    found = run([thing(inputs={"size": UNKNOWN})], policy(EachResource((THING,), check)))

    assert [(one.level, one.message) for one in found] == [
        ("mandatory", "Found first."),
        (NOTE, "Not judged before the update: string value at .size can't be known."),
    ]
    assert found[1].urn == thing().urn


def test_an_advisory_violation_is_no_note() -> None:
    rule = policy(EachResource((THING,), names), level="advisory")

    assert [one.level for one in run([thing()], rule)] == ["advisory"]


def test_a_policy_sees_secrets_opened_and_wire_values_as_the_engine_sends_them() -> None:
    judged = seen(
        thing(
            inputs={
                "opened": Secret("x"),
                "component": Reference("urn:c"),
                "resource": Reference("urn:r", "id-1"),
                "asset": Asset("asset", {"text": "hello"}),
                "count": 3,
                "nothing": None,
                "list": [Secret({"deep": True})],
            }
        )
    )

    assert judged.props["opened"] == "x"
    assert (judged.props["component"], judged.props["resource"]) == ("urn:c", "id-1")
    assert judged.props["asset"]["text"] == "hello"
    assert judged.props["count"] == 3.0
    assert judged.props["nothing"] is None
    assert judged.props["list"][0]["deep"] is True


def test_a_policy_sees_protect_parent_and_the_delete_timeout() -> None:
    judged = seen(thing(protect=True, parent="urn:parent", custom_timeouts={"delete": "1h30m", "create": "10s"}))

    assert (judged.protect, judged.parent, judged.delete_seconds) == (True, "urn:parent", 5400.0)
    assert seen(thing()).delete_seconds == 0


def test_the_provider_of_a_resource_is_sent_along() -> None:
    provider = thing("prov", type="pulumi:providers:test", inputs={"region": "us-west-2"})

    assert seen(thing(provider=f"{provider.urn}::id"), provider).name == "thing"


def test_a_stack_policy_sees_who_depends_on_whom() -> None:
    stack = stack_seen(
        thing("a"),
        thing("b", property_dependencies={"x": (thing("a").urn,)}),
        thing("c", dependencies=(thing("b").urn,), parent=thing("a").urn),
    )
    a, b, c = stack.of(THING)

    assert stack.depends_on(c, a)
    assert stack.depends_on(b, a)
    assert not stack.depends_on(a, c)
    assert stack.children(a, THING) == (c,)


def test_a_stack_policy_sees_outputs_and_of_a_component_only_what_it_registered() -> None:
    component, custom = stack_seen(
        thing("component", custom=False, inputs={"protect": True}, outputs={"url": "s3://b"}),
        thing("custom", inputs={"name": "b", "arn": UNKNOWN}, outputs={"arn": "arn:b"}),
    ).resources

    assert dict(component.props) == {"url": "s3://b"}
    assert dict(custom.props) == {"name": "b", "arn": "arn:b"}


def test_a_finding_of_the_stack_names_its_resource() -> None:
    def check(stack: Stack, _config: object) -> Any:
        yield Finding(stack.resources[0], "This one.")

    found = run([thing()], policy(WholeStack((THING,), check)))

    assert [(one.urn, one.message) for one in found] == [(thing().urn, "This one.")]


def test_order_of_the_resources_does_not_change_the_result() -> None:
    rule = policy(EachResource((THING,), names))
    things = [thing(name) for name in "cab"]

    assert run(things, rule) == run(things[::-1], rule)


def test_an_environment_of_the_engine_leaves_our_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import pulumi  # noqa: PLC0415

    before = pulumi.get_stack()
    for key, value in {"PULUMI_PROJECT": "other", "PULUMI_STACK": "other", "PULUMI_DRY_RUN": "true"}.items():
        monkeypatch.setitem(os.environ, key, value)

    run([thing()], policy(EachResource((THING,), names)))

    assert pulumi.get_stack() == before


BOUNDED = policy(
    EachResource((THING,), bounded),
    config_schema={"most": {"type": "integer", "minimum": 1, "default": 3, "description": "the most there may be."}},
)
OTHER = policy(EachResource((THING,), names), name="other-rule", level="advisory")


def test_defaults_are_filled_in_as_the_engine_does() -> None:
    assert [one.message for one in run([thing()], BOUNDED)] == ["most is 3.0"]
    assert [one.message for one in run([thing()], BOUNDED, config={"a-rule": {"most": 5}})] == ["most is 5.0"]


@pytest.mark.parametrize(
    ("config", "levels"),
    [
        ({"a-rule": "advisory"}, ["advisory", "advisory"]),
        ({"a-rule": {"enforcementLevel": "advisory", "most": 2}}, ["advisory", "advisory"]),
        ({"a-rule": "disabled"}, ["advisory"]),
        ({"all": "mandatory"}, ["mandatory", "mandatory"]),
        ({"all": "disabled", "a-rule": "mandatory"}, ["mandatory"]),
        ({"all": {"enforcementLevel": "disabled"}}, []),
    ],
    ids=str,
)
def test_levels_are_set_by_policy_or_for_all(config: dict[str, object], levels: list[str]) -> None:
    assert [one.level for one in run([thing()], BOUNDED, OTHER, config=config)] == levels


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"a-rul": "advisory"}, "no policy `a-rul`, so this entry would do nothing. Did you mean `a-rule`?"),
        (
            {"a-rule": "mandatry"},
            "level of `a-rule` is `mandatry`. Write one of advisory, mandatory, disabled. Did you mean `mandatory`?",
        ),
        ({"a-rule": {"enforcementLevel": 3}}, "level of `a-rule` is `3`"),
        ({"a-rule": 3}, "neither a level"),
        ({"a-rule": {"mots": 3}}, "no property `mots` (it has: most). Did you mean `most`?"),
        ({"a-rule": {"most": 0}}, "`a-rule.most` is refused: 0 is less than the minimum of 1"),
        ({"a-rule": {"most": "3"}}, "It means: the most there may be."),
        ({"all": {"most": 3}}, "`all` sets a level only"),
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_meant_so_is_refused(config: dict[str, object], text: str) -> None:
    with pytest.raises(PolicyConfigError) as error:
        run([thing()], BOUNDED, config=config)

    assert text in str(error.value)


def test_a_configuration_that_is_no_object_is_refused() -> None:
    not_an_object: Any = ["a-rule"]

    with pytest.raises(PolicyConfigError, match="is a list"):
        run([], BOUNDED, config=not_an_object)


def test_all_that_is_wrong_with_a_configuration_is_said_at_once() -> None:
    with pytest.raises(PolicyConfigError) as error:
        run([], BOUNDED, config={"nobody": "advisory", "a-rule": {"most": 0}})

    assert len(str(error.value).splitlines()) == 2
