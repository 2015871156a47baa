"""An API that writes only while the process leads: what is at hand when a lease is lost stops at its next write."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spotproof.controller.api import Api, Written
from spotproof.controller.kinds import Object
from spotproof.kube.client import Unreachable


class Fenced:
    """The API as far as the lease allows.

    A write that was sent before the lease was lost may still arrive after it. That is what the resource versions in
    every patch of a job are for; this keeps the time short in which they are needed.

    Args:
        api: The API.
        leads: Whether this process may write.
        calling: Told of every call before it is made.
    """

    def __init__(self, api: Api, leads: Callable[[], bool], calling: Callable[[], object]) -> None:
        self._api = api
        self._leads = leads
        self._calling = calling

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """As the API's."""
        self._calling()
        return self._api.find(api_version, kind, name, namespace)

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """As the API's."""
        self._calling()
        return self._api.list(api_version, kind, namespace, labels=labels, fields=fields)

    def create(self, thing: Mapping[str, Any], field_manager: str = "spotproof-controller") -> Written:
        """As the API's."""
        self._check()
        return self._api.create(thing, field_manager)

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
        """As the API's."""
        self._check()
        return self._api.patch(
            api_version, kind, name, change, namespace, subresource=subresource, field_manager=field_manager
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
        """As the API's."""
        self._check()
        self._api.delete(
            api_version, kind, name, namespace, grace_seconds=grace_seconds, propagation=propagation, uid=uid
        )

    def _check(self) -> None:
        if not self._leads():
            raise Unreachable("this process does not lead any more, and writes nothing")
        self._calling()
