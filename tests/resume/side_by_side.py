"""Several examples at once, each in a process of its own: a cluster of one waits while the other computes."""

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.resume.proofs import say
from tests.resume.report import Record

LOOK_SECONDS: Final = 0.2
END_SECONDS: Final = 60.0
"""For a process that is told to end to take its cluster away."""


@dataclass(frozen=True)
class Side:
    """One of them, and the file in which it leaves what it found (`--json`)."""

    name: str
    command: Sequence[str]
    found: Path


def side_by_side(sides: Sequence[Side], at_once: int) -> Sequence[Record]:
    """Run all, so many at once, and return what they found, in their order. All are ended where this one is."""
    running: list[subprocess.Popen[bytes]] = []
    waiting = list(sides)
    try:
        while waiting or any(each.poll() is None for each in running):
            while waiting and sum(each.poll() is None for each in running) < at_once:
                side = waiting.pop(0)
                running.append(subprocess.Popen([*side.command, "--json", str(side.found)]))
            time.sleep(LOOK_SECONDS)
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait(END_SECONDS)
    return [_found(side, process.returncode) for side, process in zip(sides, running, strict=True)]


def _found(side: Side, status: int) -> Record:
    if side.found.exists():
        return json.loads(side.found.read_text(encoding="utf-8"))
    wrong = f"{side.name}: the proof itself ended with {status}"
    say(f"WRONG: {wrong}")
    return {"proven": [], "caught": [], "not_run": {}, "wrong": [wrong]}
