from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from spotproof.preview import Resource, capture, check_objects, schemas_in
from spotproof.preview.model import UNKNOWN, Capture, Secret
from spotproof.settings.stack_file import read_yaml

CRDS = Path(__file__).parents[4] / "shared" / "crds"
SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "mode": {"type": "string", "enum": ["Fast", "Slow"]},
        "port": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}},
        "list": {"type": "array", "maxItems": 2, "items": {"type": "string", "pattern": "^a"}},
        "pick": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
    },
}
SCHEMAS = {("x.dev/v1", "Thing"): {"type": "object", "required": ["spec"], "properties": {"spec": SPEC}}}


def thing(inputs: Mapping[str, object], version: str = "x.dev/v1") -> Capture:
    whole = {"apiVersion": version, "kind": "Thing", "metadata": {"name": "t"}, **inputs}
    return Capture("p", "s", "unknown", (Resource("urn", "kubernetes:x.dev/v1:Thing", "t", True, "", "", whole),))  # noqa: FBT003


def faults(spec: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(f.path, f.message) for f in check_objects(thing({"spec": {"size": 1, **spec}}), SCHEMAS)]


def test_a_right_object_has_no_findings() -> None:
    spec = {"mode": "Fast", "port": "http", "free": {"x": {"y": 1}}, "labels": {"a": "b"}, "pick": {"a": "x"}}
    assert faults(spec) == []


@pytest.mark.parametrize("value", [UNKNOWN, Secret(UNKNOWN)])
def test_an_unknown_value_satisfies_every_rule(value: object) -> None:
    assert faults({"size": value, "mode": value, "list": [value], "pick": value}) == []


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        ({"sise": 1}, "spec.sise", "unknown field 'sise', which the API server would drop; did you mean 'size'?"),
        ({"size": "1"}, "spec.size", 'must be an integer, got "1"'),
        ({"size": 0}, "spec.size", "breaks minimum 1, got 0"),
        ({"mode": "fast"}, "spec.mode", 'must be one of Fast, Slow (nearest: Fast), got "fast"'),
        ({"mode": Secret("swordfish")}, "spec.mode", "must be one of Fast, Slow, got a secret value"),
        ({"port": True}, "spec.port", "must be a whole number or text, got true"),
        ({"labels": {"a": "long"}}, "spec.labels.a", 'breaks maxLength 3, got "long"'),
        ({"list": ["b"]}, "spec.list[0]", 'must match ^a, got "b"'),
        ({"list": ["a", "a", "a"]}, "spec.list", "breaks maxItems 2"),
        ({"pick": {"a": "x", "b": "x"}}, "spec.pick", "must fit exactly one of the alternatives a | b"),
        ({"free": None}, "spec.free", "must not be null"),
    ],
)
def test_a_wrong_field_is_named(spec: dict[str, object], path: str, message: str) -> None:
    assert faults(spec) == [(path, message)]


def test_a_missing_field_is_named() -> None:
    [finding] = check_objects(thing({"spec": {}}), SCHEMAS)
    assert (finding.path, finding.message) == ("spec.size", "is missing, and must be there")


def test_a_version_that_the_definition_does_not_serve_is_named() -> None:
    [finding] = check_objects(thing({}, "x.dev/v1beta1"), SCHEMAS)
    assert finding.message == "x.dev/v1beta1 is not a version of Thing; the definition serves x.dev/v1"


def test_a_definition_that_the_program_installs_judges_its_objects() -> None:
    def program() -> None:
        k8s.apiextensions.v1.CustomResourceDefinition(
            "things",
            spec={
                "group": "x.dev",
                "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {
                            "open_apiv3_schema": {
                                "type": "object",
                                "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                            }
                        },
                    }
                ],
            },
        )
        k8s.apiextensions.CustomResource(
            "t", api_version="x.dev/v1", kind="Thing", spec={"size": pulumi.Output.secret("x")}
        )

    [finding] = check_objects(capture(program))
    assert (finding.path, finding.message) == ("spec.size", "must be an integer, got a secret value")


@pytest.mark.skipif(not CRDS.is_dir(), reason="needs ../shared/crds")
def test_karpenters_own_definition_names_a_misspelt_requirement() -> None:
    schemas = schemas_in([read_yaml(CRDS / "karpenter-core" / "karpenter.sh_nodepools.yaml")])
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    body = {
        "nodeClassRef": reference,
        "requirements": [{"key": "a", "opperator": "In", "operator": "In", "values": ["b"]}],
    }
    inputs = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": {"template": {"spec": body}}}
    pool = Resource("urn", "kubernetes:karpenter.sh/v1:NodePool", "p", True, "", "", inputs)  # noqa: FBT003
    findings = check_objects(Capture("p", "s", "unknown", (pool,)), schemas)
    assert [finding.path for finding in findings] == ["spec.template.spec.requirements[0].opperator"]
