"""From a resource's inputs to the requests its provider would send, field by field, by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spotproof.preview.model import UNKNOWN, Reference, Secret
from tests.api_models.request import Load, Request, Schema, Steps, fields
from tests.api_models.rows import Own, Row, Target, To

ENVELOPE: Final = "properties"
"""Azure's resources hold most fields in this one, and its provider leaves it out."""


@dataclass(frozen=True)
class Input:
    """Where in the inputs: as a table writes it, and with the indices of lists."""

    key: str = ""
    path: str = ""

    def at(self, key: str) -> "Input":
        return Input(f"{self.key}.{key}".lstrip("."), f"{self.path}.{key}".lstrip("."))

    def item(self, step: str) -> "Input":
        return Input(self.key, self.path + step)


@dataclass
class Translation:
    """What became of a resource's inputs.

    `documents`: by call. `origins`: which input stands at a place of a call. `placed`, `own` and `lost`: paths of
    inputs without indices that have a field, belong to the provider, or map to nothing. `used`: the keys of the row
    that were needed. `secrets`: places whose values are not to be told.
    """

    requests: dict[str, Request] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    origins: dict[tuple[str, Steps], Input] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    lost: list[Input] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    secrets: set[tuple[str, Steps]] = field(default_factory=set)


def translate(inputs: Mapping[str, object], row: Row, load: Load) -> Translation:
    """Return the requests that these inputs make."""
    done = Translation()
    _Walk(row, load, done).top(inputs)
    return done


@dataclass(frozen=True)
class _Place:
    """An object of a request that is being filled: its schema, and where it stands."""

    call: str
    schema: Schema
    held: dict[str, Any]
    steps: Steps = ()

    def of(self, schema: Schema, step: str | int) -> "_Place":
        return _Place(self.call, schema, {}, (*self.steps, step))


@dataclass(frozen=True)
class _Walk:
    row: Row
    load: Load
    done: Translation

    def top(self, inputs: Mapping[str, object]) -> None:
        call = self._call(self.row.call)
        call.held.update(dict.fromkeys(self.row.filled, UNKNOWN))
        place = self._down(call, self.row.root.split("/")) if self.row.root else call
        self._object(inputs, place, Input())

    def _call(self, name: str) -> _Place:
        service, _, _ = self.row.call.partition(":")
        call = name if ":" in name else f"{service}:{name}"
        request = self.done.requests.setdefault(call, self.load(call))
        return _Place(call, request.resolved(request.schema), self.done.documents.setdefault(call, {}))

    def _object(self, inputs: Mapping[str, object], place: _Place, where: Input) -> None:
        for key, value in inputs.items():
            at = where.at(key)
            target = self.row.inputs.get(at.key)
            if target is not None:
                self.done.used.add(at.key)
            if isinstance(target, Own):
                self.done.own.add(at.key)
            elif names := self._names(key, target, place):
                start, value_sent = self._start(target, place), _changed(value, target)
                self._put(value_sent, self._down(start, names[:-1]), names[-1], at)
            else:
                self.done.lost.append(at)

    def _names(self, key: str, target: Target | None, place: _Place) -> list[str]:
        """Return the fields on the way to an input's own: as the table says, or by the input's name."""
        if target is not None and not isinstance(target, Own):
            path = target if isinstance(target, str) else target.path
            return path.lstrip("/").split("/")
        if name := _named(key, place.schema):
            return [name]
        envelope = self._resolved(place, fields(place.schema).get(ENVELOPE, {}))
        name = _named(key, envelope)
        return [ENVELOPE, name] if name else []

    def _start(self, target: Target | None, place: _Place) -> _Place:
        if isinstance(target, To) and target.call:
            return self._call(target.call)
        path = target if isinstance(target, str) else target.path if isinstance(target, To) else ""
        return self._call(self.row.call) if path.startswith("/") else place

    def _down(self, place: _Place, names: Sequence[str]) -> _Place:
        """Return the object these fields lead to, made where it is not there; of a list its first item."""
        for name in names:
            schema = self._resolved(place, _field(place.schema, name, place.call))
            steps: Steps = (*place.steps, name)
            if schema.get("type") == "array":
                items = place.held.setdefault(name, [{}])
                place = _Place(place.call, self._resolved(place, schema["items"]), items[0], (*steps, 0))
            else:
                place = _Place(place.call, schema, place.held.setdefault(name, {}), steps)
        return place

    def _put(self, value: object, place: _Place, name: str, where: Input) -> None:
        schema, steps = _field(place.schema, name, place.call), (*place.steps, name)
        self.done.placed.add(where.key)
        sent, there = self._value(value, _Place(place.call, schema, {}, steps), where), place.held.get(name)
        # two inputs may fill one object of the API, as the flags of a network do
        place.held[name] = {**there, **sent} if isinstance(there, dict) and isinstance(sent, dict) else sent

    def _value(self, value: object, place: _Place, where: Input) -> object:
        """Return the value as the API has it, its keys translated."""
        self.done.origins[place.call, place.steps] = where
        if isinstance(value, Secret):
            self.done.secrets.add((place.call, place.steps))
            return self._value(value.value, place, where)
        if isinstance(value, dict):
            return self._map(value, place, where)
        if isinstance(value, list):
            item = self._resolved(place, place.schema).get("items", {})
            return [
                self._value(each, place.of(item, index), where.item(f"[{index}]")) for index, each in enumerate(value)
            ]
        return UNKNOWN if isinstance(value, Reference) else value

    def _map(self, value: dict[str, object], place: _Place, where: Input) -> object:
        schema = self._resolved(place, place.schema)
        item = self._resolved(place, schema.get("items", {}))
        if set(fields(item)) == {"Key", "Value"}:  # how AWS writes most maps of tags
            return [{"Key": key, "Value": each} for key, each in value.items()]
        if fields(item):  # Terraform's providers flatten a list of at most one object
            return [self._value(value, place.of(item, 0), where)]
        if fields(schema):
            filled = _Place(place.call, schema, {}, place.steps)
            self._object(value, filled, where)
            return filled.held
        values = schema.get("additionalProperties") or {}
        return {key: self._value(each, place.of(values, key), where.item(f"[{key}]")) for key, each in value.items()}

    def _resolved(self, place: _Place, schema: Schema) -> Schema:
        return self.done.requests[place.call].resolved(schema)


def _named(key: str, schema: Schema) -> str:
    """Return the field of this name; clouds and providers disagree about case and hyphens."""
    if key in fields(schema):
        return key
    return next((name for name in fields(schema) if _plain(name) == _plain(key)), "")


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _field(schema: Schema, name: str, call: str) -> Schema:
    found = fields(schema).get(name, schema.get("additionalProperties"))
    assert isinstance(found, dict), f"{call} has no field {name!r} there; it has {', '.join(sorted(fields(schema)))}"
    return found


def _changed(value: object, target: Target | None) -> object:
    if not isinstance(target, To) or target.by is None or value is UNKNOWN:
        return value
    return Secret(target.by(value.value)) if isinstance(value, Secret) else target.by(value)
