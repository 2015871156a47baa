"""One list, page by page, and one watch, as the API server sends it: for whoever keeps a copy of what it has."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from urllib3.exceptions import HTTPError, ReadTimeoutError

from spotproof.kube.errors import Silent, Unreachable

PIECE_BYTES: Final = 65_536


class Page(NamedTuple):
    """Some of the objects of a list, without kind and version, as of the list's resource version.

    `go_on` asks for the next page; it is empty on the last one.
    """

    items: list[dict[str, Any]]
    resource_version: str
    go_on: str


class Stream:
    """The events of one watch, `{"type": ..., "object": ...}`, until the server ends it or somebody closes it.

    Args:
        answer: The server's, whose body is read as it comes.
        decode: Makes an event of a line; a ValueError says that it is none.
    """

    def __init__(self, answer: Any, decode: Callable[[bytes], dict[str, Any]] = json.loads) -> None:
        self._answer = answer
        self._decode = decode

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every event as it comes, bookmarks and errors of the server included.

        Raises:
            Silent: nothing came for too long.
            Unreachable: the connection was cut, or what came is no event.
        """
        try:
            for line in lines(self._answer):
                yield self._decode(line)
        except ReadTimeoutError as error:
            raise Silent("the watch fell silent") from error
        except (HTTPError, OSError) as error:
            raise Unreachable(f"the watch was cut: {error}") from error
        except ValueError as error:
            raise Unreachable(f"the watch was cut in the middle of an event: {error}") from error

    def close(self) -> None:
        """End it, from any thread."""
        with contextlib.suppress(Exception):  # an answer that ends by itself meanwhile
            self._answer.shutdown()

    def release(self) -> None:
        """Give the connection up, by who has read from it."""
        self._answer.close()


def lines(answer: Any) -> Iterator[bytes]:
    """The lines of an answer as they come; what is not ended by a line's end is not given."""
    begun = b""
    for piece in answer.stream(PIECE_BYTES):
        *whole, begun = (begun + piece).split(b"\n")
        yield from whole
