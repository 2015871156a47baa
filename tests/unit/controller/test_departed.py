"""What is remembered of NodeClaims that came to nothing."""

from typing import Any

from spotproof.controller.departed import Departed


def claim(name: str, made: str, *conditions: dict[str, Any]) -> dict[str, Any]:
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
    departed = Departed()
    spoke = claim("a100-spot-a-1", "2026-11-21T12:00:00Z", REFUSED)
    departed.claim(spoke)
    departed.claim(claim("a100-spot-a-2", "2026-11-21T12:01:00Z"))

    assert departed.refused("a100-spot-a") == [spoke]
    assert departed.refused_at("a100-spot-a") == "2026-11-21T12:01:00Z"
    assert departed.refused("a100-spot-b") == []
