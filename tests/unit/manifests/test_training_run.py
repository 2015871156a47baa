import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from spotproof.fallback.record import TrainingRunSpec, TrainingRunStatus
from spotproof.manifests import fallback_policy
from spotproof.manifests.training_run import COLUMNS, crd
from tests.unit.manifests.crds import errors, filled, schema_of
from tests.unit.manifests.test_structural import KEYWORDS, LOOKAROUND, TYPES, nodes

Json = dict[str, Any]

DEFINITION: Json = crd()
SCHEMA = schema_of(DEFINITION)
VERSION: Json = DEFINITION["spec"]["versions"][0]
NODES = dict(nodes(VERSION["schema"]["openAPIV3Schema"]))
WHOLE: Json = {
    "apiVersion": "spotproof.dev/v1alpha1",
    "kind": "TrainingRun",
    "metadata": {"name": "a"},
    **{part: filled(SCHEMA["properties"][part]) for part in ("spec", "status")},
}


def whole() -> Json:
    return copy.deepcopy(WHOLE)


def test_the_crd_is_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/training-run-crd.yaml", DEFINITION)


@pytest.mark.parametrize("path", NODES)
def test_every_node_is_structural_and_bounded(path: str) -> None:
    node = NODES[path]
    bounds = {
        "string": {"maxLength", "enum", "format"},
        "array": {"maxItems"},
        "object": {"properties", "maxProperties"},
    }
    below_the_top = path not in {"", ".apiVersion", ".kind", ".metadata"}

    assert set(node) <= KEYWORDS
    assert node["type"] in TYPES
    assert set(node.get("required", [])) <= set(node.get("properties", {}))
    assert not LOOKAROUND.search(node.get("pattern", ""))
    assert not below_the_top or node["type"] not in bounds or bounds[node["type"]] & set(node)


@pytest.mark.parametrize("path", [path for path in NODES if path.startswith(".status")])
def test_a_status_is_stored_as_it_was_written(path: str) -> None:
    assert "default" not in NODES[path]


def test_what_fills_every_field_of_the_crd_is_what_the_controllers_classes_read_and_write() -> None:
    assert errors(SCHEMA, WHOLE) == []

    for part, model in (("spec", TrainingRunSpec), ("status", TrainingRunStatus)):
        read = model.model_validate(WHOLE[part])
        assert read.model_dump(mode="json", exclude_none=True) == WHOLE[part]


def test_a_status_that_has_just_begun_fits() -> None:
    assert errors(SCHEMA, {**WHOLE, "status": TrainingRunStatus().model_dump(mode="json", exclude_none=True)}) == []


DAMAGES: dict[str, Callable[[Json], object]] = {
    "no job": lambda run: run["spec"].pop("job"),
    "a job without a uid": lambda run: run["spec"]["job"].pop("uid"),
    "a phase there is none of": lambda run: run["status"].update(phase="Lost"),
    "a count below nothing": lambda run: run["status"].update(evictions=-1),
    "a condition without a reason": lambda run: run["status"]["conditions"][0].pop("reason"),
    "a move to nowhere": lambda run: run["status"]["move"].pop("to"),
    "a sentence of a page": lambda run: run["status"].update(message="x" * 1025),
    "a tier more than a policy has": lambda run: run["status"].update(tiers=run["status"]["tiers"] * 33),
    "a field of nobody": lambda run: run["status"].update(tier_name="a"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_refused(damage: str) -> None:
    run = whole()
    DAMAGES[damage](run)
    assert errors(SCHEMA, run)


def test_a_time_is_one_of_kubernetes() -> None:
    times = {path for path, node in NODES.items() if node.get("format") == "date-time"}

    assert {".status.since", ".status.move.since", ".status.history[].at", ".status.nextDecisionTime"} <= times
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", WHOLE["status"]["since"])


def test_a_run_is_of_one_job_for_ever_and_its_policy_may_change() -> None:
    ruled = {
        path: node["x-kubernetes-validations"] for path, node in NODES.items() if "x-kubernetes-validations" in node
    }

    assert {path: [rule["rule"] for rule in rules] for path, rules in ruled.items()} == {
        ".spec.job": ["self == oldSelf"]
    }


def test_one_condition_or_one_tier_is_written_without_the_others() -> None:
    keys = {path: node.get("x-kubernetes-list-map-keys") for path, node in NODES.items() if node["type"] == "array"}

    assert {path: key for path, key in keys.items() if key} == {
        ".status.tiers": ["pool"],
        ".status.conditions": ["type"],
    }


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_every_column_shows_a_field_that_is_there(column: Any) -> None:
    value: Any = {**WHOLE, "metadata": {"creationTimestamp": "2026-11-21T10:00:00Z"}}
    for part in column.path[1:].split("."):
        value = value[part]

    assert isinstance(value, int if column.kind == "integer" else str)
    assert column.kind != "date" or str(value).endswith("Z")


def test_both_kinds_are_listed_together_and_have_a_short_name() -> None:
    both: list[Any] = [DEFINITION, fallback_policy.crd()]
    names = [made["spec"]["names"] for made in both]

    assert [name["categories"] for name in names] == [["spotproof"], ["spotproof"]]
    assert [name["shortNames"] for name in names] == [["tr"], ["fbp"]]
