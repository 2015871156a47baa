"""A thin typed client over kubernetes.dynamic: objects are plain mappings, warnings are part of the answer."""

import contextlib
import functools
import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.resource import Resource
from urllib3.exceptions import HTTPError

from spotproof.kube import waiting
from spotproof.kube.watching import Watch

T = TypeVar("T")
Object: TypeAlias = dict[str, Any]
Objects: TypeAlias = list[Object]
Query: TypeAlias = list[tuple[str, str]]

TIMEOUT_SECONDS: Final = (5.0, 60.0)
"""To connect, and for an answer: webhooks are given 10 s, and a busy machine its time."""
CONNECTIONS: Final = 32
_WARNING: Final = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class Refused(Exception):  # noqa: N818  # the name is the sentence
    """The API server said no: the HTTP status, its reason (`Invalid`, `Forbidden`, ...) and its message."""

    def __init__(self, status: int, message: str, reason: str = "") -> None:
        super().__init__(status, message, reason)
        self.status = status
        self.message = message
        self.reason = reason

    def __str__(self) -> str:
        """The status and the message, which names what was refused."""
        return f"{self.status}: {self.message}"


class Unreachable(Exception):  # noqa: N818  # the name is the sentence
    """The API server did not answer, or not as the one it should be."""


class Applied(NamedTuple):
    """An object as the API server has it now, and what it warned of."""

    object: Object
    warnings: tuple[str, ...]


class Kube:
    """The API server as one user sees it."""

    def __init__(self, address: str, authority: Path, certificate: Path, key: Path) -> None:
        self.address = address
        settings = Configuration()
        settings.host = address
        settings.ssl_ca_cert = str(authority)
        settings.cert_file = str(certificate)
        settings.key_file = str(key)
        settings.connection_pool_maxsize = CONNECTIONS
        settings.proxy = None  # read from the environment otherwise; the server is on this machine
        self._api = ApiClient(settings)
        self._client = DynamicClient(self._api, discoverer=_Kinds)
        self._kinds = _Kinds(self._client, None)

    def close(self) -> None:
        """Give the connections back."""
        self._api.rest_client.close()

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
        since: str = "0",
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

    def _list(self, api_version: str, kind: str, namespace: str | None, query: Query) -> Object:
        path = self._path(api_version, kind, None, namespace)
        return self._json(self._request("get", path, query=[(key, value) for key, value in query if value]))

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
        said = (text for header in answer.headers.getlist("Warning") for text in _WARNING.findall(header))
        return Applied(self._json(answer), tuple(text.replace('\\"', '"') for text in said))

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
        with _said():
            return self._client.request(
                method,
                path,
                body=body,
                query_params=list(query),
                content_type=content_type,
                serialize=False,
                _request_timeout=(TIMEOUT_SECONDS[0], answer_seconds),
            )

    @staticmethod
    def _json(answer: Any) -> Object:
        return json.loads(answer.data)


class _Kinds:
    """Which path a kind has: asked of the server a group version at a time, and again for what is not known yet.

    The client's own discoverers write a cache into the machine's temporary folder, named by host and port: another
    control plane that gets the same port later would be taken for this one.
    """

    def __init__(self, client: DynamicClient, _cache_file: object) -> None:
        self._client = client
        self._known: dict[tuple[str, str], Resource] = {}

    def get(self, api_version: str, kind: str) -> Resource:
        if (api_version, kind) not in self._known:
            self._ask(api_version)
        try:
            return self._known[api_version, kind]
        except KeyError:
            raise Refused(404, f"the server has no kind {kind} in {api_version}", "NotFound") from None

    def _ask(self, api_version: str) -> None:
        group, _, version = api_version.rpartition("/")
        prefix = "apis" if group else "api"
        with _said():
            answer = self._client.request("get", f"/{prefix}/{api_version}", serialize=False)
        for found in json.loads(answer.data)["resources"]:
            if "/" not in found["name"]:
                self._known[api_version, found["kind"]] = Resource(
                    prefix=prefix,
                    group=group,
                    api_version=version,
                    kind=found["kind"],
                    namespaced=found["namespaced"],
                    name=found["name"],
                    client=self._client,
                )


def _strict(*, dry_run: bool) -> Query:
    return [("fieldValidation", "Strict"), *([("dryRun", "All")] if dry_run else [])]


@contextlib.contextmanager
def _said() -> Generator[None]:
    try:
        yield
    except ApiException as error:
        raise _refused(error) from error
    except HTTPError as error:
        raise Unreachable(f"the API server did not answer: {error}") from error


def _refused(error: ApiException) -> Refused:
    body = error.body.decode("utf-8", "replace") if isinstance(error.body, bytes) else str(error.body or "")
    try:
        status = json.loads(body)
    except ValueError:
        status = {}
    message, reason = status.get("message") or body or str(error.reason), status.get("reason") or ""
    return Refused(int(error.status or 0), str(message), str(reason))
