"""Which path a kind of object has."""

import json
from typing import Any

from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.resource import Resource

from spotproof.kube.errors import Refused, said


class Kinds:
    """Which path a kind has: asked of the server a group version at a time, and again for what is not known yet.

    The client's own discoverers write a cache into the machine's temporary folder, named by host and port: another
    control plane that gets the same port later would be taken for this one.
    """

    def __init__(self, client: DynamicClient, _cache_file: object) -> None:
        self._client = client
        self._known: dict[tuple[str, str], Resource] = {}

    def get(self, api_version: str, kind: str) -> Resource:
        """The kind's path.

        Raises:
            Refused: the server has no such kind (404), so far.
        """
        if (api_version, kind) not in self._known:
            self._ask(api_version)
        try:
            return self._known[api_version, kind]
        except KeyError:
            raise Refused(404, f"the server has no kind {kind} in {api_version}", "NotFound") from None

    def _ask(self, api_version: str) -> None:
        group, _, version = api_version.rpartition("/")
        prefix = "apis" if group else "api"
        with said():
            answer = self._client.request("get", f"/{prefix}/{api_version}", serialize=False)
            resources = _listed(json.loads(answer.data))
        for found in resources:
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


def _listed(answer: Any) -> list[dict[str, Any]]:
    if not isinstance(answer, dict) or not isinstance(answer.get("resources"), list):
        raise ValueError("it lists no resources")  # noqa: TRY004  # what JSON that is none raises too
    return answer["resources"]
