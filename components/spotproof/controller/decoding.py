"""One event of a watch, from its line of JSON, or one page of a list: as much of the objects as is kept."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

Decode = Callable[[bytes], dict[str, Any]]

ERROR: Final = "ERROR"
"""The type of an event whose object is a Status, and not of the watch's kind."""


class Event(msgspec.Struct):
    """A line."""

    type: str
    object: Any


class Listed(msgspec.Struct):
    """A page, its objects not yet looked into; null is how Go writes a list without any."""

    metadata: dict[str, Any]
    items: list[msgspec.Raw] | None


_EVENT: Final = msgspec.json.Decoder(Event)
"""Of any object, all of it."""
_LISTED: Final = msgspec.json.Decoder(Listed)


def decoder(shape: type | None) -> Decode:
    """Decodes lines `{"type": ..., "object": ...}`; what does not fit the shape is decoded as a whole.

    Args:
        shape: What is read of the object; None for all of it.

    Raises:
        ValueError: by the decoder that is returned, for what is no event.
    """
    made: Any = msgspec.defstruct("Narrow", [("object", _narrow(shape))], bases=(Event,))
    narrow: msgspec.json.Decoder[Event] = msgspec.json.Decoder(made)

    def decode(line: bytes) -> dict[str, Any]:
        try:
            event = narrow.decode(line)
        except msgspec.ValidationError:
            event = _EVENT.decode(line)
        if event.type == ERROR:
            event = _EVENT.decode(line)
        return {"type": event.type, "object": event.object}

    return decode


def page_decoder(shape: type | None) -> Decode:
    """Decodes pages `{"metadata": ..., "items": [...]}`, objects as `decoder` does: 500 whole pods would take 50 MB.

    Args:
        shape: What is read of an object; None for all of it.

    Raises:
        ValueError: by the decoder that is returned, for what is no list.
    """
    narrow = msgspec.json.Decoder(_narrow(shape))

    def decode(text: bytes) -> dict[str, Any]:
        page = _LISTED.decode(text)
        return {"metadata": page.metadata, "items": [_object(each, narrow) for each in page.items or ()]}

    return decode


def _narrow(shape: type | None) -> Any:
    return Any if shape is None else shape


def _object(text: msgspec.Raw, narrow: msgspec.json.Decoder[Any]) -> Any:
    try:
        return narrow.decode(text)
    except msgspec.ValidationError:
        return msgspec.json.decode(text)
