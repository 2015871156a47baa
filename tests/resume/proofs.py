"""The proofs of one example: run alone, killed, with what else holds of it, and with its faults planted."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tests.resume.example import FAULTS, Example, Fault, Play, StoreKind
from tests.resume.gang import Gang, Played
from tests.resume.judge import Figures, figures, findings, unmade
from tests.resume.kills import Ground, Kill, plan
from tests.resume.planting import planted
from tests.resume.store import bucket, folder

PLAYS: Final = 3
"""Of one case at most. A kill after a step is made when the launcher hears of that: the run may be over by then."""


@dataclass(frozen=True)
class Asked:
    """How much of it: kills in each run, the seed of their moments, stores, faults, and also what takes long."""

    kills: int
    seed: int
    stores: Sequence[StoreKind]
    faults: bool
    everything: bool = False


@dataclass(frozen=True)
class Case:
    """What is run, and where it saves."""

    example: Example
    python: Path
    store: StoreKind
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
            say(f"WRONG: {name}: {each}")

    def holds(self, name: str, found: Sequence[str]) -> None:
        """Say of what has no figures that nothing was wrong with it, or what was."""
        self.is_wrong(name, found)
        if not found:
            say(f"{name}: ok")

    def played(self, case: Case, name: str, kills: Sequence[Kill] = ()) -> Played:
        """One run of a case."""
        scratch = self.scratch / name
        with folder(scratch / "store") if case.store == "file" else bucket(self.server, name) as store:
            gang = (case.example.gang or Gang)(case.example, case.python, store, scratch / "logs", case.program)
            return gang.run(kills)

    def killed(self, case: Case, name: str, kills: Sequence[Kill], reference: Played) -> tuple[Played, list[str]]:
        """A run under kills, and what is wrong with it against `reference`.

        One that is right but for kills that were not made is played again, and is wrong when it is the last of `PLAYS`.
        Anything else that is wrong is a verdict at once: another play could hide it.
        """
        played, found = self._judged(case, name, kills, reference)
        for again in range(2, PLAYS + 1):
            if not found or found != unmade(played, len(kills)):
                break
            say(f"{name}: played again: {found[0]}")
            played, found = self._judged(case, f"{name}-{again}", kills, reference)
        return played, found

    def _judged(self, case: Case, name: str, kills: Sequence[Kill], reference: Played) -> tuple[Played, list[str]]:
        played = self.played(case, name, kills)
        return played, findings(reference, played, len(kills))


def prove(proofs: Proofs, example: Example, python: Path, asked: Asked) -> None:
    """Everything that is asked for; what is found goes to `proofs`."""
    example = example.long_enough_for(asked.kills)
    references: dict[StoreKind, Played] = {}
    for kind in asked.stores:
        name, case = f"{example.name}-{kind}", Case(example, python, kind)
        reference = proofs.played(case, f"{name}-uninterrupted")
        if wrong := findings(reference, reference, 0):
            proofs.is_wrong(f"{name}, uninterrupted", wrong)
            continue
        references[kind] = reference
        writes = reference.writes // (example.steps // example.save_steps)
        steps = example.steps - example.late_steps
        kills = plan(asked.seed, asked.kills, Ground(steps, example.save_steps, example.processes, writes))
        for kill in kills:
            say(f"{name}: {kill}")
        played, wrong = proofs.killed(case, f"{name}-killed", kills, reference)
        proofs.is_wrong(name, wrong)
        proofs.figures[example.name, kind] = figures(played)
        say(f"{name}: {'WRONG' if wrong else 'ok'} {json.dumps(figures(played).record())}")
    also = {**example.also, **(example.rarely if asked.everything else {})}
    for words, find in also.items() if references else ():
        kind = min(references)
        _also(proofs, Case(example, python, kind), words, find, references[kind])
    for words, find in example.pages.items() if asked.everything else ():
        proofs.holds(f"{example.name}: {words}", find(python, proofs.scratch / words.replace(" ", "-")))
    for fault in example.faults if asked.faults else ():
        if fault.changes and fault.store in references:
            _plant(proofs, Case(example, python, fault.store), fault, references[fault.store])


def _also(proofs: Proofs, case: Case, words: str, find: Callable[[Play], Sequence[str]], reference: Played) -> None:
    name = f"{case.example.name}-{words.replace(' ', '-')}"

    def play(kills: Sequence[Kill], variables: Mapping[str, str]) -> Played:
        told = {**case.example.variables, **variables}
        played, _ = proofs.killed(replace(case, example=replace(case.example, variables=told)), name, kills, reference)
        return played

    proofs.holds(f"{case.example.name}: {words}", find(play))


def _plant(proofs: Proofs, case: Case, fault: Fault, reference: Played) -> None:
    name = f"{case.example.name}-{fault.words.replace(' ', '-')}"
    program = planted(case.example, fault, proofs.scratch / name / "program")
    _, found = proofs.killed(replace(case, program=program), name, fault.kills, reference)
    if by := [each for each in found if re.search(FAULTS[fault.words], each)]:
        proofs.caught[case.example.name, fault.words] = by[0]
        say(f"{case.example.name}: {fault.words}: caught: {by[0]}")
    else:
        proofs.is_wrong(case.example.name, [f"{fault.words}: was not caught; found was {found or 'nothing'}"])


def say(line: str) -> None:
    """A line of progress, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
