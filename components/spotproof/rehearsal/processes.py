"""The processes of a control plane, held by a supervisor that leaves nothing behind when we are killed."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from spotproof.rehearsal import supervisor

ANSWER_SECONDS: Final = 20
"""For the supervisor to start or end a process, on a machine that is busy with something else."""
TAIL_LINES: Final = 15
GO_RUNTIME: Final = ("GOGC", "GOMAXPROCS", "GOMEMLIMIT")
"""Of our own environment these pass on: all that runs here is Go's, and a machine may have memory to spare."""
LINE_CHARACTERS: Final = 400
"""Of a line that is shown: operators log whole objects and stack traces in one."""


class ProcessEnded(Exception):  # noqa: N818  # the name is the sentence
    """A process ended that was to run; the text has the last lines of its log."""


class Processes:
    """What runs below `folder`, which is removed with the last of them; one log a process in `logs`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.logs.mkdir()
        self._pids: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._news = threading.Condition()
        self._orders = threading.Lock()
        with (self.logs / "supervisor.log").open("ab") as log:
            self._supervisor = subprocess.Popen(  # noqa: S603  # our own file, by our own interpreter
                [sys.executable, "-I", "-S", supervisor.__file__, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={},
                start_new_session=True,  # Ctrl-C in the terminal is ours to handle, not theirs
            )
        self._listener = threading.Thread(target=self._listen, name="supervisor", daemon=True)
        self._listener.start()

    def start(self, name: str, argv: Sequence[str], environ: Mapping[str, str]) -> None:
        """Run `argv` as `name` with `environ`, and nothing else of ours in its environment but GO_RUNTIME."""
        with self._news:
            self._pids.pop(name, None)
            self._ended.pop(name, None)
        passed = {each: os.environ[each] for each in GO_RUNTIME if each in os.environ}
        env = {**passed, **environ}
        order = {"argv": list(argv), "env": env, "cwd": str(self.folder), "log": str(self.log(name))}
        self._order({"do": "start", "name": name, **order})
        with self._news:
            self._news.wait_for(lambda: name in self._pids or name in self._ended, ANSWER_SECONDS)

    def end(self, name: str) -> None:
        """Kill it: what it holds is thrown away with the folder, and a polite end takes an API server seconds."""
        self._order({"do": "end", "name": name})
        with self._news:
            self._news.wait_for(lambda: name not in self._pids or name in self._ended, ANSWER_SECONDS)

    def check(self, name: str) -> None:
        """Nothing where the process runs.

        Raises:
            ProcessEnded: it has ended.
        """
        code = self._ended.get(name)
        if code is not None:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            raise ProcessEnded(f"{name} {how}; the end of its log:\n{self.tail(name)}")

    def ended(self, name: str) -> int | None:
        """The code a process ended with, negative for a signal; None while it runs, or was never started."""
        with self._news:
            return self._ended.get(name)

    def log(self, name: str) -> Path:
        """Everything the process prints."""
        return self.logs / f"{name}.log"

    def tail(self, name: str, lines: int = TAIL_LINES) -> str:
        """The last lines of its log, indented and cut."""
        try:
            text = self.log(name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return "  (nothing was logged)"
        told = (f"  {line[:LINE_CHARACTERS]}" for line in text.splitlines()[-lines:])
        return "\n".join(told) or "  (nothing was logged)"

    def pids(self) -> dict[str, int]:
        """The process numbers of what runs now, the supervisor's among them."""
        with self._news:
            running = {name: pid for name, pid in self._pids.items() if name not in self._ended}
        return {"supervisor": self._supervisor.pid, **running}

    def close(self) -> None:
        """End them all and remove the folder."""
        if self._supervisor.stdin is not None:
            self._supervisor.stdin.close()
        try:
            self._supervisor.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:  # stopped, or starved: its children go with it where the kernel can do that
            self._supervisor.kill()
            self._supervisor.wait()
        self._listener.join(ANSWER_SECONDS)
        if self._supervisor.stdout is not None:
            self._supervisor.stdout.close()

    def _order(self, order: Mapping[str, object]) -> None:
        if self._supervisor.stdin is None or self._supervisor.poll() is not None:
            raise ProcessEnded(f"the supervisor ended:\n{self.tail('supervisor')}")
        with self._orders:
            self._supervisor.stdin.write(f"{json.dumps(order)}\n".encode())
            self._supervisor.stdin.flush()

    def _listen(self) -> None:
        for line in self._supervisor.stdout or ():
            message: dict[str, Any] = json.loads(line)
            with self._news:
                if "pid" in message:
                    self._pids[message["name"]] = message["pid"]
                elif message.get("was") == self._pids.get(message["name"]):  # and not one before it of its name
                    self._ended[message["name"]] = message["ended"]
                self._news.notify_all()
