"""What may go wrong with a call of the controller, and which call it is that goes wrong."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

HOLD_SECONDS: Final = 60
"""For a test to do what it does while a call is held; a test that forgot leaves no thread behind."""
RETRY_AFTER_SECONDS: Final = 1
GONE: Final = {
    "type": "ERROR",
    "object": {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": "too old resource version",
        "reason": "Expired",
        "code": int(HTTPStatus.GONE),
    },
}
"""As the API server says that it no longer knows the version a watch goes on from."""


class Fault(Enum):
    """What happens to a call."""

    KILLED_BEFORE = "killed before"
    """It is held before the API server has seen it, for the test to kill the controller."""
    KILLED_AFTER = "killed after"
    """Its answer is held."""
    CONFLICT = "409"
    TOO_MANY = "429"
    ERROR = "500"
    CUT = "cut after"
    """The API server does it, and the connection is cut instead of the answer."""
    LATE = "late"
    """It is held, and passed on when the test lets it go."""


HELD: Final = frozenset({Fault.KILLED_BEFORE, Fault.KILLED_AFTER, Fault.LATE})
ANSWERED: Final[Mapping[Fault, HTTPStatus]] = {
    Fault.CONFLICT: HTTPStatus.CONFLICT,
    Fault.TOO_MANY: HTTPStatus.TOO_MANY_REQUESTS,
    Fault.ERROR: HTTPStatus.INTERNAL_SERVER_ERROR,
}
VERBS: Final[Mapping[str, str]] = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
LEASES: Final = "leases"
UNNUMBERED: Final = frozenset({LEASES, ""})
"""A lease is renewed all the time, and what kinds there are is asked once: neither is a step of anything."""


class Call(NamedTuple):
    """One call, as the API server names it: verb and resource, with its subresource, as `patch trainingruns/status`."""

    verb: str
    resource: str
    path: str

    @property
    def said(self) -> str:
        """Verb and resource."""
        return f"{self.verb} {self.resource}"

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.verb in VERBS.values()

    @classmethod
    def of(cls, method: str, target: str) -> Self:
        """The call of a request line."""
        path = urlsplit(target).path
        parts = path.strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:] if parts[0] == "apis" else []
        if len(rest) > 2 and rest[0] == "namespaces":  # namespaces, its name, and what is in it
            rest = rest[2:]
        resource, name, sub = (*rest, "", "", "")[:3]
        verb = VERBS.get(method) or ("get" if name else "list")
        return cls(verb, f"{resource}/{sub}" if sub else resource, path)


@dataclass
class Trap:
    """One fault for one call: the `nth` of those that match, from the moment it was set."""

    fault: Fault
    matches: Callable[[Call], bool]
    nth: int = 1
    seen: int = 0

    def __post_init__(self) -> None:
        """Nothing has been caught yet."""
        self.caught: Call | None = None
        self._reached = threading.Event()
        self._released = threading.Event()

    def takes(self, call: Call) -> bool:
        """Whether it is this call that is spoilt."""
        if self.caught is not None or not self.matches(call):
            return False
        self.seen += 1
        if self.seen == self.nth:
            self.caught = call
        return self.caught is not None

    def reach(self) -> None:
        """The call is where the fault strikes."""
        self._reached.set()

    def hold(self) -> None:
        """Wait for the test."""
        self.reach()
        self._released.wait(HOLD_SECONDS)

    def reached(self, within_seconds: float) -> bool:
        """Whether the call came within the time."""
        return self._reached.wait(within_seconds)

    @property
    def is_released(self) -> bool:
        """Whether nothing is held any more."""
        return self._released.is_set()

    def release(self) -> None:
        """A held call is let go: it is dropped without an answer, or passed on where it was only to be late."""
        self._released.set()


def refusal(status: HTTPStatus, message: str) -> tuple[int, Sequence[tuple[str, str]], bytes]:
    """A refusal as the API server writes it."""
    reasons = {HTTPStatus.TOO_MANY_REQUESTS: "TooManyRequests", HTTPStatus.INTERNAL_SERVER_ERROR: "InternalError"}
    said = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reasons.get(status, status.phrase),
        "code": int(status),
    }
    headers = [("Content-Type", "application/json")]
    if status is HTTPStatus.TOO_MANY_REQUESTS:
        headers.append(("Retry-After", str(RETRY_AFTER_SECONDS)))
    return status, headers, json.dumps(said).encode()
