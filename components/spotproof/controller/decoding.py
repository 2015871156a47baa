"""One event of a watch, from its line of JSON: as much of its object as is kept."""

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


_EVENT: Final = msgspec.json.Decoder(Event)


def decoder(shape: type | None) -> Decode:
    """Decodes lines `{"type": ..., "object": ...}`; what does not fit the shape is decoded as a whole.

    Args:
        shape: What is read of the object; None for all of it.

    Raises:
        ValueError: by the decoder that is returned, for what is no event.
    """
    narrow = msgspec.json.Decoder(Any if shape is None else shape)

    def decode(line: bytes) -> dict[str, Any]:
        event = _EVENT.decode(line)
        return {"type": event.type, "object": _object(event, narrow)}

    return decode


def _object(event: Event, narrow: msgspec.json.Decoder[Any]) -> Any:
    if event.type != ERROR:
        try:
            return narrow.decode(event.object)
        except msgspec.ValidationError:
            pass
    return msgspec.json.decode(event.object)
