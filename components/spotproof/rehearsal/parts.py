"""What a part of the control plane is: its command line, how it is seen to be ready, and what it needs before."""

import base64
import http.client
import json
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from spotproof.kube.client import Kube
from spotproof.rehearsal.certificates import LOOPBACK, Certificates
from spotproof.rehearsal.dashboard import Dashboard
from spotproof.rehearsal.market import Market
from spotproof.rehearsal.ports import Ports
from spotproof.rehearsal.tools import Tools

ADMINISTRATORS: Final = "system:masters"
"""The group that RBAC refuses nothing."""
PROBE_SECONDS: Final = 2


class NotStarted(Exception):  # noqa: N818  # the name is the sentence
    """A part of the control plane died or was not ready in time; the text has the last lines of its log."""


@dataclass
class Site:
    """Where one control plane lives, and what its parts may know of each other."""

    folder: Path
    tools: Tools
    certificates: Certificates
    ports: Ports
    instance_types: Sequence[Mapping[str, Any]] = ()
    dashboard: Dashboard | None = None
    _kubes: list[Kube] = field(default_factory=list[Kube])
    _users: dict[tuple[str, tuple[str, ...]], Path] = field(default_factory=dict[tuple[str, tuple[str, ...]], Path])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        """The API server's."""
        return f"https://{LOOPBACK}:{self.ports['kube-apiserver']}"

    @cached_property
    def kube(self) -> Kube:
        """The API server as an administrator sees it."""
        return self.kube_of("rehearsal-admin", (ADMINISTRATORS,))

    @cached_property
    def market(self) -> Market:
        """What Karpenter can have of its cloud."""
        return Market(self.folder / "market.json")

    def user(self, name: str, groups: Iterable[str]) -> Path:
        """A folder with `tls.crt`, `tls.key` and `kubeconfig` of a user, made when it is first asked for."""
        key = (name, tuple(groups))
        with self._lock:
            if key not in self._users:
                folder = self.folder / "users" / str(len(self._users))
                folder.mkdir(mode=0o700, parents=True)
                certificate, private = self.certificates.user(*key)
                (folder / "tls.crt").write_bytes(certificate)
                (folder / "tls.key").touch(mode=0o600)
                (folder / "tls.key").write_bytes(private)
                (folder / "kubeconfig").touch(mode=0o600)
                text = json.dumps(_kubeconfig(name, self.address, self.certificates.bundle, certificate, private))
                (folder / "kubeconfig").write_text(text, encoding="utf-8")
                self._users[key] = folder
            return self._users[key]

    def kubeconfig(self, name: str, groups: Iterable[str] = ()) -> Path:
        """The user's kubeconfig, with everything it needs inside."""
        return self.user(name, groups) / "kubeconfig"

    def kube_of(self, name: str, groups: Iterable[str] = ()) -> Kube:
        """The API server as this user sees it."""
        folder = self.user(name, groups)
        kube = Kube(self.address, self.certificates.authority, folder / "tls.crt", folder / "tls.key")
        self._kubes.append(kube)
        return kube

    def close(self) -> None:
        """Give back the connections of every client that was handed out."""
        for kube in self._kubes:
            kube.close()

    def answers(self, port: str, path: str, *, tls: bool = True) -> bool:
        """Whether this server of ours says 200 there."""
        if tls:
            context = ssl.create_default_context(cafile=str(self.certificates.authority))
            connection = http.client.HTTPSConnection(LOOPBACK, self.ports[port], timeout=PROBE_SECONDS, context=context)
        else:
            connection = http.client.HTTPConnection(LOOPBACK, self.ports[port], timeout=PROBE_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


@dataclass(frozen=True)
class Command:
    """A command line, and the whole environment it is run in."""

    argv: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


def nothing(_site: Site) -> None:
    """For a part that needs nothing before or after its start."""


@dataclass(frozen=True)
class Part:
    """One process.

    Args:
        name: of the process, its log and its binary in `make tools`.
        needs: parts that are ready before it is started, those of them that are there.
        ports: the names of its ports, which are renewed where one of them was taken.
        command: how it is run.
        ready: whether it does its work now.
        before: done once before its start: what it watches must be there.
        after: done once it is ready: what makes the API server call it.
    """

    name: str
    needs: tuple[str, ...]
    ports: tuple[str, ...]
    command: Callable[[Site], Command]
    ready: Callable[[Site], bool]
    before: Callable[[Site], None] = nothing
    after: Callable[[Site], None] = nothing


def _kubeconfig(name: str, address: str, authority: bytes, certificate: bytes, key: bytes) -> dict[str, object]:
    def inline(pem: bytes) -> str:
        return base64.b64encode(pem).decode()

    cluster = {"server": address, "certificate-authority-data": inline(authority)}
    user = {"client-certificate-data": inline(certificate), "client-key-data": inline(key)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "rehearsal", "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "rehearsal", "context": {"cluster": "rehearsal", "user": name}}],
        "current-context": "rehearsal",
    }
