"""`make soak`: every case of every move, on several control planes side by side; none of one code is played twice.

python -m tests.soak [--workers 4] [--moves jobset-down rayjob-down] [--sample 40 --seed 7] [--again]
"""

import argparse
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import machine
from benchmarks.pages import between
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.rehearsal.tools import find_tools
from tests.conftest import ROOT
from tests.soak.cases import Case, sample
from tests.soak.code import Changed, digest
from tests.soak.moves import MOVES
from tests.soak.play import PARTS, Theatre
from tests.soak.results import Results

RESULTS: Final = ROOT / ".soak" / "results.jsonl"
WORKERS: Final = 4

Work = Callable[[Path, str, Sequence[Any]], None]


def main() -> int:
    """Play what is left to be played, and write the counts into docs/reliability.md; 1 where anything went wrong."""
    asked, code = _asked(), digest()
    if asked.again:
        asked.results.unlink(missing_ok=True)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    known = Results.read(asked.results, code)
    unknown = [move for move in asked.moves if move not in known.calls]
    _side_by_side(_rehearse, known, [unknown[i :: asked.workers] for i in range(asked.workers)])
    known = Results.read(asked.results, code)
    found = known.cases(asked.moves)
    wanted = sample(found, asked.sample, asked.seed) if asked.sample else found
    left = known.left(wanted)
    drawn = f" (seed {asked.seed})" if asked.sample else ""
    _say(f"code {code}: {len(found)} cases, {len(wanted)} wanted{drawn}, {len(wanted) - len(left)} played before")
    _side_by_side(_play, known, [left[i :: asked.workers] for i in range(asked.workers)])
    known = Results.read(asked.results, code)
    _say(known.text())
    if not asked.sample:
        played = f"{len(known.of)} cases of code {code} on {machine()}."
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


def _side_by_side(work: Work, known: Results, parts: Sequence[Sequence[Any]]) -> None:
    busy = [part for part in parts if part]
    with ProcessPoolExecutor(max(len(busy), 1), initializer=_end_with_the_parent) as pool:
        for done in [pool.submit(work, known.path, known.code, part) for part in busy]:
            done.result()


def _end_with_the_parent() -> None:
    """A worker whose parent was killed would play on for hours; its control plane ends with it."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _rehearse(path: Path, code: str, moves: Sequence[str]) -> None:
    known = Results.read(path, code)
    with ControlPlane(find_tools(os.environ), PARTS) as plane, Theatre(plane) as theatre:
        for move in moves:
            calls = theatre.rehearse(move)
            _check(code)
            known.rehearsed(move, calls, sorted(set(theatre.proxy.watched)))
            _say(f"{move}: {len(calls)} calls")


def _play(path: Path, code: str, left: Sequence[Case]) -> None:
    known = Results.read(path, code)
    with ControlPlane(find_tools(os.environ), PARTS) as plane, Theatre(plane) as theatre:
        for case in left:
            result = theatre.play(case)
            _check(code)
            known.played(case, result)
            said = result.why.splitlines()[0] if result.why else "" if result.reached else "(not made)"
            tries = f" in {result.tries} tries" if result.tries > 1 else ""
            _say(f"{case} {result.seconds:.0f} s{tries} {said}")


def _check(code: str) -> None:
    """The controller is a process that starts anew with many a case, from the files as they are then.

    Raises:
        Changed: They are not what they were.
    """
    if (now := digest()) != code:
        raise Changed(f"the code was {code} when the soak began, and is {now}: start it again")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
