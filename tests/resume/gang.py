"""Runs a job of several processes as its operator does: one is lost, all end, and all start again with attempt + 1.

This is JobSet's way. An example whose operator has another one has a class of its own beside this, which replaces
`commands` and `victims`.
"""

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.resume.example import Example, Found
from tests.resume.kills import Kill
from tests.resume.store import Store, free_port

SECONDS_OF_SILENCE: Final = 180
"""A gang that says nothing for so long and does not end is one that hangs."""
SECONDS_WITHOUT_ONE: Final = 20
"""The same, once a process of it is complete: the others wait for it in a collective."""
SECONDS_TO_READ: Final = 2
MOST_FAILURES: Final = 2
"""Attempts that nobody killed and that failed by themselves."""


@dataclass
class Attempt:
    """What was seen of one."""

    number: int
    before: Sequence[Found]
    """What lay in the store when it started."""
    kill: Kill | None
    """What was planned for it."""
    started: float = field(default_factory=time.monotonic)
    lines: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """What rank 0 printed, and when."""
    killed: float | None = None
    """When it was killed; None where it ended before."""
    victim: int = 0
    statuses: dict[int, int] = field(default_factory=dict[int, int])
    """What each process left with; a signal is negative."""
    hangs: bool = False
    errors: str = ""
    """The end of what its processes wrote to stderr."""


@dataclass
class Played:
    """A whole run."""

    example: Example
    attempts: list[Attempt]
    after: Sequence[Found]
    """What lay in the store at the end."""
    writes: int
    written: int
    """Bytes."""


class Gang:
    """One run of an example.

    Args:
        example: Which.
        python: Of the example's environment.
        store: Where it saves.
        scratch: A folder for what its processes say.
        program: The folder of train.py; the example's own unless a fault was planted into a copy.
    """

    def __init__(
        self, example: Example, python: Path, store: Store, scratch: Path, program: Path | None = None
    ) -> None:
        self.example, self.python, self.store = example, python, store
        self.scratch, self.program = scratch, program or example.folder
        scratch.mkdir(parents=True, exist_ok=True)
        self._events: queue.Queue[tuple[str, Any]] = queue.Queue()

    def run(self, kills: Sequence[Kill]) -> Played:
        """All of it: an attempt for each kill, and one that is left alone."""
        attempts: list[Attempt] = []
        left, failures = list(kills), 0
        while failures < MOST_FAILURES:
            attempt = self._attempt(len(attempts), left[0] if left else None)
            attempts.append(attempt)
            if attempt.killed is not None:
                left.pop(0)
            elif any(attempt.statuses.values()):
                failures += 1
            if attempt.hangs or not any(attempt.statuses.values()):
                break
        return Played(self.example, attempts, self._found(), self.store.writes, self.store.written)

    def commands(self, attempt: int) -> Sequence[tuple[Sequence[str], Mapping[str, str]]]:
        """What each process runs, and the variables it is told."""
        port = free_port()
        words = [str(self.python), str(self.program / "train.py"), *self.example.arguments(port)]
        return [(words, self.told(attempt, index)) for index in range(self.example.processes)]

    def told(self, attempt: int, index: int) -> Mapping[str, str]:
        """The variables of a rendered pod, and of its image."""
        return {
            **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
            "TMPDIR": str(self.scratch),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "CHECKPOINT_URI": self.store.uri,
            "SPOTPROOF_RUN": "proof",
            "SPOTPROOF_ATTEMPT": f"{attempt}",
            "SPOTPROOF_COORDINATOR": "localhost",
            "SPOTPROOF_PODS": f"{self.example.processes}",
            "SPOTPROOF_CHECKPOINT_SECONDS": "900",
            "SPOTPROOF_NOTICE_SECONDS": f"{self.example.notice_seconds}",
            "JOB_COMPLETION_INDEX": f"{index}",
            **self.store.variables,
            **self.example.variables,
        }

    def victims(self, processes: Sequence["subprocess.Popen[str]"]) -> Sequence[int]:
        """Process ids of which a kill takes one."""
        return [process.pid for process in processes]

    def _attempt(self, number: int, kill: Kill | None) -> Attempt:
        attempt = Attempt(number, self._found(), kill)
        self._events = queue.Queue()
        if kill and _from_the_start(kill):
            self._arm(kill)
        processes = [self._start(attempt, index, *each) for index, each in enumerate(self.commands(number))]
        try:
            self._follow(attempt, processes)
        finally:
            self.store.release()
            for process in processes:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        attempt.errors = self._errors(number)
        return attempt

    def _start(
        self, attempt: Attempt, index: int, words: Sequence[str], variables: Mapping[str, str]
    ) -> "subprocess.Popen[str]":
        with self._log(attempt.number, index).open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                words,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if index == 0 else log,
                stderr=log,
                text=True,
                cwd=self.scratch,
                start_new_session=True,  # what it starts itself goes with it, as in a pod
            )
        threading.Thread(target=self._watch, args=(index, process), daemon=True).start()
        return process

    def _watch(self, index: int, process: "subprocess.Popen[str]") -> None:
        reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        reader.start()
        status = process.wait()
        reader.join(SECONDS_TO_READ)  # something it started may still hold its output
        self._events.put(("exit", (index, status)))

    def _read(self, process: "subprocess.Popen[str]") -> None:
        if process.stdout:
            with process.stdout:
                for line in process.stdout:
                    self._events.put(("line", (time.monotonic(), line.rstrip("\n"))))

    def _follow(self, attempt: Attempt, processes: Sequence["subprocess.Popen[str]"]) -> None:
        deadlines: dict[int, float] = {}
        armed = attempt.kill is not None and _from_the_start(attempt.kill)
        while len(attempt.statuses) < len(processes):
            try:
                event, value = self._events.get(timeout=_patience(attempt, deadlines))
            except queue.Empty:
                if not deadlines:
                    attempt.hangs = True
                    return
                for index in _over(deadlines):
                    os.killpg(processes[index].pid, signal.SIGKILL)
                    del deadlines[index]
                continue
            if event == "line":
                attempt.lines.append(value)
            elif event == "exit":
                self._ended(attempt, processes, deadlines, *value)
            kill = attempt.kill
            if not kill or attempt.killed is not None or attempt.statuses:
                continue
            if kill.moment == "save" and not armed and _at(kill, attempt.lines):
                armed = True
                self._arm(kill)
            elif event == "write" or (kill.moment != "save" and _at(kill, attempt.lines)):
                self._kill(attempt, kill, processes, deadlines)

    def _arm(self, kill: Kill) -> None:
        """Have the store say when the write begins that the kill is for, and stop it there where it can."""
        events = self._events
        self.store.watch(kill.write, lambda: events.put(("write", None)), kill.to)

    def _kill(
        self, attempt: Attempt, kill: Kill, processes: Sequence["subprocess.Popen[str]"], deadlines: dict[int, float]
    ) -> None:
        """Reclaim one node."""
        victims = self.victims(processes)
        attempt.victim = kill.process % len(victims)
        attempt.killed = time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(victims[attempt.victim], signal.SIGTERM if kill.told else signal.SIGKILL)
        if kill.told and attempt.victim < len(processes):
            deadlines[attempt.victim] = attempt.killed + self.example.notice_seconds
        self.store.release()

    def _ended(
        self,
        attempt: Attempt,
        processes: Sequence["subprocess.Popen[str]"],
        deadlines: dict[int, float],
        index: int,
        status: int,
    ) -> None:
        """One is gone. With a status that is not zero the gang has failed: the others are told to end, once."""
        first = not any(attempt.statuses.values())
        attempt.statuses[index] = status
        deadlines.pop(index, None)
        if status and first:
            for other, process in enumerate(processes):
                if other not in attempt.statuses:
                    process.terminate()
                    deadlines[other] = time.monotonic() + self.example.notice_seconds

    def _found(self) -> Sequence[Found]:
        return self.example.find(self.store)

    def _log(self, attempt: int, index: int) -> Path:
        return self.scratch / f"attempt-{attempt}-process-{index}.log"

    def _errors(self, attempt: int) -> str:
        logs = [self._log(attempt, index) for index in range(self.example.processes)]
        return "\n".join(log.read_text(encoding="utf-8", errors="replace")[-1500:] for log in logs if log.exists())


def _from_the_start(kill: Kill) -> bool:
    return kill.moment == "save" and not kill.step


def _at(kill: Kill, lines: Sequence[tuple[float, str]]) -> bool:
    """Whether the program has come as far as the plan has it."""
    if not lines:
        return False
    words = lines[-1][1].split()
    if kill.moment == "resume":
        return words[:1] in (["starting"], ["resumed"])
    return len(words) > 1 and words[0] == "step" and int(words[1]) >= kill.step


def _patience(attempt: Attempt, deadlines: Mapping[int, float]) -> float:
    """Seconds to wait for the next event."""
    if deadlines:
        return max(min(deadlines.values()) - time.monotonic(), 0)
    return SECONDS_WITHOUT_ONE if attempt.statuses else SECONDS_OF_SILENCE


def _over(deadlines: Mapping[int, float]) -> Sequence[int]:
    now = time.monotonic()
    return [index for index, deadline in deadlines.items() if deadline <= now]
