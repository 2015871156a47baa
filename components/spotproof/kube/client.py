"""A thin typed client over kubernetes.dynamic: objects are plain mappings, warnings are part of the answer."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from urllib3.util.retry import Retry

from spotproof.kube import access, waiting
from spotproof.kube.discovery import Kinds
from spotproof.kube.errors import Refused, Unreachable, said
from spotproof.kube.streaming import Page, Stream
from spotproof.kube.watching import Watch

__all__ = ["Applied", "Kube", "Object", "Objects", "Refused", "Unreachable"]

T = TypeVar("T")
Object: TypeAlias = dict[str, Any]
Objects: TypeAlias = list[Object]
Query: TypeAlias = list[tuple[str, str]]

TIMEOUT_SECONDS: Final = (5.0, 60.0)
"""To connect, and for an answer: webhooks are given 10 s, and a busy machine its time."""
CONNECTIONS: Final = 32
OK: Final = 200
REDIRECTED: Final = 300
ONLY_READS_AGAIN: Final = Retry(
    total=1,
    connect=0,
    read=1,
    redirect=0,
    status=0,
    other=0,
    allowed_methods=("GET",),
    respect_retry_after_header=False,
)
"""A read whose connection was cut is made once more. A write never is: it may have been carried out, and whether to ask
again is for who knows what it was. urllib3 by itself repeats DELETE and PUT three times, and sleeps when told 429."""
_WARNING: Final = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class Applied(NamedTuple):
    """An object as the API server has it now, and what it warned of."""

    object: Object
    warnings: tuple[str, ...]


class Kube:
    """The API server as one user sees it."""

    def __init__(self, address: str, authority: Path, certificate: Path, key: Path) -> None:
        self._connect(access.by_certificate(address, authority, certificate, key))

    @classmethod
    def of_kubeconfig(cls, file: Path | None = None, context: str | None = None) -> Self:
        """As the user of a kubeconfig file; without one, as kubectl finds it ($KUBECONFIG, ~/.kube/config).

        Raises:
            access.NoAccess: there is no such file or context, or its user cannot be made out.
        """
        return cls._of(access.by_kubeconfig(file, context))

    @classmethod
    def in_cluster(cls) -> Self:
        """As the service account of the pod this runs in.

        Raises:
            access.NoAccess: it does not run in a pod, or the pod has no token.
        """
        return cls._of(access.by_service_account())

    @classmethod
    def _of(cls, settings: Configuration) -> Self:
        kube = cls.__new__(cls)
        kube._connect(settings)  # noqa: SLF001  # its own
        return kube

    def _connect(self, settings: Configuration) -> None:
        self.address = settings.host
        settings.connection_pool_maxsize = CONNECTIONS
        settings.retries = ONLY_READS_AGAIN
        self.api = ApiClient(settings)
        self._client = DynamicClient(self.api, discoverer=Kinds)
        self._kinds = Kinds(self._client, None)

    def close(self) -> None:
        """Give the connections back."""
        self.api.rest_client.close()

    def version(self) -> str:
        """The server's, as it says it: `v1.36.3`."""
        return str(self._json(self._request("get", "/version"))["gitVersion"])

    def apply(
        self, thing: Mapping[str, Any], field_manager: str = "spotproof", *, dry_run: bool = False, force: bool = False
    ) -> Applied:
        """Server-side apply; a field that the API does not have is refused, not dropped.

        Raises:
            Refused: by schema, admission, role, or because another manager owns a field (409, unless `force`).
        """
        query = [("fieldManager", field_manager), *_strict(dry_run=dry_run), ("force", json.dumps(force))]
        path = self._path_of(thing, named=True)
        return self._written("patch", path, dict(thing), query, "application/apply-patch+yaml")

    def create(self, thing: Mapping[str, Any], field_manager: str = "spotproof", *, dry_run: bool = False) -> Applied:
        """Create it as it is written, with strict field validation; `generateName` and a node's status work here.

        Raises:
            Refused: as `apply`, and 409 where it is there already.
        """
        query = [("fieldManager", field_manager), *_strict(dry_run=dry_run)]
        return self._written("post", self._path_of(thing, named=False), dict(thing), query, "application/json")

    def create_text(self, path: str, text: bytes) -> Object:
        """Create the one object that a YAML file holds, parsed by the server: it reads a CRD 100 times faster."""
        return self._written("post", path, text, [("fieldManager", "spotproof")], "application/yaml").object

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        """The object.

        Raises:
            Refused: it is not there (404), or the user may not see it (403).
        """
        return self._json(self._request("get", self._path(api_version, kind, name, namespace)))

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None where it is not there."""
        try:
            return self.get(api_version, kind, name, namespace)
        except Refused as refused:
            if refused.status == 404:  # noqa: PLR2004  # HTTP's own
                return None
            raise

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Objects:
        """All objects of a kind, in one namespace or in all, that match the selectors, with kind and version."""
        answer = self._list(api_version, kind, namespace, [("labelSelector", labels), ("fieldSelector", fields)])
        return [{"apiVersion": api_version, "kind": kind, **item} for item in answer["items"]]

    def page(  # noqa: PLR0913  # what names a list
        self,
        api_version: str,
        kind: str,
        *,
        labels: str = "",
        limit: int = 0,
        go_on: str = "",
        decode: Callable[[bytes], Object] = json.loads,
    ) -> Page:
        """Some objects of a kind in all namespaces, and how to ask for the next ones; as stored now, from no cache.

        Args:
            api_version: Of the kind.
            kind: The kind.
            labels: Selector of the objects.
            limit: How many at most; 0 for all.
            go_on: What the page before this one said.
            decode: Makes metadata and items of the answer; a ValueError says that it is none.

        Raises:
            Refused: also where the server has no such kind (404), or the list has taken too long (410).
        """
        query = [("labelSelector", labels), ("limit", str(limit or "")), ("continue", go_on)]
        answer = self._list(api_version, kind, None, query, decode)
        meta = answer["metadata"]
        return Page(answer["items"], str(meta["resourceVersion"]), str(meta.get("continue") or ""))

    def stream(  # noqa: PLR0913  # what names a watch
        self,
        api_version: str,
        kind: str,
        since: str,
        *,
        labels: str = "",
        end_seconds: int = 300,
        silence_seconds: float = 90.0,
        decode: Callable[[bytes], Object] = json.loads,
    ) -> Stream:
        """What happens to objects of a kind in all namespaces after a resource version, with bookmarks.

        Args:
            api_version: Of the kind.
            kind: The kind.
            since: The resource version of a list, a bookmark or an event.
            labels: Selector of the objects.
            end_seconds: The server ends it after so long.
            silence_seconds: Without a byte for so long it is taken for dead.
            decode: Makes an event of a line of JSON; a ValueError says that it is none.

        Raises:
            Refused: also where the version is too old (410).
        """
        query = [
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", since),
            ("timeoutSeconds", str(end_seconds)),
            *([("labelSelector", labels)] if labels else []),
        ]
        path = self._path(api_version, kind, None, None)
        return Stream(self._request("get", path, query=query, answer_seconds=silence_seconds), decode)

    def resource_version(self) -> str:
        """The state of everything now: a watch since then misses nothing and repeats nothing."""
        answer = self._list("v1", "Namespace", None, [("limit", "1")])
        return str(answer["metadata"]["resourceVersion"])

    def patch(  # noqa: PLR0913  # what names an object
        self,
        api_version: str,
        kind: str,
        name: str,
        change: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        namespace: str | None = None,
        *,
        subresource: str = "",
        field_manager: str = "spotproof",
    ) -> Applied:
        """A merge patch (a mapping) or a JSON patch (operations), with strict field validation."""
        merge = isinstance(change, Mapping)
        path = f"{self._path(api_version, kind, name, namespace)}{f'/{subresource}' if subresource else ''}"
        body = dict(change) if isinstance(change, Mapping) else [dict(operation) for operation in change]
        query = [("fieldManager", field_manager), *_strict(dry_run=False)]
        return self._written("patch", path, body, query, f"application/{'merge' if merge else 'json'}-patch+json")

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
        """Ask for its end: it may live on for its finalizers and its grace.

        With `uid` only that very object: another one of the same name, made meanwhile, is left alone.

        Raises:
            Refused: it is not there (404), is another one than `uid` (409), or the user may not.
        """
        body: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        self._request("delete", self._path(api_version, kind, name, namespace), body=body)

    def evict(self, pod: str, namespace: str, *, grace_seconds: int | None = None) -> None:
        """Through the Eviction API, as a drain does it: the pod gets DisruptionTarget, budgets are heeded (429)."""
        body: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": namespace},
        }
        if grace_seconds is not None:
            body["deleteOptions"] = {"gracePeriodSeconds": grace_seconds}
        self._request("post", f"{self._path('v1', 'Pod', pod, namespace)}/eviction", body=body)

    def watch(
        self,
        kinds: Iterable[tuple[str, str]],
        since: str,
        namespace: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
    ) -> Watch:
        """Every version of every object of `kinds` (pairs of apiVersion and kind) from the state `since` on.

        `since` is a resource version, of `resource_version()`; "0" gives what is there as ADDED first. `fields` are
        field selectors by kind: an object that leaves its selector comes as DELETED.
        """
        paths = [(kind, self._path(api_version, kind, None, namespace)) for api_version, kind in kinds]
        return Watch(functools.partial(self._request, "get", answer_seconds=None), paths, since, fields=fields or {})

    @staticmethod
    def wait(
        read: Callable[[], T | None],
        what: str,
        within_seconds: float,
        *,
        seen: Callable[[], object] | None = None,
    ) -> T:
        """Poll `read` until it gives something; a refusal while polling counts as nothing yet.

        Raises:
            waiting.NotSeen: with `what`, and what was seen last.
        """
        return waiting.wait(read, what, within_seconds, seen=seen, patient=(Refused,))

    def _list(
        self,
        api_version: str,
        kind: str,
        namespace: str | None,
        query: Query,
        decode: Callable[[bytes], Object] = json.loads,
    ) -> Object:
        path = self._path(api_version, kind, None, namespace)
        return self._json(self._request("get", path, query=[(key, value) for key, value in query if value]), decode)

    def _path_of(self, thing: Mapping[str, Any], *, named: bool) -> str:
        metadata, kind = thing["metadata"], str(thing["kind"])
        namespace, name = metadata.get("namespace"), metadata.get("name")
        resource = self._kinds.get(str(thing["apiVersion"]), kind)
        if resource.namespaced and not namespace:
            raise ValueError(f"{kind} {name or metadata.get('generateName')} lives in a namespace, and names none")
        return str(resource.path(name=name if named else None, namespace=namespace))

    def _path(self, api_version: str, kind: str, name: str | None, namespace: str | None) -> str:
        resource = self._kinds.get(api_version, kind)
        if resource.namespaced and name and not namespace:
            raise ValueError(f"{kind} {name} lives in a namespace, and none is named")
        return str(resource.path(name=name, namespace=namespace))

    def _written(self, method: str, path: str, body: object, query: Query, content: str) -> Applied:
        answer = self._request(method, path, body=body, query=query, content_type=content)
        written = self._json(answer)
        said = (text for header in answer.headers.getlist("Warning") for text in _WARNING.findall(header))
        return Applied(written, tuple(text.replace('\\"', '"') for text in said))

    def _request(  # noqa: PLR0913  # HTTP's own parts
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Iterable[tuple[str, str]] = (),
        content_type: str = "application/json",
        answer_seconds: float | None = TIMEOUT_SECONDS[1],
    ) -> Any:
        """By the client's transport, with its credentials: the layers above that were a third of a call."""
        headers = {**self.api.default_headers, "Accept": "application/json", "Content-Type": content_type}
        asked = urlencode(list(query), quote_via=quote)
        with said():
            self.api.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
            answer = self.api.rest_client.request(
                method,
                f"{self.address}{path}{asked and '?'}{asked}",
                headers=headers,
                body=body,
                _request_timeout=(TIMEOUT_SECONDS[0], answer_seconds),
            ).response
            if not OK <= answer.status < REDIRECTED:
                failed = ApiException(answer.status, answer.reason, body=answer.data)
                failed.headers = answer.headers
                raise failed
            return answer

    @staticmethod
    def _json(answer: Any, decode: Callable[[bytes], Object] = json.loads) -> Object:
        """The body, which is read only now: a connection may still be cut in the middle of it."""
        with said():
            return decode(answer.data)


def _strict(*, dry_run: bool) -> Query:
    return [("fieldValidation", "Strict"), *([("dryRun", "All")] if dry_run else [])]
