"""How a call to the API server fails, whatever library noticed it."""

import contextlib
import json
from collections.abc import Generator
from typing import Any, Final

from kubernetes.client.exceptions import ApiException
from kubernetes.config import ConfigException
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

MOST: Final = 1000
"""Characters of what was answered."""


class Refused(Exception):  # noqa: N818  # the name is the sentence
    """The API server said no: the HTTP status, its reason (`Invalid`, `Forbidden`, ...) and its message.

    `retry_after_seconds` is for how long it does not want to be asked again, where it said so (429, 503).
    """

    def __init__(self, status: int, message: str, reason: str = "", retry_after_seconds: float | None = None) -> None:
        super().__init__(status, message, reason, retry_after_seconds)
        self.status = status
        self.message = message
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        """The status and the message, which names what was refused."""
        return f"{self.status}: {self.message}"


class Unreachable(Exception):  # noqa: N818  # the name is the sentence
    """The API server did not answer, not to the end, or not as the one it should be.

    It may have done as it was asked.
    """


class Untrusted(Unreachable):
    """TLS failed: its certificate is of another authority or for another name, or what answers speaks no TLS."""


class Stranger(Unreachable):
    """What answered is no API server."""


class Silent(Unreachable):
    """A watch gave neither an event nor a bookmark for longer than it may: its connection may be dead."""


@contextlib.contextmanager
def said() -> Generator[None]:
    """What the libraries raise inside comes out as Refused or Unreachable."""
    try:
        yield
    except ApiException as error:
        raise _refused(error) from error
    except HTTPError as error:
        raise _silent(error) from error
    except (ConfigException, OSError) as error:  # a token that is read again, or a plugin that is run again
        raise Unreachable(f"the user's credentials cannot be had: {error}") from error
    except ValueError as error:
        raise Stranger(f"what answered is no API server: {error}") from error


def one_line(text: str) -> str:
    """A text as a part of a sentence: a page of somebody's proxy is no more than its beginning."""
    found = " ".join(text.split())
    return found if len(found) <= MOST else f"{found[:MOST]} ..."


def _silent(error: HTTPError) -> Unreachable:
    """What the connection failed by, without the library's own names for it."""
    why = getattr(error, "reason", None) or error
    match why:
        case SSLError():
            return Untrusted(f"the API server did not answer: {one_line(str(why))}")
        case NameResolutionError():
            said = "its name is not known here"
        case ConnectTimeoutError() if not isinstance(why, NewConnectionError):
            said = "no connection came about in time"
        case ReadTimeoutError():
            said = "nothing came in time"
        case _:
            said = one_line(str(why)).rpartition("[Errno")[2].partition("] ")[2] or one_line(str(why))
    return Unreachable(f"the API server did not answer: {said.rstrip(')')}")


def _refused(error: ApiException) -> Exception:
    if not error.status:  # the client's own way of saying that TLS failed
        return Untrusted(f"the API server did not answer: {one_line(str(error.reason))}")
    body = error.body.decode("utf-8", "replace") if isinstance(error.body, bytes) else str(error.body or "")
    try:
        status = json.loads(body)
    except ValueError:
        status = {}
    status = status if isinstance(status, dict) else {}
    message, reason = status.get("message") or body or str(error.reason), status.get("reason") or ""
    return Refused(int(error.status), one_line(str(message)), str(reason), _retry_after(error.headers))


def _retry_after(headers: Any) -> float | None:
    """Seconds, as the API server says it; a date, which proxies may send, is as if nothing was said."""
    text = str((headers or {}).get("Retry-After", ""))
    return float(text) if text.isdecimal() else None
