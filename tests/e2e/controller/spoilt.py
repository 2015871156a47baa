"""Which cases of the soak are tried with every run of e2e, by a seed: other ones with SPOTPROOF_SEED."""

import os
from typing import Final

import pytest

from tests.soak.cases import LEASE, SILENT, cases, sample
from tests.soak.moves import MOVES
from tests.soak.play import Theatre

CASES: Final = 4
"""Of a move: with all moves they are about five minutes of one worker."""
LONG: Final = frozenset({LEASE, SILENT})
"""Faults that take a minute each to be noticed: left to `make soak`."""
SEED: Final = int(os.environ.get("SPOTPROOF_SEED", "7"))
MARKS: Final = pytest.mark.soak


def moves_of(kind: str) -> list[str]:
    """Names of the moves of one kind of job."""
    return [name for name in MOVES if name.startswith(kind)]


def well(theatre: Theatre, move: str) -> list[str]:
    """Play the move as it is, and some of its cases. Returns those that went wrong, and why."""
    calls = theatre.rehearse(move)
    found = [case for case in cases(move, calls, theatre.proxy.watched) if case.fault not in LONG]
    played = [(case, theatre.play(case)) for case in sample(found, CASES, SEED)]
    return [f"{case}, seed {SEED}: {result.why}" for case, result in played if result.why]
