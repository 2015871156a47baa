"""Which cases a move has, which of them a sample takes, and how results are kept."""

from collections import Counter
from pathlib import Path

from tests.e2e.controller.faults import Fault
from tests.soak.cases import ENDED, EVERY, LEASE, SILENT, Case, cases, sample
from tests.soak.play import Result
from tests.soak.results import Results

CALLS = ["patch trainingruns/status", "patch jobsets", "list pods", "patch jobsets"]


def test_every_call_is_spoilt_in_every_way_that_it_can_be() -> None:
    found = list(cases("jobset-down", CALLS, ["pods", "jobs", "pods"]))
    assert len(found) == len(set(found))
    of_one = {case.fault for case in found if (case.call, case.nth) == ("patch jobsets", 2)}
    assert of_one == {each.value for each in Fault if each is not Fault.LATE} | {LEASE}
    assert {case.fault for case in found if case.call == "list pods"} == {"killed before", "killed after", "429", "500"}
    for fault in (ENDED, SILENT):
        assert [case.call for case in found if case.fault == fault] == [EVERY, "jobs", "pods"]


def test_a_sample_is_the_same_for_a_seed_and_has_every_fault_before_any_twice() -> None:
    found = list(cases("jobset-down", CALLS, ["pods"]))
    faults = {case.fault for case in found}
    taken = sample(found, len(faults), 7)
    assert taken == sample(found, len(faults), 7)
    assert taken != sample(found, len(faults), 8)
    assert Counter(case.fault for case in taken) == dict.fromkeys(faults, 1)
    assert sorted(sample(found, 1000, 7)) == sorted(found)


def test_results_are_read_again_and_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    results = Results.read(tmp_path / "results.jsonl")
    results.rehearsed("jobset-down", CALLS, ["pods"])
    first, second, third, *_ = results.cases(["jobset-down", "rayjob-down"])
    results.played(first, Result(reached=True, why="", seconds=1.0))
    results.played(second, Result(reached=False, why="", seconds=1.0))
    results.played(third, Result(reached=True, why="two writers", seconds=1.0))
    with results.path.open("a", encoding="utf-8") as file:
        file.write('{"move": "jobset-do')

    again = Results.read(results.path)
    assert again == results
    assert "| jobset-down | 4 | 3 | 1 | 1 | 1 |" in again.text()
    assert f"Wrong: `{third}`." in again.text()


def test_a_case_is_told_by_its_text() -> None:
    case = Case("jobset-down", "killed before", "patch jobsets", 2)
    assert str(case) == "jobset-down: killed before patch jobsets 2"
    assert Case.of(case.plain()) == case
