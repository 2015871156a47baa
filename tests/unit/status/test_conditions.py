"""What each condition should be, and what helps where it is not."""

import pytest

from spotproof.status.conditions import WANTED, troubles
from spotproof.status.salvage import read_run
from tests.unit.status.worlds import condition, run

ALL_WELL = [condition(name, wanted.status) for name, wanted in WANTED.items()]


def test_where_all_is_as_wanted_there_is_no_trouble() -> None:
    assert list(troubles(read_run(run("x", conditions=ALL_WELL)))) == []


@pytest.mark.parametrize("name", WANTED)
def test_what_is_not_as_wanted_is_told_with_what_helps(name: str) -> None:
    other = "False" if WANTED[name].status == "True" else "True"
    (found,) = troubles(read_run(run("x", conditions=[condition(name, other, "so it is")])))
    assert (found.type, found.status, found.message) == (name, other, "so it is")
    assert "{" not in found.remedy
    assert found.remedy or name == "LastTierWaits"


def test_commands_name_the_job_its_kind_and_its_namespace() -> None:
    thing = run("tune", kind="RayJob", namespace="speech", conditions=[condition("HandedBack", "True")])
    (found,) = troubles(read_run(thing))
    assert "`kubectl label -n speech rayjob tune spotproof.dev/manual=true`" in found.remedy


def test_a_condition_of_a_later_version_is_told_without_a_judgement() -> None:
    (found,) = troubles(read_run(run("x", conditions=[condition("Sharded", "True", "in 8")])))
    assert (found.type, found.status, found.remedy) == ("Sharded", "True", "")
