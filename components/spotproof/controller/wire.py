"""What the watching process tells the one that decides: MessagePack, several messages at a time."""

from typing import Any, Final, TypeAlias

import msgspec

from spotproof.controller.metrics import WatchEnd


class Message(msgspec.Struct, tag=True, array_like=True):
    """Of one watch, by its rank in `watched.WATCHED`."""

    watch: int


class Begun(Message):
    """A list begins."""


class Paged(Message):
    """Some objects of it, projected."""

    things: list[dict[str, Any]]


class Listed(Message):
    """It is whole, of this resource version; how many objects there are, and how long it took."""

    at: int
    objects: int
    seconds: float


class Taken(Message):
    """A version of an object, projected; the last one where it is deleted."""

    thing: dict[str, Any]
    deleted: bool


class Renewed(Message):
    """Of an object nothing but the resource version is new since it was told last."""

    namespace: str
    name: str
    version: str


class Withdrawn(Message):
    """The API server does not have the kind."""


class Ended(Message):
    """The watch is begun again."""

    why: WatchEnd


class Lives(Message):
    """Of no watch: who tells is there, and what is told arrives."""


News: TypeAlias = Begun | Paged | Listed | Taken | Renewed | Withdrawn | Ended | Lives

ENOUGH: Final = b""
"""What is told the other way, to end it. All else is the rank of a watch whose objects are to be listed again."""
ENCODER: Final = msgspec.msgpack.Encoder()
DECODER: Final = msgspec.msgpack.Decoder(list[News])
