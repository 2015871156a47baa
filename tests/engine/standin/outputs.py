"""What the cloud answers when it makes something: an id, the inputs, and every other output of the SDK's class.

Values are invented as our preview's known mode does, but depend on the inputs: a replacement has a new id and new
outputs, and what reads them changes with it.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from google.protobuf import json_format, struct_pb2

from spotproof.preview import wire
from spotproof.preview.echo import fitting, previewed
from spotproof.preview.invented import invent
from spotproof.preview.model import Secret

Struct = struct_pb2.Struct


_SDKS: Final = {"aws": "pulumi_aws", "azure-native": "pulumi_azure_native", "gcp": "pulumi_gcp"}


_loading = threading.Lock()


@cache
def _load(token: str) -> None:
    """Import the SDK's class: the program may run in another process, and shapes are found among loaded classes.

    One at a time: of a module that another thread is still importing, a class that comes late is not there yet, and
    its resource was made without outputs (1 run in 3 beside other work).
    """
    package, module, kind = token.split(":")
    if package in _SDKS:
        with _loading:
            getattr(getattr(import_module(_SDKS[package]), module.partition("/")[0]), kind, None)


def at_preview(token: str, inputs: Struct) -> Struct:
    """Return what is known before anything is made."""
    _load(token)
    return previewed(token, inputs)


def made(urn: str, token: str, inputs: Struct) -> tuple[str, Struct]:
    """Return the id and all outputs of a new resource."""
    _load(token)
    fit = fitting(token, inputs)
    identity, more = invent(_another(urn, inputs), token, wire.decode(fit))
    outputs = Struct()
    outputs.CopyFrom(fit)
    wire.merge(outputs, wire.encode(more))
    return identity, outputs


def changed(token: str, before: Struct, inputs: Struct) -> Struct:
    """Return the outputs of a resource that took new inputs and keeps everything the cloud chose."""
    _load(token)
    fit = fitting(token, inputs)
    outputs = Struct()
    outputs.CopyFrom(fit)
    _keep(outputs, before)
    return outputs


def value_at(values: Mapping[str, object], path: str) -> object:
    """Return the value at `a.b`, None where there is none."""
    found: object = values
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def plain(value: object) -> object:
    """Return a decoded value as JSON has it: a secret is what it holds."""
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return plain(value.value) if isinstance(value, Secret) else value


def _another(urn: str, inputs: Struct) -> str:
    """A URN for every set of inputs; the name at its end stays."""
    text = json.dumps(json_format.MessageToDict(inputs), sort_keys=True)
    head, _, name = urn.rpartition("::")
    return f"{head}.{hashlib.sha256(text.encode()).hexdigest()[:12]}::{name}"


def _keep(outputs: Struct, before: Struct) -> None:
    for key, value in before.fields.items():
        if key not in outputs.fields:
            outputs.fields[key].CopyFrom(value)
        elif value.HasField("struct_value") and outputs.fields[key].HasField("struct_value"):
            _keep(outputs.fields[key].struct_value, value.struct_value)
