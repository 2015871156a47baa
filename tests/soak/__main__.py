"""`make soak`: every case of every move, on several control planes side by side; none is played twice.

python -m tests.soak [--workers 4] [--moves jobset-down rayjob-down] [--sample 40 --seed 7] [--again]
"""

import argparse
import multiprocessing
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from benchmarks.measure import machine
from benchmarks.pages import between
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.rehearsal.tools import find_tools
from tests.conftest import ROOT
from tests.soak.cases import Case, sample
from tests.soak.moves import MOVES
from tests.soak.play import PARTS, Theatre
from tests.soak.results import Results

RESULTS: Final = ROOT / ".soak" / "results.jsonl"
WORKERS: Final = 4


def main() -> int:
    """Play what is left to be played, and write the counts into docs/reliability.md; 1 where anything went wrong."""
    asked = _asked()
    if asked.again:
        asked.results.unlink(missing_ok=True)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    known = Results.read(asked.results)
    unknown = [move for move in asked.moves if move not in known.calls]
    _side_by_side(_rehearse, asked.results, [unknown[i :: asked.workers] for i in range(asked.workers)])
    known = Results.read(asked.results)
    found = known.cases(asked.moves)
    wanted = sample(found, asked.sample, asked.seed) if asked.sample else found
    left = [case for case in wanted if case not in known.of]
    _say(f"{len(found)} cases, {len(wanted)} wanted, {len(wanted) - len(left)} played before")
    _side_by_side(_play, asked.results, [left[i :: asked.workers] for i in range(asked.workers)])
    known = Results.read(asked.results)
    _say(known.text())
    if not asked.sample:
        played = f"{len(known.of)} cases on {machine()}."
        between(ROOT / "docs" / "reliability.md", f"{played}\n\n{known.text()}", "soak")
    return int(any(known.of[case].why for case in wanted))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--moves", nargs="*", default=list(MOVES), choices=list(MOVES))
    parser.add_argument("--sample", type=int, default=0, help="so many cases; all where it is 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="forget what was played before")
    return parser.parse_args()


def _side_by_side(work: "type[object] | object", results: Path, parts: Sequence[Sequence[object]]) -> None:
    busy = [part for part in parts if part]
    with ProcessPoolExecutor(max(len(busy), 1), initializer=_end_with_the_parent) as pool:
        for done in [pool.submit(work, results, part) for part in busy]:  # pyright: ignore[reportArgumentType, reportCallIssue]
            done.result()


def _end_with_the_parent() -> None:
    """A worker whose parent was killed would play on for hours; its control plane ends with it."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _rehearse(results: Path, moves: Sequence[str]) -> None:
    known = Results.read(results)
    with ControlPlane(find_tools(os.environ), PARTS) as plane, Theatre(plane) as theatre:
        for move in moves:
            known.rehearsed(move, theatre.rehearse(move), sorted(set(theatre.proxy.watched)))
            _say(f"{move}: {len(known.calls[move])} calls")


def _play(results: Path, left: Sequence[Case]) -> None:
    known = Results.read(results)
    with ControlPlane(find_tools(os.environ), PARTS) as plane, Theatre(plane) as theatre:
        for case in left:
            result = theatre.play(case)
            known.played(case, result)
            said = result.why.splitlines()[0] if result.why else "" if result.reached else "(not made)"
            _say(f"{case} {result.seconds:.0f} s {said}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
