"""One event of a watch, from its line of JSON, or one page of a list: as much of the objects as is kept."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

Decode = Callable[[bytes], dict[str, Any]]

ERROR: Final = "ERROR"
"""The type of an event whose object is a Status, and not of the watch's kind."""


class Event(msgspec.Struct):
    """A line, its object not yet looked into."""

    type: str
    object: msgspec.Raw


class Listed(msgspec.Struct):
    """A page, its objects not yet looked into; null is how Go writes a list without any."""

    metadata: dict[str, Any]
    items: list[msgspec.Raw] | None


_EVENT: Final = msgspec.json.Decoder(Event)
_LISTED: Final = msgspec.json.Decoder(Listed)


def decoder(shape: type | None) -> Decode:
    """Decodes lines `{"type": ..., "object": ...}`; what does not fit the shape is decoded as a whole.

    Args:
        shape: What is read of the object; None for all of it.

    Raises:
        ValueError: by the decoder that is returned, for what is no event.
    """
    narrow = _narrow(shape)

    def decode(line: bytes) -> dict[str, Any]:
        event = _EVENT.decode(line)
        thing = msgspec.json.decode(event.object) if event.type == ERROR else _object(event.object, narrow)
        return {"type": event.type, "object": thing}

    return decode


def page_decoder(shape: type | None) -> Decode:
    """Decodes pages `{"metadata": ..., "items": [...]}`, objects as `decoder` does: 500 whole pods would take 50 MB.

    Args:
        shape: What is read of an object; None for all of it.

    Raises:
        ValueError: by the decoder that is returned, for what is no list.
    """
    narrow = _narrow(shape)

    def decode(text: bytes) -> dict[str, Any]:
        page = _LISTED.decode(text)
        return {"metadata": page.metadata, "items": [_object(each, narrow) for each in page.items or ()]}

    return decode


def _narrow(shape: type | None) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(Any if shape is None else shape)


def _object(text: msgspec.Raw, narrow: msgspec.json.Decoder[Any]) -> Any:
    try:
        return narrow.decode(text)
    except msgspec.ValidationError:
        return msgspec.json.decode(text)
