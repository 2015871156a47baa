"""Judges objects as the API server does by a CRD's schema, and refuses what it would silently prune."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml


def schema_of(crd: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a CRD's storage version, closed: a field it does not name is an error."""
    versions = [version for version in crd["spec"]["versions"] if version["storage"]]
    return closed(versions[0]["schema"]["openAPIV3Schema"])


@cache
def read_crd(path: Path) -> dict[str, Any]:
    """A definition as it was published, in the YAML 1.1 that its generator writes; cached, as every test only reads it.

    By libyaml: the 6 MB of all of them take over a minute in Python.
    """
    return yaml.load(path.read_bytes(), yaml.CSafeLoader)


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: closed(each) for name, each in schema["properties"].items()}
        result["additionalProperties"] = False
    elif isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = closed(schema["additionalProperties"])
    if "items" in schema:
        result["items"] = closed(schema["items"])
    return result


def filled(schema: Mapping[str, Any]) -> Any:
    """A value that has every field a schema names, each with something that it takes; of a list one item."""
    if "enum" in schema:
        return schema["enum"][-1]
    match schema["type"]:
        case "object":
            return {name: filled(each) for name, each in schema.get("properties", {}).items()}
        case "array":
            return [filled(schema["items"])]
        case "integer":
            return schema.get("minimum", 0) + 1
        case "boolean":
            return True
        case "string":
            return "2026-11-21T10:00:00Z" if schema.get("format") == "date-time" else "a"
        case other:
            raise NotImplementedError(other)


def errors(schema: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[str]:
    """Every error with its path; metadata belongs to the API server's own schema."""
    judged = {**manifest, "metadata": {}}
    found = jsonschema.Draft202012Validator(schema).iter_errors(judged)
    return sorted(f"{each.json_path}: {each.message}" for each in found)
