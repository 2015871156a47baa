"""Whether a job has lived what a test has caused: each way in which it may not have is told."""

from dataclasses import replace
from typing import Any, Final

import pytest

from spotproof.rehearsal.recording import Recording, Version
from tests.e2e.controller.verdict import Lived
from tests.unit.e2e.test_interruptions import recorded

SPOT: Final = "a100-spot-a"
ON_DEMAND: Final = "a100"


def with_counts(recording: Recording, *counts: tuple[int, int]) -> Recording:
    """The recording with a TrainingRun that ends by saying so, count after count."""
    name = next(each.object["metadata"]["name"] for each in recording.versions if each.kind in {"JobSet", "RayJob"})

    def run(evictions: int, errors: int) -> dict[str, Any]:
        status = {"phase": "Running", "tier": SPOT, "attempt": 1, "evictions": evictions, "errors": errors}
        return {"kind": "TrainingRun", "metadata": {"name": name, "uid": "run-1"}, "status": status}

    last = recording.versions[-1].at
    said = tuple(Version(last, "modified", run(*each)) for each in counts)
    return replace(recording, versions=(*recording.versions, *said))


def lived(name: str, *tiers: str, **counts: int) -> Lived:
    job = next(each.object for each in recorded(name).versions if each.kind in {"JobSet", "RayJob"})
    return Lived(job["metadata"]["name"], tiers, **counts)


def wrong(name: str, expected: Lived, *counts: tuple[int, int]) -> list[str]:
    return expected.wrong(with_counts(recorded(name), *counts))


@pytest.mark.parametrize("name", ["jobset-move", "rayjob-move"])
def test_a_move_after_one_eviction_that_is_counted_once_is_well(name: str) -> None:
    assert wrong(name, lived(name, SPOT, ON_DEMAND, evictions=1), (0, 0), (1, 0)) == []


def test_an_error_that_is_counted_as_one_is_well() -> None:
    assert wrong("jobset-error", lived("jobset-error", SPOT, evictions=0, errors=1), (0, 0), (0, 1)) == []


@pytest.mark.parametrize(
    ("counts", "expected", "said"),
    [
        ([(0, 0), (1, 0), (2, 0)], {"evictions": 1}, "evictions and errors are (2, 0), (1, 0) were caused"),
        ([(0, 0), (2, 0), (1, 0)], {"evictions": 1}, "miscounted"),
        ([(0, 0), (1, 0), (2, 0)], {"evictions": 2}, "the gang was interrupted 1 times, 2 are counted"),
        ([(0, 0)], {"evictions": 0}, "the gang was interrupted 1 times, 0 are counted"),
        ([(0, 0), (1, 0)], {"evictions": 1, "voluntary": 1}, "1 are counted and 1 are nobody's"),
        ([], {"evictions": 0}, "no TrainingRun said anything"),
    ],
)
def test_whatever_is_counted_otherwise_is_told(
    counts: list[tuple[int, int]], expected: dict[str, int], said: str
) -> None:
    found = wrong("jobset-move", lived("jobset-move", SPOT, ON_DEMAND, **expected), *counts)
    assert any(said in each for each in found), found


def test_an_interruption_that_is_nobodys_is_well_if_the_test_says_so() -> None:
    assert wrong("jobset-reclaim", lived("jobset-reclaim", SPOT, evictions=0, voluntary=1), (0, 0)) == []


def test_a_tier_that_the_gang_was_not_whole_on_is_told() -> None:
    found = wrong("jobset-move", lived("jobset-move", SPOT, evictions=1), (0, 0), (1, 0))
    assert [each for each in found if each.startswith("whole on")]


def test_an_error_of_the_operator_that_nobody_caused_is_told() -> None:
    found = wrong("jobset-error", lived("jobset-error", SPOT, evictions=1), (0, 0), (1, 0))
    assert found == ["its operator counts 1 errors, 0 were caused"]
