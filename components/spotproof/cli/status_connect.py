"""The cluster of a kubeconfig: found by its context, with a login that works, or one sentence with what helps."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from spotproof.kube.client import Kube
from spotproof.kube.kubeconfig import Chosen, NoAccess, NoLogin, choose, program_of
from spotproof.kube.watching import Change
from spotproof.status.reading import Object

LOGINS: Final = {
    "aws": "aws sso login",
    "gke-gcloud-auth-plugin": "gcloud auth login",
    "kubelogin": "az login",
    "az": "az login",
    "tsh": "tsh login",
}
"""Program of a kubeconfig's user -> what renews its login."""
MOST: Final = 300
"""Of a plugin's own words, which may be a page."""
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
        since: str,
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
        NotSeen: no such file or context, what it names is not there, or its login does not work.
    """
    try:
        chosen = choose(kubeconfig, context)
    except NoAccess as error:
        raise NotSeen(str(error), used_wrongly=True) from error
    login = _login(chosen)
    with _logged() as said:
        try:
            kube = Kube.of_kubeconfig(kubeconfig, chosen.context)
        except NoLogin as error:
            why = f": {' '.join(said[0].split())[:MOST]}" if said else ""
            raise NotSeen(f"{error}{why}; {login}, then try again") from error
        except NoAccess as error:
            raise NotSeen(str(error), used_wrongly=True) from error
        return Cluster(kube, chosen.context, chosen.namespace, login)


def _login(chosen: Chosen) -> str:
    """What renews the login, by the program that the kubeconfig asks for one."""
    program = Path(program_of(chosen.user)).name
    return f"log in again by `{LOGINS[program]}`" if program in LOGINS else AGAIN


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
