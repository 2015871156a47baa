"""Which cases a move has, and which of them a sample takes."""

from collections import Counter

from tests.e2e.controller.faults import Fault
from tests.soak.cases import ENDED, ENDED_AT, EVERY, LEASE, SILENT, SILENT_AT, Case, cases, sample
from tests.soak.spoilers import SPOILERS

CALLS = ["patch trainingruns/status", "patch jobsets", "list pods", "patch jobsets"]


def test_every_call_is_spoilt_in_every_way_that_it_can_be() -> None:
    found = list(cases("jobset-down", CALLS, ["pods", "jobs", "pods"]))
    assert len(found) == len(set(found))
    of_one = {case.fault for case in found if (case.call, case.nth) == ("patch jobsets", 2)}
    assert of_one == {each.value for each in Fault if each is not Fault.LATE} | {LEASE, ENDED_AT, SILENT_AT}
    assert {case.fault for case in found if case.call == "list pods"} == {"killed before", "killed after", "429", "500"}
    for fault in (ENDED, SILENT):
        assert [case.call for case in found if case.fault == fault] == [EVERY, "jobs", "pods"]


def test_every_watch_is_spoilt_at_the_first_the_middle_and_the_last_write_and_at_no_read() -> None:
    calls = ["get nodes", "create events", "list pods", *["patch jobsets"] * 5, "delete jobs", "list pods"]
    for fault in (ENDED_AT, SILENT_AT):
        at = [(case.call, case.nth) for case in cases("jobset-down", calls, []) if case.fault == fault]
        assert at == [("create events", 1), ("patch jobsets", 3), ("delete jobs", 1)]


def test_a_move_of_one_write_or_none_has_no_case_twice() -> None:
    one, none = list(cases("jobset-down", ["delete jobs"], [])), list(cases("jobset-down", ["list pods"], []))
    assert [str(case) for case in one if case.fault == SILENT_AT] == [f"jobset-down: {SILENT_AT} delete jobs 1"]
    assert not [case for case in none if case.fault in {ENDED_AT, SILENT_AT}]


def test_there_is_a_way_to_play_every_fault() -> None:
    assert {case.fault for case in cases("jobset-down", CALLS, ["pods"])} <= SPOILERS.keys()


def test_a_sample_is_the_same_for_a_seed_and_has_every_fault_before_any_twice() -> None:
    found = list(cases("jobset-down", CALLS, ["pods"]))
    faults = {case.fault for case in found}
    taken = sample(found, len(faults), 7)
    assert taken == sample(found[::-1], len(faults), 7)
    assert taken != sample(found, len(faults), 8)
    assert Counter(case.fault for case in taken) == dict.fromkeys(faults, 1)
    assert sorted(sample(found, 1000, 7)) == sorted(found)


def test_a_call_more_of_a_move_changes_no_more_of_a_sample_than_its_own_cases_do() -> None:
    def found(calls: int) -> list[Case]:
        every = cases("jobset-down", ["patch jobsets"] * calls, ["pods"])
        return [case for case in every if case.fault not in {ENDED_AT, SILENT_AT}]

    for seed in range(5):
        old, new = (sample(found(calls), 30, seed) for calls in (20, 21))
        assert {case.nth for case in set(new) - set(old)} <= {21}


def test_a_case_is_told_by_its_text() -> None:
    case = Case("jobset-down", "killed before", "patch jobsets", 2)
    assert str(case) == "jobset-down: killed before patch jobsets 2"
    assert Case.of(case.plain()) == case
