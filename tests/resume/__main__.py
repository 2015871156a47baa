"""`make test-resume`: every training example killed while it trains, and held against itself when nobody kills it.

python -m tests.resume [jax-orbax-jobset ...] [--stores file s3] [--kills 5] [--seed 1] [--large] [--no-faults]
    [--json file] [--write]
"""

import argparse
import json
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import machine
from benchmarks.pages import between, table
from tests.conftest import ROOT
from tests.resume.environments import NotRun, environment
from tests.resume.example import FAULTS, Example, Fault, Play
from tests.resume.examples import EXAMPLES
from tests.resume.gang import Gang, Played
from tests.resume.judge import Figures, figures, findings
from tests.resume.kills import Ground, Kill, plan
from tests.resume.planting import planted
from tests.resume.store import bucket, folder, s3_server

STORES: Final = ("file", "s3")
HEAD: Final = (
    "example",
    "store",
    "kills",
    "of them by SIGTERM",
    "half-written",
    "lost steps: mean",
    "worst",
    "of steps between saves",
    "seconds to resume: mean",
    "worst",
    "MB written",
)


@dataclass(frozen=True)
class Case:
    """What is run, and where it saves."""

    example: Example
    python: Path
    store: str
    program: Path | None = None
    """The folder of a train.py with a fault in it."""


@dataclass
class Proofs:
    """What was found in all of them."""

    scratch: Path
    server: str
    figures: dict[tuple[str, str], Figures] = field(default_factory=dict[tuple[str, str], Figures])
    caught: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    wrong: list[str] = field(default_factory=list[str])
    not_run: dict[str, str] = field(default_factory=dict[str, str])

    def is_wrong(self, name: str, found: Sequence[str]) -> None:
        """Say it at once, and remember it."""
        for each in found:
            self.wrong.append(f"{name}: {each}")
            _say(f"WRONG: {name}: {each}")

    def played(self, case: Case, name: str, kills: Sequence[Kill] = ()) -> Played:
        """One run of a case."""
        scratch = self.scratch / name
        with folder(scratch / "store") if case.store == "file" else bucket(self.server, name) as store:
            gang = (case.example.gang or Gang)(case.example, case.python, store, scratch / "logs", case.program)
            return gang.run(kills)


def main() -> int:
    """Prove what is asked for; 1 where anything is wrong. What cannot be run is said, and counts as nothing."""
    asked = _asked()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    with tempfile.TemporaryDirectory(prefix="resume-") as scratch, s3_server(Path(scratch, "moto.log")) as server:
        proofs = Proofs(Path(scratch), server)
        for example in [each for each in EXAMPLES if each.name in asked.examples]:
            python = environment(example, large=asked.large)
            if isinstance(python, NotRun):
                proofs.not_run[example.name] = python.why
                continue
            _prove(proofs, example, python, asked)
    for name, why in proofs.not_run.items():
        _say(f"NOT RUN: {name}: {why}")
    if asked.json:
        asked.json.write_text(json.dumps(_record(proofs), indent=2) + "\n", encoding="utf-8")
    if asked.write and not proofs.wrong:
        between(ROOT / "docs" / "reliability.md", _page(proofs), "resume")
    return int(bool(proofs.wrong))


def _leave(number: int, _frame: object) -> None:
    """Python ends at once by these, and would leave a Ray cluster and an S3 server behind."""
    sys.exit(128 + number)


def _asked() -> argparse.Namespace:
    names = [example.name for example in EXAMPLES]
    parser = argparse.ArgumentParser(prog="python -m tests.resume")
    parser.add_argument("examples", nargs="*", help=f"of {', '.join(names)}; all where none is named")
    parser.add_argument("--stores", nargs="+", default=STORES, choices=STORES)
    parser.add_argument("--kills", type=int, default=5, help="in each run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="also what is only run when it is asked for")
    parser.add_argument("--no-faults", action="store_true", help="plant none")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/reliability.md")
    asked = parser.parse_args()
    if unknown := set(asked.examples) - set(names):
        parser.error(f"there is no example {', '.join(sorted(unknown))}")
    asked.examples = asked.examples or names
    if asked.write and (set(asked.examples), set(asked.stores)) != (set(names), set(STORES)):
        parser.error("--write is for all examples on all stores: the page would lose what was not run")
    return asked


def _prove(proofs: Proofs, example: Example, python: Path, asked: argparse.Namespace) -> None:
    references: dict[str, Played] = {}
    for kind in asked.stores:
        name, case = f"{example.name}-{kind}", Case(example, python, kind)
        reference = proofs.played(case, f"{name}-uninterrupted")
        if wrong := findings(reference, reference, 0):
            proofs.is_wrong(f"{name}, uninterrupted", wrong)
            continue
        references[kind] = reference
        writes = reference.writes // (example.steps // example.save_steps)
        kills = plan(asked.seed, asked.kills, Ground(example.steps, example.save_steps, example.processes, writes))
        for kill in kills:
            _say(f"{name}: {kill}")
        played = proofs.played(case, f"{name}-killed", kills)
        wrong = findings(reference, played, asked.kills)
        proofs.is_wrong(name, wrong)
        proofs.figures[example.name, kind] = figures(played)
        _say(f"{name}: {'WRONG' if wrong else 'ok'} {json.dumps(figures(played).record())}")
    for words, find in () if not references else example.also.items():
        _also(proofs, Case(example, python, min(references)), words, find)
    for fault in () if asked.no_faults else example.faults:
        if fault.changes and fault.store in references:
            _plant(proofs, Case(example, python, fault.store), fault, references[fault.store])


def _also(proofs: Proofs, case: Case, words: str, find: Callable[[Play], Sequence[str]]) -> None:
    name = f"{case.example.name}-{words.replace(' ', '-')}"

    def play(kills: Sequence[Kill], variables: Mapping[str, str]) -> Played:
        told = {**case.example.variables, **variables}
        return proofs.played(replace(case, example=replace(case.example, variables=told)), name, kills)

    found = find(play)
    proofs.wrong += [f"{case.example.name}: {words}: {each}" for each in found]
    _say(f"{case.example.name}: {words}: {found[0] if found else 'ok'}")


def _plant(proofs: Proofs, case: Case, fault: Fault, reference: Played) -> None:
    name = f"{case.example.name}-{fault.words.replace(' ', '-')}"
    program = planted(case.example, fault, proofs.scratch / name / "program")
    found = findings(reference, proofs.played(replace(case, program=program), name, fault.kills), 0)
    if by := [each for each in found if re.search(FAULTS[fault.words], each)]:
        proofs.caught[case.example.name, fault.words] = by[0]
        _say(f"{case.example.name}: {fault.words}: caught: {by[0]}")
    else:
        proofs.is_wrong(case.example.name, [f"{fault.words}: was not caught; found was {found or 'nothing'}"])


def _record(proofs: Proofs) -> Mapping[str, Any]:
    return {
        "machine": machine(),
        "proven": [{"example": name, "store": kind, **each.record()} for (name, kind), each in proofs.figures.items()],
        "caught": [{"example": name, "fault": words, "by": by} for (name, words), by in proofs.caught.items()],
        "not run": proofs.not_run,
        "wrong": proofs.wrong,
    }


def _page(proofs: Proofs) -> str:
    interval = {example.name: example.save_steps for example in EXAMPLES}
    rows: list[Sequence[object]] = [
        (
            *(name, kind, each.kills, each.told, each.half_written, each.lost_steps_mean, each.lost_steps_worst),
            *(interval[name], each.seconds_to_resume_mean, each.seconds_to_resume_worst, each.megabytes_written),
        )
        for (name, kind), each in proofs.figures.items()
    ]
    missing = [f"Not run: {name}: {why}." for name, why in proofs.not_run.items()]
    return "\n\n".join([f"On {machine()}.", table(HEAD, rows), *missing])


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
