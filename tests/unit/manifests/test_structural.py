"""Rules of structural schemas: Kubernetes documentation, "Specifying a structural schema" and "CEL rules"."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, WithJsonSchema

from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests.fallback_policy import crd
from spotproof.manifests.structural import DURATION, structural
from spotproof.settings.base import Settings, parse_duration
from spotproof.settings.fallback import FallbackPolicy

Schema = dict[str, Any]

KEYWORDS = {
    *("type", "format", "description", "default", "enum", "pattern", "required", "properties", "items", "anyOf"),
    *("additionalProperties", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
    *("minProperties", "maxProperties", "x-kubernetes-validations", "x-kubernetes-int-or-string"),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys"),
}
TYPES = {"object", "array", "string", "integer", "number", "boolean"}
LOOKAROUND = re.compile(r"\(\?(?!:)|\\[1-9]")


def the_schema() -> Schema:
    spec: Schema = crd()["spec"]  # pyright: ignore[reportAssignmentType] - a manifest's values are objects
    return spec["versions"][0]["schema"]["openAPIV3Schema"]


def nodes(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    yield path, schema
    for name, each in schema.get("properties", {}).items():
        yield from nodes(each, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from nodes(schema["additionalProperties"], f"{path}.*")


NODES = dict(nodes(the_schema()))


@pytest.mark.parametrize("path", NODES)
def test_every_node_is_structural(path: str) -> None:
    node = NODES[path]
    either = node.get("x-kubernetes-int-or-string", False)
    assert set(node) <= KEYWORDS
    assert ("type" not in node) if either else (node["type"] in TYPES)
    assert ("anyOf" in node) == either
    assert not {"properties", "additionalProperties"} <= set(node)
    assert set(node.get("required", [])) <= set(node.get("properties", {}))


@pytest.mark.parametrize("path", NODES)
def test_every_length_is_bounded_so_that_rules_stay_within_their_cost(path: str) -> None:
    node = NODES[path]
    if not path.startswith(".spec") and path != "":
        return
    bounds = {
        "string": {"maxLength", "enum", "format"},
        "array": {"maxItems"},
        "object": {"maxProperties", "properties"},
    }
    assert path == "" or node.get("type") not in bounds or bounds[node["type"]] & set(node)


@pytest.mark.parametrize("path", [path for path in NODES if "pattern" in NODES[path]])
def test_every_pattern_is_one_of_gos(path: str) -> None:
    assert not LOOKAROUND.search(NODES[path]["pattern"])


@pytest.mark.parametrize("path", [path for path in NODES if "default" in NODES[path]])
def test_every_default_is_a_value_of_its_own_schema(path: str) -> None:
    jsonschema.validate(NODES[path]["default"], NODES[path])


@pytest.mark.parametrize("path", [path for path in NODES if path.startswith(".spec.") and path[-1] not in "]*"])
def test_every_setting_says_what_it_means(path: str) -> None:
    assert NODES[path].get("description")


def rules(schema: Mapping[str, Any]) -> list[str]:
    return [rule["rule"] for rule in schema.get("x-kubernetes-validations", [])]


@given(
    st.text("0123456789hms", max_size=14)
    | st.from_regex(r"([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?", fullmatch=True)  # Go's \d is 0 to 9
)
@example("")
@example("0s")
@example("99999h999999m99999999s")
def test_the_api_server_takes_the_durations_the_settings_take(text: str) -> None:
    assert rules(DURATION) == ["self.matches('[1-9]')"]
    fits = jsonschema.Draft202012Validator(DURATION).is_valid(text) and re.search("[1-9]", text) is not None
    try:
        parse_duration(text)
    except ValueError:
        assert not fits
    else:
        assert fits


def models(model: type[BaseModel], path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model below a model, with the path of its fields in the schema."""
    yield path, model
    for name, field in model.model_fields.items():
        found = [each for each in flattened(field.annotation) if isinstance(each, type) and issubclass(each, BaseModel)]
        for each in found:
            many = "[]" if name == "tiers" else ""
            yield from models(each, f"{path}.{field.alias or name}{many}")


def flattened(annotation: Any) -> Iterator[Any]:
    arguments = getattr(annotation, "__args__", ())
    yield annotation
    for each in arguments:
        yield from flattened(each)


SETTINGS = dict(models(FallbackPolicy, ".spec"))


def test_the_walk_finds_every_model_of_the_settings() -> None:
    assert set(SETTINGS) == {".spec", ".spec.tiers[]", ".spec.return", ".spec.probe", ".spec.deadline"}


@pytest.mark.parametrize("path", SETTINGS)
def test_every_setting_is_in_the_crd_and_nothing_else_but_what_is_resolved(path: str) -> None:
    settings = {field.alias or name for name, field in SETTINGS[path].model_fields.items()}
    resolved = {"capacity", "nodeSelector", "tolerations", "accelerator", "zones", "instanceTypes"}
    resolved |= {"usdPerNodeHour", "priceSource"}
    expected = settings - {"name"} if path == ".spec" else settings | (resolved if path == ".spec.tiers[]" else set())
    assert set(NODES[path]["properties"]) == expected


def test_a_name_is_checked_as_the_settings_check_it() -> None:
    name = structural(ResolvedPolicy)["properties"]["name"]
    (rule,) = rules(the_schema())
    assert str(name["maxLength"]) in rule
    assert name["pattern"] in rule


class WithUnion(Settings):
    either: int | bool = Field(description="Two shapes no schema can tell apart by type.")


class WithStep(Settings):
    step: Annotated[int, Field(multiple_of=5)] = Field(description="A constraint without counterpart.")


class WithFormats(Settings):
    at: Annotated[int, WithJsonSchema({"type": "string", "format": "date-time"})] = Field(description="A time.")
    count: Annotated[int, WithJsonSchema({"type": "integer", "format": "int64"})] = Field(description="A count.")


class WithAddress(Settings):
    where: Annotated[str, WithJsonSchema({"type": "string", "format": "ipv9"})] = Field(description="Nobody's format.")


class WithChoice(Settings):
    nodes: Annotated[int, Field(ge=1, le=4)] | Literal["all", "half"] = Field(1, description="A number or a word.")


@pytest.mark.parametrize(
    ("model", "named"),
    [(WithUnion, "WithUnion.either"), (WithStep, "WithStep.step"), (WithAddress, "WithAddress.where")],
)
def test_what_a_crd_cannot_say_is_an_error_and_not_dropped(model: type[Settings], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        structural(model)


def test_a_format_that_the_api_server_checks_is_kept() -> None:
    properties = structural(WithFormats)["properties"]

    assert {name: node["format"] for name, node in properties.items()} == {"at": "date-time", "count": "int64"}


def test_a_number_or_a_word_follows_the_model() -> None:
    node = structural(WithChoice)["properties"]["nodes"]
    assert rules(node) == ["type(self) == int ? self >= 1 && self <= 4 : self in ['all', 'half']"]
    assert node["x-kubernetes-validations"][0]["message"] == "must be 1 to 4 or all or half"
