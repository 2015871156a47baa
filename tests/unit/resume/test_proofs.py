"""What is played again, and what is a verdict at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.resume.gang import Played
from tests.resume.kills import Kill
from tests.resume.proofs import PLAYS, Case, Proofs
from tests.unit.resume.test_judge import EXAMPLE, FIRST, REFERENCE, SECOND, attempt, finished, played, steps

CASE = Case(EXAMPLE, Path("python"), "s3")
KILL = Kill(step=3)
KILLED = played(FIRST, SECOND)
OVER_BEFORE = REFERENCE
OTHER = played(attempt(0, [], ["starting at step 0", *steps(1, 6), *finished("cd" * 32)]))
UNMADE = "only 0 of 1 kills were made"


class Plays(Proofs):
    """Of runs that are written down, in their order; each has a place of its own."""

    def __init__(self, *runs: Played) -> None:
        super().__init__(Path("scratch"), "http://server")
        self.runs, self.asked = list(runs), list[tuple[Case, Sequence[Kill]]]()
        self.names: set[str] = set()

    def played(self, case: Case, name: str, kills: Sequence[Kill] = ()) -> Played:
        self.asked.append((case, kills))
        self.names.add(name)
        return self.runs.pop(0)


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ([KILLED], []),
        ([OVER_BEFORE, KILLED], []),
        ([OVER_BEFORE, OVER_BEFORE, KILLED], []),
        ([OVER_BEFORE] * PLAYS, [UNMADE]),
    ],
    ids=["killed", "over once", "over twice", "over each time"],
)
def test_a_run_that_was_over_before_its_kill_is_played_again_and_not_for_ever(
    runs: list[Played], found: list[str]
) -> None:
    plays = Plays(*runs, KILLED)

    judged, said = plays.killed(CASE, "case", [KILL], REFERENCE)

    assert (judged, said, plays.runs) == (runs[-1], found, [KILLED])
    assert plays.asked == [(CASE, [KILL])] * len(runs)
    assert len(plays.names) == len(runs)


@pytest.mark.parametrize(
    "wrong", [OTHER, replace(OVER_BEFORE, after=[])], ids=["it ended otherwise", "what it saved is not there"]
)
def test_what_is_wrong_with_a_run_that_was_not_killed_is_a_verdict_at_once(wrong: Played) -> None:
    plays = Plays(wrong, KILLED)

    _, said = plays.killed(CASE, "case", [KILL], REFERENCE)

    assert said[0] == UNMADE
    assert len(said) > 1
    assert plays.runs == [KILLED]
