"""What the controller asks of the API server: the part of `kube.client.Kube` that it uses, so that tests can stand in.

Every call may raise `kube.client.Refused` (with the HTTP status) or `kube.client.Unreachable`; an unreachable server
may have done what it was asked. No call is repeated by whoever makes it: the work queue tries the whole job again.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from spotproof.controller.kinds import Object


class Written(Protocol):
    """An object as the API server has it now."""

    @property
    def object(self) -> Object:
        """The object."""
        ...


class Api(Protocol):
    """One API server, as the controller's own user sees it. `kube.client.Kube` fits."""

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object as it is stored now, or None where it is not there."""
        ...

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """All objects as they are stored now, never from a cache of the server's."""
        ...

    def create(self, thing: Mapping[str, Any], field_manager: str = "spotproof-controller") -> Written:
        """Make it; 409 where one of the name is there."""
        ...

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
        """A merge patch (a mapping) or a JSON patch (operations); a failed `test` is 422 without a message."""
        ...

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
        """Ask for its end; 404 where it is not there, 409 where it is another one than `uid`."""
        ...
