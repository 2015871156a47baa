"""Which cases of the soak are tried with every run of e2e, by a seed: other ones with SPOTPROOF_SEED."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from tests.soak.cases import LEASE, SILENT, SILENT_AT, Case, cases, chance, sample
from tests.soak.moves import MOVES
from tests.soak.play import Result, Theatre

DRAWN: Final = 3
"""Moves of a kind of job: a move is rehearsed before its calls are known, and all of them are minutes."""
CASES: Final = 8
"""Of a kind of job, in all its drawn moves: with the rehearsals both kinds are about five minutes of one worker, of
which the two long cases are two and a rehearsal or a short case some 10 s."""
LONG: Final = frozenset({LEASE, SILENT, SILENT_AT})
"""Faults that take a minute or more to be noticed: one of the cases of a kind of job is of such, the others of none."""
ALWAYS: Final[Mapping[str, frozenset[str]]] = {"jobset": frozenset({LEASE}), "rayjob": frozenset({SILENT, SILENT_AT})}
"""Of which faults that one is."""
MADE: Final = 2 / 3
"""Of the cases at least so many have to reach their call: where fewer do, the sample proves little."""
SEED: Final = int(os.environ.get("SPOTPROOF_SEED", "7"))


def moves_of(kind: str) -> list[str]:
    """Names of moves of one kind of job, drawn by the seed."""
    return sorted((name for name in MOVES if name.startswith(kind)), key=lambda name: chance(SEED, name))[:DRAWN]


def chosen(found: Sequence[Case], kind: str) -> list[Case]:
    """The cases that are played of those there are."""
    long = [case for case in found if case.fault in ALWAYS[kind]]
    short = [case for case in found if case.fault not in LONG]
    return [*sample(long, 1, SEED), *sample(short, CASES - 1, SEED)]


def not_well(played: Sequence[tuple[Case, Result]]) -> list[str]:
    """What is wrong: each case that went wrong, and why; and too few that were spoilt at all."""
    wrong = [f"{case}, seed {SEED}: {result.why}" for case, result in played if result.why]
    unmade = [str(case) for case, result in played if not (result.reached or result.why)]
    if len(unmade) > (1 - MADE) * len(played):
        wrong.append(f"{len(unmade)} of {len(played)} cases never reached their call, seed {SEED}: {'; '.join(unmade)}")
    return wrong


def spoilt(theatre: Theatre, kind: str) -> list[str]:
    """Play the drawn moves of a kind of job as they are, and some of their cases. Returns what is wrong."""
    found: list[Case] = []
    for move in moves_of(kind):
        calls = theatre.rehearse(move)
        found += cases(move, calls, theatre.proxy.watched)
    played: list[tuple[Case, Result]] = []
    for case in chosen(found, kind):
        played.append((case, theatre.play(case)))
        sys.stdout.write(f"seed {SEED}: {case}: {played[-1][1]}\n")
    return not_well(played)
