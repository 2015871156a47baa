"""The line between the fallback controller and the API server, on which calls go wrong as they do on real ones."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar

from spotproof.controller.kinds import Object
from spotproof.kube.client import Refused, Unreachable
from tests.world.server import Server, Written

T = TypeVar("T")

Trouble = Literal["killed before", "killed after", "conflict", "too many", "broken", "cut before", "cut after"]
"""What becomes of one call; `after` is after the server has done it."""
TROUBLES: Final[tuple[Trouble, ...]] = (
    "killed before",
    "killed after",
    "conflict",
    "too many",
    "broken",
    "cut before",
    "cut after",
)


class Killed(BaseException):
    """The process is no more: nothing in it may catch this."""


class Call(NamedTuple):
    """A call, for whoever reads what the controller has done."""

    at: float
    verb: str
    what: str
    changed: bool
    taken: bool
    """Whether the server did not refuse it."""


class Line:
    """Fits `controller.api.Api`. `troubles` are calls from now, counted from 0, to what becomes of them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.troubles: dict[int, Trouble] = {}
        self.calls: list[Call] = []
        self.happened: Counter[Trouble] = Counter()
        self.went_wrong_at = server.clock.now
        """When a call last went wrong."""
        self.acts = False
        """Whether the write that is being made is the controller's."""

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """As the server."""
        return self._called("find", f"{kind}/{name}", lambda: self._server.find(api_version, kind, name, namespace))

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """As the server."""
        ask = lambda: self._server.list(api_version, kind, namespace, labels=labels, fields=fields)  # noqa: E731
        return self._called("list", kind, ask)

    def create(self, thing: Mapping[str, Any], field_manager: str = "spotproof-controller") -> Written:
        """As the server."""
        said = f"{thing['kind']}/{thing['metadata'].get('name', '')}"
        return self._called("create", said, lambda: self._server.create(thing, field_manager))

    def patch(  # noqa: PLR0913  # what names an object
        self,
        api_version: str,
        kind: str,
        name: str,
        change: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        namespace: str | None = None,
        *,
        subresource: str = "",
        field_manager: str = "spotproof-controller",
    ) -> Written:
        """As the server."""
        del field_manager
        what = change if isinstance(change, Mapping) else list(change)
        return self._called(
            "patch",
            f"{kind}/{name}{f'/{subresource}' if subresource else ''}",
            lambda: self._server.patch(api_version, kind, name, what, namespace, subresource=subresource),
        )

    def delete(  # noqa: PLR0913  # what names an object
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        grace_seconds: int | None = None,
        propagation: str = "Background",
        uid: str | None = None,
    ) -> None:
        """As the server."""
        self._called(
            "delete",
            f"{kind}/{name}",
            lambda: self._server.delete(
                api_version, kind, name, namespace, grace_seconds=grace_seconds, propagation=propagation, uid=uid
            ),
        )

    def _called(self, verb: str, what: str, do: Callable[[], T]) -> T:
        trouble = self.troubles.pop(0, None)
        self.troubles = {place - 1: each for place, each in self.troubles.items()}
        if trouble is not None:
            if trouble == "conflict" and verb not in {"patch", "delete"}:
                trouble = "broken"
            self.happened[trouble] += 1
            self.went_wrong_at = self._server.clock.now
            _before(trouble)
        version = self._server.store.version
        self.acts, taken = True, False
        try:
            answer = do()
            taken = True
        finally:
            self.acts = False
            self.calls.append(Call(self._server.clock.now, verb, what, self._server.store.version != version, taken))
        if trouble == "killed after":
            raise Killed
        if trouble == "cut after":
            raise Unreachable("the API server did not answer: connection reset")
        return answer


def _before(trouble: Trouble) -> None:
    match trouble:
        case "killed before":
            raise Killed
        case "conflict":
            raise Refused(
                409, "the object has been modified; please apply your changes to the latest version", "Conflict"
            )
        case "too many":
            raise Refused(429, "too many requests, please try again later", "TooManyRequests")
        case "broken":
            raise Refused(500, "etcdserver: request timed out", "InternalError")
        case "cut before":
            raise Unreachable("the API server did not answer: connection reset")
        case _:
            return
