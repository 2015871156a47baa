"""A policy is read once for each version of it, whoever asks."""

from typing import Any

import pytest
from pydantic import ValidationError

from spotproof.controller.policies import Policies
from tests.world.jobs import Tier, policy


def version(number: int, uid: str = "1", **spec: Any) -> dict[str, Any]:
    made = policy("standard", [Tier("spot")], **spec)
    return made | {"metadata": made["metadata"] | {"uid": uid, "resourceVersion": str(number)}}


def test_the_same_version_is_the_same_policy() -> None:
    policies = Policies()

    assert policies.read(version(1)) is policies.read(version(1))


def test_an_edited_policy_and_one_that_was_made_anew_are_read_again() -> None:
    policies = Policies()
    before = policies.read(version(1))

    assert policies.read(version(2, maxMovesPerHour=1)).max_moves_per_hour == 1
    assert policies.read(version(1, uid="2")) is not before


def test_what_is_no_policy_is_refused_each_time_and_the_one_before_it_is_not_taken_for_it() -> None:
    policies = Policies()
    policies.read(version(1))

    for _ in range(2):
        with pytest.raises(ValidationError):
            policies.read(version(2, maxMovesPerHour="many"))
