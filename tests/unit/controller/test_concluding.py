"""What a visit comes to: words of a missing role, restarts that save nothing, errors beyond the job's own limit."""

from typing import Any, get_args

import pytest

from spotproof.controller.concluding import STALLED, counting, decided, failed_too_often, in_phase, progressing
from spotproof.controller.kinds import Object
from spotproof.controller.said import SPOT_ROLE_COMMAND, Said, Want
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.record import Cause, Interruption, Past, RunPhase, TrainingRunStatus
from spotproof.fallback.run import Action, Decision
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION
from tests.unit.controller.things import NOW, gang, pod

WAITING = TrainingRunStatus(tier="spot", waiting_since=NOW - 700)
ROLE = Said(Want.ROLE, f"the account's service-linked role for spot, which is missing: run `{SPOT_ROLE_COMMAND}`")
NO_ROOM = Said(Want.CAPACITY, "capacity: the cloud has none for it now")
BETWEEN = Reason(Code.WAITING, ("spot", 700, 3600))
DRY = Reason(Code.DRY, ("spot", 700))


PATIENCE = 3600.0


def concluded(reason: Reason, said: Said | None, status: TrainingRunStatus = WAITING) -> TrainingRunStatus:
    """A job that waits, after the rule's answer."""
    answer = Decision(Action.WAIT, "spot", reason)
    return decided(status, answer, gang(pod("a", waits=True)), said, NOW, patience=PATIENCE)


@pytest.mark.parametrize("reason", [BETWEEN, DRY], ids=["on any tier", "on the last"])
def test_a_missing_role_for_spot_is_no_dry_market_and_the_reason_gives_the_command(reason: Reason) -> None:
    status = concluded(reason, ROLE)

    assert (status.phase, status.reason) == ("Waiting", "SpotRoleMissing")
    assert SPOT_ROLE_COMMAND in status.message
    assert "no capacity" not in status.message
    assert conditions(status) == ([] if reason is BETWEEN else ["SpotRoleMissing"]), "no wait will help"


@pytest.mark.parametrize("said", [NO_ROOM, None])
def test_a_market_without_capacity_keeps_the_words_of_the_rule(said: Said | None) -> None:
    assert concluded(DRY, said).reason == "DryMarket"


def conditions(status: TrainingRunStatus) -> list[str]:
    """Why the last tier is said to wait, where it is."""
    return [each.reason for each in status.conditions if (each.type, each.status) == ("LastTierWaits", "True")]


def waiting_for(seconds: int) -> TrainingRunStatus:
    return WAITING.model_copy(update={"waiting_since": NOW - seconds})


def test_the_owner_is_told_of_the_last_tier_as_its_pending_timeout_ends_and_until_it_has_a_place() -> None:
    assert conditions(concluded(DRY, NO_ROOM, waiting_for(3599))) == []
    told = concluded(DRY, NO_ROOM, waiting_for(3600))
    assert conditions(told) == ["NoRoom"]

    # parked and resumed: its clock begins anew, and its wait is the same
    again = told.model_copy(update={"waiting_since": None})
    placing = Decision(Action.WAIT, "spot", Reason(Code.PLACED, ("spot",)))
    between = decided(again, placing, gang(pod("a")), None, NOW, patience=PATIENCE)
    assert conditions(between) == ["NoRoom"]
    assert conditions(concluded(DRY, NO_ROOM, between.model_copy(update={"waiting_since": NOW - 5}))) == ["NoRoom"]

    runs = Decision(Action.STAY, "spot", Reason(Code.RUNNING, ("spot",)))
    assert conditions(decided(again, runs, gang(pod("a", node="n")), None, NOW, patience=PATIENCE)) == []


@pytest.mark.parametrize("phase", get_args(RunPhase))
def test_a_job_in_other_hands_waits_for_nothing_and_holds_nothing(phase: RunPhase) -> None:
    """Else the clock of its wait had gone on for hours when it came back, and others waited for it to give nodes."""
    half = WAITING.model_copy(update={"nodes_held": 2, "waiting_for": "capacity"})
    after = in_phase(half, phase, "reason", "message")

    ours = phase in {"Pending", "Waiting", "Running", "Restarting", "Moving", "Parked"}
    assert (after.waiting_since, after.nodes_held) == ((NOW - 700, 2) if ours else (None, 0))


INTERRUPTED = Interruption(
    attempt="0", pool="spot", restarts=1, errors=1, since=NOW, cause="undecided", evidence="pod a: Evicted"
)


def interrupted(cause: Cause | None, *history: str, evictions: int = 0, errors: int = 0) -> TrainingRunStatus:
    """A job whose interruption is taken for something, or is over."""
    open_ = None if cause is None else INTERRUPTED.model_copy(update={"cause": cause})
    past = tuple(Past.model_validate({"at": NOW, "what": each, "reason": "r", "message": ""}) for each in history)
    return TrainingRunStatus(tier="spot", interruption=open_, history=past, evictions=evictions, errors=errors)


@pytest.mark.parametrize(
    ("words", "before", "after", "history"),
    [
        ("evidence", interrupted("undecided"), interrupted("voluntary"), ["Disrupted"]),
        ("at once", interrupted(None), interrupted("voluntary"), ["Disrupted"]),
        ("told before", interrupted("voluntary"), interrupted(None), []),
        ("over without evidence", interrupted("undecided"), interrupted(None), ["Disrupted"]),
        ("an eviction", interrupted("undecided"), interrupted("eviction", evictions=1), ["Evicted"]),
        ("an eviction, and over", interrupted("undecided"), interrupted(None, evictions=1), ["Evicted"]),
        (
            "nobody's fault turned out to be an eviction",
            interrupted("voluntary", "Moved", "Disrupted"),
            interrupted("eviction", "Moved", "Disrupted", evictions=1),
            ["Moved", "Evicted"],
        ),
        (
            "the same as it ended",
            interrupted("voluntary", "Disrupted"),
            interrupted(None, "Disrupted", evictions=1),
            ["Evicted"],
        ),
        (
            "an error turned out to be an eviction",
            interrupted("error", "Failed", "Moved", "Failed", errors=2),
            interrupted("eviction", "Failed", "Moved", "Failed", evictions=1, errors=1),
            ["Failed", "Moved", "Evicted"],
        ),
    ],
)
def test_the_history_has_each_interruption_once_as_what_it_is(
    words: str, before: TrainingRunStatus, after: TrainingRunStatus, history: list[str]
) -> None:
    assert [each.what for each in counting(before, after, NOW).history] == history, words


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
