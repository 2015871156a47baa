"""`make test-resume`: every training example killed while it trains, and held against itself when nobody kills it.

python -m tests.resume [jax-orbax-jobset ...] [--stores file s3] [--kills 5] [--seed 1] [--large] [--all]
    [--no-faults] [--side-by-side 2] [--unless-proven] [--json file] [--write]
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.pages import between
from tests.conftest import ROOT
from tests.resume.environments import NotRun, environment
from tests.resume.example import Example
from tests.resume.examples import EXAMPLES
from tests.resume.proofs import Asked, Proofs, prove, say
from tests.resume.proven import Proof, Proven
from tests.resume.report import Record, merged, page, record
from tests.resume.side_by_side import Side, side_by_side
from tests.resume.store import s3_server

PAGE: Final = ROOT / "docs" / "reliability.md"
"""Has a block for all that `make test-resume` finds, and one for the many kills of each example: an hour of its own."""
STORES: Final = ("file", "s3")
SIDE_BY_SIDE: Final = 2
"""A Ray cluster mostly waits for itself: all of them took 13 minutes on 2 cores, and computed for 5.5 of those."""


def main() -> int:
    """Prove what is asked for; 1 where anything is wrong. What cannot be run is said, and counts as nothing."""
    asked = _asked()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    examples = [each for each in EXAMPLES if each.name in asked.examples]
    records = [_alone(examples[0], asked)] if len(examples) == 1 else _each(examples, asked)
    found = merged(records)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if asked.write:
        blocks = zip((each.name for each in examples), records, strict=True) if asked.no_faults else [("all", found)]
        for name, each in blocks:
            if not each["wrong"]:
                between(PAGE, page(each, asked.side_by_side), f"resume {name}")
    return int(bool(found["wrong"]))


def _asked() -> argparse.Namespace:
    names = [example.name for example in EXAMPLES]
    parser = argparse.ArgumentParser(prog="python -m tests.resume")
    parser.add_argument("examples", nargs="*", help=f"of {', '.join(names)}; all where none is named")
    parser.add_argument("--stores", nargs="+", choices=STORES, help="left out: as the table of examples has it")
    parser.add_argument("--kills", type=int, default=5, help="in each run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="also what is only run when it is asked for")
    parser.add_argument("--all", action="store_true", help="also Ray's other limits and the programs of pages")
    parser.add_argument("--no-faults", action="store_true", help="plant none")
    parser.add_argument("--side-by-side", type=int, default=SIDE_BY_SIDE, help="examples at once")
    parser.add_argument(
        "--unless-proven", action="store_true", help="not again where the same files were proven here within a week"
    )
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    parser.add_argument(
        "--write", action="store_true", help="write the figures into docs/reliability.md, where all is well"
    )
    asked = parser.parse_args()
    if unknown := set(asked.examples) - set(names):
        parser.error(f"there is no example {', '.join(sorted(unknown))}")
    asked.examples = asked.examples or names
    if asked.unless_proven and (asked.write or asked.all):
        parser.error("--unless-proven goes with neither --write nor --all: what was proven before is not measured now")
    if asked.write and not asked.no_faults and set(asked.examples) != set(names):
        parser.error("--write with faults is for all examples: the page would lose those that were not run")
    return asked


def _alone(example: Example, asked: argparse.Namespace) -> Record:
    """One example, unless that was done before and is good enough."""
    stores = tuple(asked.stores or example.stores)
    wanted = Asked(asked.kills, asked.seed, stores, not asked.no_faults, asked.all)
    proven, proof = Proven.here(), Proof.of(example, wanted)
    if asked.unless_proven and (before := proven.before(proof, datetime.now(UTC))):
        when, found = before
        say(f"PROVEN BEFORE: {example.name}: on {when:%Y-%m-%d at %H:%M} UTC, of the same files; not run again")
        return found
    found = _proven(example, wanted, large=asked.large)
    proven.keep(proof, found)
    return found


def _proven(example: Example, asked: Asked, *, large: bool) -> Record:
    """What is found of one example, in this process."""
    with tempfile.TemporaryDirectory(prefix="resume-") as scratch, s3_server(Path(scratch, "moto.log")) as server:
        proofs = Proofs(Path(scratch), server)
        python = environment(example, large=large)
        if isinstance(python, NotRun):
            proofs.not_run[example.name] = python.why
            say(f"NOT RUN: {example.name}: {python.why}")
        else:
            prove(proofs, example, python, asked)
        return record(proofs)


def _each(examples: Sequence[Example], asked: argparse.Namespace) -> Sequence[Record]:
    """Several, each in a process of its own."""
    options = [f"--kills={asked.kills}", f"--seed={asked.seed}"]
    options += ["--large"] * asked.large + ["--no-faults"] * asked.no_faults + ["--all"] * asked.all
    options += ["--unless-proven"] * asked.unless_proven
    options += ["--stores", *asked.stores] if asked.stores else []
    with tempfile.TemporaryDirectory(prefix="resume-") as folder:
        sides = [
            Side(
                each.name,
                [sys.executable, "-m", "tests.resume", each.name, *options],
                Path(folder, f"{each.name}.json"),
            )
            for each in examples
        ]
        return side_by_side(sides, asked.side_by_side)


def _leave(number: int, _frame: object) -> None:
    """Python ends at once by these, and would leave a Ray cluster and an S3 server behind."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
