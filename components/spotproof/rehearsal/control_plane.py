"""A control plane that is there for as long as a `with` block: real Kubernetes, on this machine's loopback address."""

import concurrent.futures
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from enum import Flag, auto
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from spotproof.kube.client import Kube, Refused, Unreachable
from spotproof.kube.waiting import NotSeen, wait
from spotproof.rehearsal.certificates import Certificates
from spotproof.rehearsal.controller import CONTROLLER
from spotproof.rehearsal.core import CORE
from spotproof.rehearsal.dashboard import Dashboard
from spotproof.rehearsal.market import Market
from spotproof.rehearsal.operators import JOBSET, KARPENTER, KUBERAY
from spotproof.rehearsal.parts import Command, NotStarted, Part, Site
from spotproof.rehearsal.ports import TAKEN, Ports
from spotproof.rehearsal.processes import ProcessEnded, Processes
from spotproof.rehearsal.tools import Tools

__all__ = ["OPERATORS", "ControlPlane", "NotStarted", "Parts"]

READY_SECONDS: Final = 120
"""For one part. Warm they all take under 10 s together; cold, on a machine busy with other builds, ten times that."""
PORT_TRIES: Final = 5


class Parts(Flag):
    """What runs beside Kubernetes itself."""

    CORE = 0
    JOBSET = auto()
    KUBERAY = auto()
    KARPENTER = auto()
    ALL = JOBSET | KUBERAY | KARPENTER
    CONTROLLER = auto()
    """Ours, in no sum of the others: what operators do by themselves is seen without it."""


OPERATORS: Final[Mapping[Parts, Part]] = {
    Parts.JOBSET: JOBSET,
    Parts.KUBERAY: KUBERAY,
    Parts.KARPENTER: KARPENTER,
    Parts.CONTROLLER: CONTROLLER,
}
"""In the order in which they are started: a part stands after those it needs."""


class ControlPlane:
    """A control plane, from `with` to its end.

    Args:
        tools: what `make tools` built.
        parts: what runs beside Kubernetes itself.
        instance_types: what Karpenter can make, as the JSON of its kwok provider; its own 144 where there are none.
        dashboard: answers KubeRay in place of Ray; one of its own where none is given, closed with it.
        keep_logs: a folder into which the logs go where the block ends by an exception or nothing could be started.

    Raises:
        NotStarted: on entry; nothing is left running.
    """

    def __init__(
        self,
        tools: Tools,
        parts: Parts = Parts.CORE,
        *,
        instance_types: Sequence[Mapping[str, Any]] = (),
        dashboard: Dashboard | None = None,
        keep_logs: Path | None = None,
    ) -> None:
        self.parts = parts
        self.ready_seconds: dict[str, float] = {}
        """Of every part, from the start of the first to its own readiness."""
        self._tools = tools
        self._instance_types = instance_types
        self._dashboard = dashboard
        self._keep_logs = keep_logs
        self._given_up = threading.Event()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Start it all; when this returns every part does its work."""
        with ExitStack() as stack:
            # resolved, since macOS' is a link and etcd's sockets are named by it
            self.folder = Path(tempfile.mkdtemp(prefix="spotproof-")).resolve()
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._processes = Processes(self.folder)
            stack.callback(self._processes.close)
            if Parts.KUBERAY in self.parts and self._dashboard is None:
                self._dashboard = stack.enter_context(Dashboard())
            self.site = Site(
                self.folder,
                self._tools,
                Certificates(self.folder / "certificates"),
                Ports(random.SystemRandom()),
                self._instance_types,
                self._dashboard,
            )
            stack.callback(self.site.close)
            stack.push(self._logs_kept)
            self._start()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it all; neither a process nor a port nor a file is left."""
        self._stack.__exit__(kind, error, trace)

    @property
    def address(self) -> str:
        """The API server's."""
        return self.site.address

    @property
    def kube(self) -> Kube:
        """The API server as an administrator sees it."""
        return self.site.kube

    @property
    def kubeconfig(self) -> Path:
        """An administrator's."""
        return self.site.kubeconfig("rehearsal-admin", ("system:masters",))

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self._processes.logs

    @property
    def market(self) -> Market:
        """What Karpenter can have of its cloud."""
        return self.site.market

    @property
    def dashboard(self) -> Dashboard:
        """What KubeRay is told of its jobs.

        Raises:
            ValueError: KubeRay is not one of the parts.
        """
        if self._dashboard is None:
            raise ValueError("this control plane was started without Parts.KUBERAY, so it has no dashboard")
        return self._dashboard

    def as_user(self, name: str, groups: Iterable[str] = ()) -> Kube:
        """The API server as this user sees it, with a client certificate made now."""
        return self.site.kube_of(name, groups)

    def kubeconfig_for(self, name: str, groups: Iterable[str] = ()) -> Path:
        """A kubeconfig of this user, that needs no other file; it is gone with the control plane."""
        return self.site.kubeconfig(name, groups)

    def pids(self) -> dict[str, int]:
        """The process numbers of what runs now."""
        return self._processes.pids()

    def run(self, name: str, command: Command) -> None:
        """Run something of one's own beside the parts; its log is among theirs, and it ends with them at the latest."""
        self._processes.start(name, command.argv, command.environ)

    def kill(self, name: str) -> None:
        """End it as nobody can prevent it (SIGKILL)."""
        self._processes.end(name)

    def ended(self, name: str) -> int | None:
        """The code it ended with, negative for a signal; None while it runs, or was never started."""
        return self._processes.ended(name)

    def tail(self, name: str, lines: int = 15) -> str:
        """The last lines of a part's log."""
        return self._processes.tail(name, lines)

    def check(self) -> None:
        """Nothing where every part runs.

        Raises:
            ProcessEnded: one of them has ended.
        """
        for part in self._table():
            self._processes.check(part.name)

    def save_logs(self, into: Path) -> Path:
        """Copy the logs as they are now into a folder that stays."""
        return shutil.copytree(self.logs, into, dirs_exist_ok=True)

    def _table(self) -> Iterator[Part]:
        yield from CORE
        yield from (part for which, part in OPERATORS.items() if which in self.parts)

    def _start(self) -> None:
        started, futures = time.monotonic(), dict[str, Future[None]]()
        table = list(self._table())
        with ThreadPoolExecutor(len(table), thread_name_prefix="start") as pool:
            try:
                for part in table:  # a part stands after those it needs, and each has a thread
                    needed = [futures[name] for name in part.needs if name in futures]
                    futures[part.name] = pool.submit(self._bring_up, part, needed, started)
                for future in concurrent.futures.wait(futures.values(), return_when="FIRST_EXCEPTION").done:
                    future.result()
                self._all_run()
            except BaseException:  # one that failed, or Ctrl-C: the others need not come up any more
                self._given_up.set()
                raise

    def _all_run(self) -> None:
        """Seen once more: somebody else's server on a port may have answered for a part that could not have it."""
        try:
            self.check()
        except ProcessEnded as ended:
            raise NotStarted(str(ended)) from ended

    def _bring_up(self, part: Part, needed: Iterable[Future[None]], started: float) -> None:
        for future in needed:
            future.result()
        try:
            part.before(self.site)
            self._run(part)
            part.after(self.site)
        except (NotSeen, ProcessEnded, Refused, Unreachable) as error:
            raise NotStarted(self._why(part, error)) from error
        self.ready_seconds[part.name] = time.monotonic() - started

    def _run(self, part: Part) -> None:
        """Start it and see it ready, on other ports where one of its own was taken meanwhile."""
        for tries_left in reversed(range(PORT_TRIES)):
            command = part.command(self.site)
            self._processes.start(part.name, command.argv, command.environ)
            try:
                wait(lambda: self._ready(part), f"{part.name} to be ready", READY_SECONDS, patient=(Refused,))
            except ProcessEnded:
                log = self._processes.log(part.name)
                if not tries_left or TAKEN not in log.read_text(encoding="utf-8", errors="replace"):
                    raise
                log.unlink()
                self.site.ports.renew(*part.ports)
            else:
                return

    def _why(self, part: Part, error: Exception) -> str:
        """A part that ended explains what others see of it."""
        try:
            self.check()
        except ProcessEnded as ended:
            return str(ended)
        return f"{part.name} did not start: {error}; the end of its log:\n{self._processes.tail(part.name)}"

    def _ready(self, part: Part) -> bool:
        self._processes.check(part.name)
        if self._given_up.is_set():
            raise NotStarted(f"{part.name} was given up with the others")
        return part.ready(self.site)

    def _logs_kept(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._keep_logs is not None:
            self.save_logs(self._keep_logs)
