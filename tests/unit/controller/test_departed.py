"""What is kept of pods and NodeClaims that are gone, by a process that accounts for them and by one that never does."""

from typing import Any

import pytest

from spotproof.controller import departed
from spotproof.controller.departed import Departed
from tests.unit.controller.things import pod


def gone(*pods: tuple[str, str]) -> Departed:
    """Pods of jobs that are gone, in this order."""
    kept = Departed()
    for job, name in pods:
        kept.pod(job, pod(name))
    return kept


def names(kept: Departed, job: str) -> list[str]:
    return [each["metadata"]["name"] for each in kept.pods_of(job)]


def test_pods_are_kept_by_job_until_they_are_accounted_for() -> None:
    kept = gone(("one", "a"), ("two", "b"), ("one", "c"))

    kept.forget("one", {"uid-a"})
    assert (names(kept, "one"), names(kept, "two")) == (["c"], ["b"])
    kept.forget("one")
    assert (names(kept, "one"), names(kept, "two")) == ([], ["b"])


def test_a_replica_that_accounts_for_nothing_keeps_those_of_the_jobs_that_lost_one_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(departed, "MOST_PODS_IN_ALL", 3)
    kept = gone(("one", "a"), ("two", "b"), ("one", "c"), ("three", "d"))

    assert {job: names(kept, job) for job in ("one", "two", "three")} == {"one": ["a", "c"], "two": [], "three": ["d"]}


@pytest.mark.parametrize("forgets", [{"uids": {"uid-a"}}, {"uids": {"uid-a", "uid-no"}}, {}])
def test_what_is_forgotten_makes_room(monkeypatch: pytest.MonkeyPatch, forgets: dict[str, Any]) -> None:
    monkeypatch.setattr(departed, "MOST_PODS_IN_ALL", 2)
    kept = gone(("one", "a"), ("one", "a"), ("two", "b"))

    kept.forget("one", **forgets)
    kept.pod("three", pod("c"))
    assert (names(kept, "two"), names(kept, "three")) == (["b"], ["c"])


def claim(name: str, made: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    """A NodeClaim of the pool, made then."""
    labels = {"spotproof.dev/pool": "a100-spot-a"}
    return {
        "metadata": {"name": name, "labels": labels, "creationTimestamp": made},
        "status": {"conditions": [*conditions]},
    }


REFUSED = {
    "type": "Launched",
    "status": "False",
    "reason": "InsufficientCapacity",
    "message": "insufficient capacity, the market has no capacity for any offering of this claim",
}


def test_the_last_word_of_a_pool_outlives_a_claim_that_went_without_one() -> None:
    kept = Departed()
    spoke = claim("a100-spot-a-1", "2026-11-21T12:00:00Z", REFUSED)
    kept.claim(spoke)
    kept.claim(claim("a100-spot-a-2", "2026-11-21T12:01:00Z"))

    assert kept.refused("a100-spot-a") == [spoke]
    assert kept.refused_at("a100-spot-a") == "2026-11-21T12:01:00Z"
    assert kept.refused("a100-spot-b") == []
