"""The report for machines: `spotproof.preview/1`, one object a stack."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from spotproof.preview.model import UNKNOWN, Asset, Capture, Preview, Reference, Resource, Secret

SCHEMA: Final = "spotproof.preview/1"
UNKNOWN_MARK: Final = {"$unknown": True}
SECRET_MARK: Final = {"$secret": True}


def document(preview: Preview) -> dict[str, object]:
    """Return the report as plain JSON values; unknown values and secrets are marks, never values."""
    capture = preview.capture
    return {
        "schema": SCHEMA,
        "project": preview.project,
        "stack": preview.stack,
        "mode": "both" if len(preview.modes) > 1 else "".join(preview.modes),
        "failed": preview.failed,
        "resources": [_resource(resource, capture) for resource in capture.resources],
        "outputs": shown(dict(capture.outputs), capture),
        "policies": [
            {
                "policy": violation.policy,
                "level": violation.level,
                "severity": violation.severity,
                "urn": violation.urn,
                "message": violation.message,
                "remedy": violation.remedy,
                "modes": list(violation.modes),
            }
            for violation in preview.policies
        ],
        "lint": [
            {
                "urn": finding.urn,
                "path": finding.path,
                "message": finding.message,
                "severity": finding.severity,
                "modes": list(finding.modes),
            }
            for finding in preview.lint
        ],
        "cost": preview.cost.as_json() if preview.cost is not None else None,
        "quotas": [asdict(quota) for quota in preview.quotas],
        "messages": [
            {"severity": message.severity, "urn": message.urn, "text": capture.redact(message.text)}
            for message in capture.messages
        ],
    }


def failure(stack: str, text: str) -> dict[str, object]:
    """Return the report of a stack that could not be previewed."""
    return {"schema": SCHEMA, "stack": stack, "failed": True, "error": text}


def text(documents: Sequence[dict[str, object]], *, several: bool) -> str:
    """Return the JSON text: a list if `several` stacks were asked for, an object for one."""
    return json.dumps(list(documents) if several else documents[0], indent=2, ensure_ascii=False)


def shown(value: object, capture: Capture) -> object:  # noqa: PLR0911  # a table by type
    """Return one value as it may be shown."""
    match value:
        case Secret():
            return SECRET_MARK
        case Reference():
            return {"$resource": value.urn}
        case Asset():
            return {f"${value.kind}": shown(dict(value.source), capture)}
        case dict():
            return {key: shown(item, capture) for key, item in value.items()}
        case list():
            return [shown(item, capture) for item in value]
        case str():
            return capture.redact(value)
        case float() if not math.isfinite(value):
            # JSON has no word for it.
            return str(value)
        case _:
            return UNKNOWN_MARK if value is UNKNOWN else value


def _resource(resource: Resource, capture: Capture) -> dict[str, object]:
    optional = {
        "read": resource.read,
        "remote": resource.remote,
        "aliases": list(resource.aliases),
        "version": resource.version,
        "ignoreChanges": list(resource.ignore_changes),
        "replaceOnChanges": list(resource.replace_on_changes),
        "additionalSecretOutputs": list(resource.additional_secret_outputs),
        "deleteBeforeReplace": resource.delete_before_replace,
        "customTimeouts": dict(resource.custom_timeouts),
        "deletedWith": resource.deleted_with,
        "importId": resource.import_id,
    }
    return {
        "urn": resource.urn,
        "type": resource.type,
        "name": resource.name,
        "custom": resource.custom,
        "parent": resource.parent,
        "provider": resource.provider,
        "inputs": shown(dict(resource.inputs), capture),
        "dependencies": list(resource.dependencies),
        "propertyDependencies": {key: list(urns) for key, urns in resource.property_dependencies.items() if urns},
        "protect": resource.protect,
        "retainOnDelete": resource.retain_on_delete,
        **{key: value for key, value in optional.items() if value},
    }
