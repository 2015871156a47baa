"""Which cases of the soak e2e tries, and when their sample is not good."""

import pytest

from tests.e2e.controller.spoilt import ALWAYS, CASES, DRAWN, LONG, chosen, moves_of, not_well
from tests.soak.cases import Case, cases
from tests.soak.play import Result

CALLS = ["patch trainingruns/status", "patch jobsets", "list pods", "patch jobsets"]
CASE = Case("jobset-down", "429", "list pods", 1)
WELL, UNMADE = Result(reached=True, why="", seconds=1.0), Result(reached=False, why="", seconds=1.0, tries=3)


@pytest.mark.parametrize("kind", ALWAYS)
def test_a_sample_has_one_case_of_a_long_fault_and_it_is_of_the_kind_of_job(kind: str) -> None:
    assert len(moves_of(kind)) == DRAWN
    taken = chosen([case for move in moves_of(kind) for case in cases(move, CALLS, ["pods"])], kind)
    assert len(taken) == CASES
    assert [case.fault in ALWAYS[kind] for case in taken] == [True, *[False] * (CASES - 1)]
    assert not {case.fault for case in taken[1:]} & LONG


@pytest.mark.parametrize(("unmade", "said"), [(0, 0), (2, 0), (3, 1), (6, 1)])
def test_a_sample_of_which_less_than_two_thirds_are_spoilt_is_not_good(unmade: int, said: int) -> None:
    found = not_well([(CASE, UNMADE)] * unmade + [(CASE, WELL)] * (6 - unmade))
    assert len(found) == said
    assert all(f"{unmade} of 6 cases never reached their call" in each for each in found)


def test_a_case_that_is_wrong_is_told_with_its_seed_and_is_none_that_was_not_made() -> None:
    wrong = Result(reached=False, why="two writers", seconds=1.0)
    (said,) = not_well([(CASE, wrong)])
    assert said.startswith("jobset-down: 429 list pods 1, seed ")
    assert said.endswith(": two writers")
