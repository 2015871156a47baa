"""What each condition should be, and what helps where it is not."""

import pytest

from spotproof.controller.messages import CONDITIONS, NOTHING
from spotproof.status.conditions import TOLD, troubles, wanted
from spotproof.status.salvage import read_run
from tests.unit.status.worlds import condition, run

OF_RUNS = {name: each for name, each in CONDITIONS.items() if each.of == "TrainingRun"}
STATES = [(name, reason, state) for name, each in OF_RUNS.items() for reason, state in each.states.items()]


@pytest.mark.parametrize(("name", "reason"), [(name, reason) for name, reason, _ in STATES])
def test_a_condition_is_told_with_the_controllers_remedy_unless_it_is_as_wanted(name: str, reason: str) -> None:
    state = CONDITIONS[name].states[reason]
    found = list(troubles(read_run(run("x", conditions=[condition(name, state.status, "so it is", reason)]))))
    if state.status == wanted(name):
        assert found == []
    else:
        assert [(each.type, each.status, each.message) for each in found] == [(name, state.status, "so it is")]
        assert bool(found[0].remedy) is (state.remedy != NOTHING)


def test_every_condition_has_a_state_that_is_wanted_and_one_that_is_not() -> None:
    for name, each in OF_RUNS.items():
        assert {state.status for state in each.states.values()} == {"True", "False"}, name


def test_commands_name_the_job_its_kind_and_its_namespace() -> None:
    back = condition("HandedBack", "True", reason="ResumedByOthers")
    (found,) = troubles(read_run(run("tune", kind="RayJob", namespace="speech", conditions=[back])))
    assert "`kubectl label -n speech rayjob tune spotproof.dev/manual=true`" in found.remedy


def test_a_refusal_by_the_word_of_its_finding_has_the_remedy_of_all_refusals() -> None:
    thing = run("x", conditions=[condition("Accepted", "False", reason="SameCheckpoint")])
    assert next(troubles(read_run(thing))).remedy.startswith("Mend each field")


def test_a_warning_by_the_word_of_its_finding_says_itself_what_to_write() -> None:
    said = "spec.activeDeadlineSeconds: is 60; KubeRay ends it. Remove it, if that is not meant."
    thing = run("x", conditions=[condition("Warned", "True", said, "ActiveDeadline")])
    assert [(each.type, each.message, each.remedy) for each in troubles(read_run(thing))] == [("Warned", said, "")]


def test_a_condition_or_a_reason_of_a_later_version_is_told_without_a_remedy() -> None:
    thing = run("x", conditions=[condition("Sharded", "True", "in 8"), condition("NoProgress", "True", reason="Odd")])
    assert [(each.type, each.remedy) for each in troubles(read_run(thing))] == [("Sharded", ""), ("NoProgress", "")]


def test_what_a_phase_tells_already_is_a_condition_that_exists() -> None:
    assert TOLD.keys() <= OF_RUNS.keys()
