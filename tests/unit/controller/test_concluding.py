"""What a visit comes to: words of a missing role, restarts that save nothing, errors beyond the job's own limit."""

from typing import Any

import pytest

from spotproof.controller.concluding import STALLED, decided, failed_too_often, progressing
from spotproof.controller.kinds import Object
from spotproof.controller.said import SPOT_ROLE_COMMAND, Said, Want
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.run import Action, Decision
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION
from tests.unit.controller.things import NOW, gang, pod

WAITING = TrainingRunStatus(tier="spot", waiting_since=NOW - 700)
ROLE = Said(Want.ROLE, f"the account's service-linked role for spot, which is missing: run `{SPOT_ROLE_COMMAND}`")
NO_ROOM = Said(Want.CAPACITY, "capacity: the cloud has none for it now")
BETWEEN = Reason(Code.WAITING, ("spot", 700, 3600))
DRY = Reason(Code.DRY, ("spot", 700))


def concluded(reason: Reason, said: Said | None) -> TrainingRunStatus:
    """A job that waits, after the rule's answer."""
    return decided(WAITING, Decision(Action.WAIT, "spot", reason, NOW + 9), gang(pod("a", waits=True)), said, NOW)


@pytest.mark.parametrize("reason", [BETWEEN, DRY], ids=["on any tier", "on the last"])
def test_a_missing_role_for_spot_is_no_dry_market_and_the_reason_gives_the_command(reason: Reason) -> None:
    status = concluded(reason, ROLE)

    assert (status.phase, status.reason) == ("Waiting", "SpotRoleMissing")
    assert SPOT_ROLE_COMMAND in status.message
    assert "no capacity" not in status.message
    assert status.next_decision_time == NOW + 9


@pytest.mark.parametrize("said", [NO_ROOM, None])
def test_a_market_without_capacity_keeps_the_words_of_the_rule(said: Said | None) -> None:
    assert concluded(DRY, said).reason == "DryMarket"


def condition(status: TrainingRunStatus) -> list[str]:
    return [each.status for each in status.conditions if each.type == "NoProgress"]


@pytest.mark.parametrize(
    ("looks", "stalled", "told"),
    [
        ([1] * 4, 4, []),
        ([1] * 5, 5, ["True"]),
        ([3, 2], 5, ["True"]),
        ([50], 50, ["True"]),
    ],
)
def test_restarts_that_save_nothing_are_counted_however_many_a_look_finds(
    looks: list[int], stalled: int, told: list[str]
) -> None:
    status = TrainingRunStatus(tier="spot", progress_seconds=100)
    for restarts in looks:
        status = progressing(status, 100, NOW, restarts=restarts)

    assert (status.stalled_restarts, condition(status)) == (stalled, told)


def test_what_is_saved_ends_the_count_but_for_restarts_after_it() -> None:
    stalled = progressing(TrainingRunStatus(tier="spot"), 0, NOW, restarts=STALLED)

    assert (progressing(stalled, 60, NOW).stalled_restarts, condition(progressing(stalled, 60, NOW))) == (0, ["False"])
    assert progressing(stalled, 60, NOW, restarts=3).stalled_restarts == 2


def job(limit: str | None) -> Object:
    """A job with its own limit of errors."""
    notes: dict[str, Any] = {} if limit is None else {BACKOFF_LIMIT_ANNOTATION: limit}
    return {"metadata": {"annotations": notes}}


@pytest.mark.parametrize(
    ("limit", "before", "after", "fails"),
    [
        ("2", 2, 3, True),
        ("2", 1, 2, False),
        ("2", 3, 3, False),  # resumed by its owner since
        ("2", 3, 4, True),
        ("0", 0, 1, True),
        (None, 0, 99, False),
    ],
)
def test_a_job_fails_with_the_error_that_is_one_too_many(
    limit: str | None, before: int, after: int, *, fails: bool
) -> None:
    found = failed_too_often(TrainingRunStatus(errors=before), TrainingRunStatus(errors=after), job(limit))

    assert (found is not None) is fails
    if found is not None:
        assert (found.phase, found.reason) == ("Failed", "TooManyErrors")
