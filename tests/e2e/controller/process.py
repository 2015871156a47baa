"""The controller as it is run in a cluster, as a process: started, killed, told to stop, in several replicas."""

import json
import os
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

from spotproof.kube.waiting import wait
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.rehearsal.parts import Command
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.installed import USER

START_SECONDS: Final = 60
STOP_SECONDS: Final = 30
ALONE: Final = ("--no-leader-election",)
ENVIRON: Final[Mapping[str, str]] = {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
"""What it has said is in its log whenever it dies, and of SIGABRT it dies saying where each of its threads is."""
LAST_WORDS_LINES: Final = 500


class Controller:
    """One replica. Its log is among those of the control plane, whatever becomes of it.

    Args:
        plane: Where the controller is installed.
        name: Of the process, its log and its port.
        through: The proxy that it asks through; the API server itself where there is none.
        arguments: Of the command, beside kubeconfig and address. By default it is the only replica.
    """

    def __init__(
        self,
        plane: ControlPlane,
        name: str = "controller",
        *,
        through: FaultProxy | None = None,
        arguments: Sequence[str] = ALONE,
    ) -> None:
        self.name = name
        self._plane = plane
        self._through = through
        self._arguments = arguments

    def __enter__(self) -> Self:
        """Run it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it no more."""
        self.kill()

    def start(self, *, until_ready: bool = True) -> None:
        """Run it; when this returns it has seen everything there is, and acts."""
        listen = f"127.0.0.1:{self._plane.site.ports[self.name]}"
        arguments = ("--kubeconfig", str(self._kubeconfig()), "--listen", listen, *self._arguments)
        command = Command((sys.executable, "-m", "spotproof.controller", *arguments), ENVIRON)
        self._plane.run(self.name, command)
        if until_ready:
            self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until it says that it has seen everything there is."""
        wait(self._is_ready, f"{self.name} to be ready", START_SECONDS, seen=self.tail)

    def kill(self) -> None:
        """As a node that fails does it."""
        self._plane.kill(self.name)

    def stop(self) -> int:
        """As a rolling update does it: told by SIGTERM. Returns its exit code."""
        os.kill(self._plane.pids()[self.name], signal.SIGTERM)
        wait(lambda: self._plane.ended(self.name) is not None, f"the end of {self.name}", STOP_SECONDS, seen=self.tail)
        return self._plane.ended(self.name) or 0

    def restart(self) -> None:
        """Kill it, and run it again."""
        self.kill()
        self.start()

    def tail(self) -> str:
        """The end of its log."""
        return self._plane.tail(self.name, 30)

    def last_words(self) -> str:
        """Where each thread of its processes is, for which it ends; after that, or before, the end of its log."""
        code = self._plane.ended(self.name)
        if self.is_running:
            self._abort(self._plane.pids()[self.name])
        said = "ran until it was asked where it is" if code is None else f"had ended with {code}"
        return f"{self.name} {said}:\n{self._plane.tail(self.name, LAST_WORDS_LINES)}"

    def _abort(self, pid: int) -> None:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        watching = children.read_text(encoding="ascii").split() if children.exists() else ()
        # the one that decides is asked first: it ends when the other one does, and that one a moment after it
        for each in (pid, *map(int, watching)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGABRT)
        wait(lambda: self._plane.ended(self.name) is not None, f"the end of {self.name}", STOP_SECONDS, seen=self.tail)

    @property
    def is_running(self) -> bool:
        """Whether it is there."""
        return self.name in self._plane.pids()

    def _is_ready(self) -> bool:
        code = self._plane.ended(self.name)
        assert code is None, f"{self.name} ended with {code}:\n{self.tail()}"
        return self._plane.site.answers(self.name, "/readyz", tls=False)

    def _kubeconfig(self) -> Path:
        """Its user's; with the proxy's address where it asks through one."""
        own = self._plane.site.kubeconfig(USER)
        if self._through is None:
            return own
        config: Any = json.loads(own.read_text(encoding="utf-8"))
        config["clusters"][0]["cluster"]["server"] = self._through.address
        path = own.with_name(f"{self.name}.kubeconfig")
        path.touch(mode=0o600)
        path.write_text(json.dumps(config), encoding="utf-8")
        return path


@contextmanager
def fault_proxy(plane: ControlPlane) -> Generator[FaultProxy]:
    """A proxy in front of a control plane, for the controller's user alone."""
    folder = plane.site.user(USER, ())
    server = plane.site.certificates.server("fault-proxy")
    with FaultProxy(
        plane.address, authority=plane.site.certificates.authority, server=server, client=folder, user=USER
    ) as proxy:
        yield proxy
