"""The cluster of a kubeconfig: found by its context, with a login that works, or one sentence with what helps."""

import logging
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from kubernetes import config
from kubernetes.config.config_exception import ConfigException
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from spotproof.kube.access import NoAccess
from spotproof.kube.client import Kube
from spotproof.kube.watching import Change
from spotproof.status.reading import Object, mappings, text

LOGINS: Final = {
    "aws": "aws sso login",
    "gke-gcloud-auth-plugin": "gcloud auth login",
    "kubelogin": "az login",
    "az": "az login",
    "tsh": "tsh login",
}
"""Program of a kubeconfig's user -> what renews its login."""
AGAIN: Final = "log in again as you did for this kubeconfig"


class NotSeen(Exception):  # noqa: N818  # the name is the sentence
    """The cluster cannot be looked at; `used_wrongly` where it was not found by what was given."""

    def __init__(self, sentence: str, *, used_wrongly: bool = False) -> None:
        super().__init__(sentence)
        self.used_wrongly = used_wrongly


class Watching(Protocol):
    """A stream of changes. `kube.watching.Watch` fits."""

    def next(self, within_seconds: float | None = None) -> Change | None:
        """The next change; None where none came in time."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Reads(Protocol):
    """What is asked of an API server. `kube.client.Kube` fits."""

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """All objects of a kind."""
        ...

    def watch(
        self,
        kinds: Sequence[tuple[str, str]],
        since: str = "0",
        namespace: str | None = None,
        *,
        fields: dict[str, str] | None = None,
    ) -> Watching:
        """Every version of every object from `since` on; `0` begins with what is there."""
        ...


class Cluster(NamedTuple):
    """An API server, the kubeconfig's context it was found by, the context's namespace, and what renews the login."""

    kube: Reads
    context: str
    namespace: str
    login: str


def connect(kubeconfig: Path | None, context: str | None) -> Cluster:
    """The cluster of a kubeconfig's context; of the file's current one where none is named.

    Raises:
        NotSeen: no such file or context, or its login does not work.
    """
    file = None if kubeconfig is None else str(kubeconfig)
    chosen = _context(file, context)
    name = chosen["name"]
    login = _login(file, chosen["context"].get("user", ""))
    with _logged() as said:
        try:
            kube = Kube.of_kubeconfig(kubeconfig, name)
        except NoAccess as error:
            why = said[0] if said else str(error)
            raise NotSeen(f"context {name} cannot be used ({why}); {login}, then try again") from error
    return Cluster(kube, name, chosen["context"].get("namespace") or "default", login)


def _context(file: str | None, wanted: str | None) -> dict[str, Any]:
    where = file or "the usual place (KUBECONFIG, ~/.kube/config)"
    contexts: Any
    try:
        contexts, current = config.list_kube_config_contexts(file)
    except (ConfigException, OSError, YAMLError) as error:
        raise NotSeen(
            f"no kubeconfig in {where}; name one with --kubeconfig, or have the cloud write it: `aws eks "
            "update-kubeconfig --name CLUSTER`, `az aks get-credentials`, `gcloud container clusters get-credentials`",
            used_wrongly=True,
        ) from error
    found: dict[str, Any] = {each["name"]: each for each in contexts}
    chosen = current if wanted is None else found.get(wanted)
    if chosen is None:
        none = "no context is chosen" if wanted is None else f"there is no context {wanted}"
        raise NotSeen(f"{none} in {where}; write --context with one of {', '.join(found)}", used_wrongly=True)
    return chosen


def _login(file: str | None, user: str) -> str:
    """What renews the login, by the program that the kubeconfig asks for one."""
    for path in (file or config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION).split(os.pathsep):
        with suppress(OSError, YAMLError):
            users = YAML(typ="safe").load(Path(path).expanduser())
            for each in mappings(users, "users"):
                if text(each, "name") == user:
                    program = Path(text(each, "user", "exec", "command")).name
                    return f"log in again by `{LOGINS[program]}`" if program in LOGINS else AGAIN
    return AGAIN


@contextmanager
def _logged() -> Generator[list[str]]:
    """What the client logs while it reads a login, which it does in place of raising."""
    said: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    kept, root = Kept(logging.ERROR), logging.getLogger()
    root.addHandler(kept)
    try:
        yield said
    finally:
        root.removeHandler(kept)
