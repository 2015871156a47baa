"""Counting, told as a sequence of looks at one job."""

from dataclasses import replace
from typing import Any

import pytest

from spotproof.controller.causes import DRAIN_SECONDS, LOOK_SECONDS, Evidence
from spotproof.controller.gang import Gang
from spotproof.controller.interruptions import BEFORE, SUSPENDED, Facts, Loss, account, cut_off, restarts
from spotproof.controller.jobs.contract import JobState
from spotproof.fallback.record import Counted, TrainingRunStatus
from tests.unit.controller.things import NOW, gang, pod, state

WHOLE = gang(pod("a"), pod("b"))
HALF = gang(pod("b"))
EVICTION, ERROR = Evidence("eviction", "node-1 is gone"), Evidence("error", "exit code 1")
DRAINED = Evidence("undecided", "DisruptionTarget: EvictionByEvictionAPI", "node-9")
SILENT = Evidence("unexplained", "pod a is gone", "node-9")


def running(**counted: Any) -> TrainingRunStatus:
    """A job that is whole."""
    return TrainingRunStatus(tier="spot", counted=Counted(attempt="0", whole_since=NOW - 60, **counted))


def looked(  # noqa: PLR0913
    status: TrainingRunStatus,
    seen: Gang = HALF,
    *lost: Evidence,
    after: int = 0,
    has: JobState | None = None,
    attempt: str = "0",
    spot: bool = True,
    fates: tuple[str, ...] = (),
    unseen: bool = False,
) -> TrainingRunStatus:
    """One look, so many seconds after the first."""
    losses = [Loss(f"uid-{number}", attempt, each) for number, each in enumerate(lost)]
    return account(status, Facts(NOW + after, "spot", spot, has or state(), seen, losses, fates, unseen=unseen))


def counts(status: TrainingRunStatus) -> tuple[int, int, list[str]]:
    """Evictions, errors, and what is held against the tier."""
    return status.evictions, status.errors, [each.kind for each in status.failures]


def test_a_whole_gang_loses_nothing() -> None:
    assert looked(running(), WHOLE) == running()


@pytest.mark.parametrize("pods", [1, 2, 4])
def test_pods_that_are_lost_together_count_once(pods: int) -> None:
    lost = looked(running(), HALF, *[EVICTION] * pods)
    again = looked(lost, HALF, *[EVICTION] * pods, after=1, has=state(1))

    assert counts(again) == (1, 0, ["eviction"])


def test_an_interruption_lasts_until_the_gang_is_whole_however_often_it_restarts() -> None:
    status = looked(running(), HALF, EVICTION)
    status = looked(status, HALF, EVICTION, after=3, has=state(1))
    status = looked(status, HALF, EVICTION, after=9, has=state(2), attempt="1")
    status = looked(status, WHOLE, after=20, has=state(3))

    assert counts(status) == (1, 0, ["eviction"])
    assert status.interruption is None
    assert status.counted == Counted(attempt="3", restarts=3, whole_since=NOW + 20)
    assert status.restart_seconds == (20,)


def test_what_an_eviction_does_to_its_gang_is_no_error_though_the_operator_counts_one() -> None:
    status = looked(running(), HALF, ERROR, EVICTION)
    status = looked(status, WHOLE, after=9, has=state(1, 1))

    assert counts(status) == (1, 0, ["eviction"])


def test_an_error_that_proves_to_be_an_eviction_is_counted_as_one() -> None:
    status = looked(running(), HALF, ERROR)
    assert counts(status) == (0, 1, ["error"])

    assert counts(looked(status, HALF, ERROR, EVICTION, after=2)) == (1, 0, ["eviction"])


def test_an_error_of_the_attempt_that_was_to_recover_is_an_error_of_its_own() -> None:
    status = looked(running(), HALF, EVICTION)
    status = looked(status, HALF, ERROR, after=9, has=state(1), attempt="1")
    status = looked(status, HALF, ERROR, after=10, has=state(2, 1), attempt="1")
    status = looked(status, WHOLE, after=20, has=state(2, 1))

    assert counts(status) == (1, 1, ["eviction", "error"])


def test_a_program_that_fails_before_its_gang_is_whole_is_counted_each_time() -> None:
    status = looked(running(), HALF, ERROR)
    for number in (1, 2, 3):
        status = looked(status, HALF, ERROR, after=number * 9, has=state(number, number), attempt=str(number))

    assert status.errors == 4


def test_what_a_process_sees_that_began_after_the_loss_is_the_restart_and_no_choice_of_somebodys() -> None:
    status = looked(running(), HALF, SILENT, has=state(1))
    assert counts(status) == (0, 0, [])

    assert counts(looked(status, HALF, SILENT, after=LOOK_SECONDS, has=state(1))) == (1, 0, ["eviction"])
    assert counts(looked(status, HALF, SILENT, after=LOOK_SECONDS, has=state(1, 1))) == (0, 1, ["error"])


@pytest.mark.parametrize(
    ("lost", "counted"), [((), (1, 0)), ((SILENT,), (1, 0)), ((DRAINED,), (0, 0)), ((ERROR,), (0, 1))]
)
def test_of_pods_that_were_gone_before_anybody_looked_those_that_follow_tell_only_what_they_say_themselves(
    lost: tuple[Evidence, ...], counted: tuple[int, int]
) -> None:
    status = looked(running(), HALF, unseen=True)
    status = looked(status, HALF, *lost, after=1)

    assert counts(looked(status, HALF, *lost, after=LOOK_SECONDS, has=state(1)))[:2] == counted


def test_a_pod_that_somebody_deleted_before_its_gang_was_restarted_is_charged_to_nobody() -> None:
    status = looked(running(), HALF, SILENT)

    assert counts(looked(status, HALF, SILENT, after=LOOK_SECONDS, has=state(1))) == (0, 0, [])


def test_a_cluster_that_somebody_has_suspended_and_resumed_unseen_is_charged_to_nobody() -> None:
    """KubeRay counts an attempt that failed; with a suspension the next cluster comes without one."""
    status = TrainingRunStatus(tier="spot", counted=Counted(attempt="ray-1", whole_since=NOW - 60))
    status = looked(status, HALF, unseen=True, has=JobState("ray-2"))

    resumed, retried = JobState("ray-2"), JobState("ray-2", restarts=1, errors=1)
    assert counts(looked(status, HALF, after=LOOK_SECONDS, has=resumed)) == (0, 0, [])
    assert counts(looked(status, HALF, after=LOOK_SECONDS, has=retried)) == (0, 1, ["error"])


@pytest.mark.parametrize(
    ("heeded", "restarts", "counted"),
    [(NOW - 30, 0, (0, 0, [])), (NOW - 60, 0, (1, 0, ["eviction"])), (NOW - 30, 1, (1, 0, ["eviction"]))],
    ids=["suspended since it was whole", "before that", "and restarted since"],
)
def test_an_attempt_that_somebody_has_suspended_and_resumed_unseen_is_charged_to_nobody(
    heeded: int, restarts: int, counted: tuple[int, int, list[str]]
) -> None:
    """JobSet counts no restart for it, and goes on with the attempt."""
    has = state(restarts)._replace(heeded=heeded)
    status = looked(running(), HALF, unseen=True, has=has)

    assert status.interruption is not None
    assert (status.interruption.evidence == SUSPENDED) == (counted == (0, 0, []))
    assert counts(looked(status, HALF, after=LOOK_SECONDS, has=has)) == counted


@pytest.mark.parametrize(
    ("lost", "errors", "spot", "counted"),
    [
        ((), 1, True, (0, 1)),
        ((), 0, True, (1, 0)),
        ((), 0, False, (0, 0)),
        ((SILENT,), 1, True, (0, 1)),
        ((SILENT,), 0, True, (0, 0)),
        ((DRAINED,), 0, True, (0, 0)),
        ((ERROR,), 0, True, (0, 1)),
        ((EVICTION,), 0, True, (1, 0)),
    ],
)
def test_a_move_takes_what_has_no_evidence_yet_for_what_it_would_be_without_any(
    lost: tuple[Evidence, ...], errors: int, counted: tuple[int, int], *, spot: bool
) -> None:
    status = looked(running(), HALF, *lost, unseen=not lost, spot=spot)
    status = cut_off(status, state(1, errors), {"spot"} if spot else ())

    assert counts(status)[:2] == counted
    assert status.interruption is None


def test_a_move_of_a_job_that_nothing_interrupts_charges_nothing() -> None:
    assert cut_off(running(), state(), {"spot"}) == running()


def test_work_that_counts_as_done_since_before_the_gang_was_whole_interrupts_it_and_is_charged_to_nobody() -> None:
    status = TrainingRunStatus(tier="spot", counted=Counted(attempt="0"))
    status = account(status, Facts(NOW, "spot", spot=True, state=state(), gang=HALF, short=True))

    assert counts(status) == (0, 0, [])
    assert status.interruption is not None
    assert (status.interruption.cause, status.interruption.evidence) == ("voluntary", BEFORE)


@pytest.mark.parametrize(("spot", "evictions"), [(True, 1), (False, 0)])
def test_work_that_counts_as_done_of_a_gang_that_had_its_places_is_what_its_tier_says(
    evictions: int, *, spot: bool
) -> None:
    status = TrainingRunStatus(tier="spot", phase="Running", counted=Counted(attempt="0"))
    for after in (0, LOOK_SECONDS):
        facts = Facts(NOW + after, "spot", spot=spot, state=state(), gang=HALF, short=True, placed=True)
        status = account(status, facts)

    assert counts(status) == (evictions, 0, ["eviction"] * evictions)


def test_a_role_that_is_done_is_written_down_and_one_that_left_early_dates_the_interruption() -> None:
    assert looked(running(), replace(WHOLE, done_at=NOW - 20)).counted.whole_since == NOW
    assert looked(running(), replace(WHOLE, done_at=NOW - 80)).counted.whole_since == NOW - 60

    status = looked(running(), replace(HALF, left_early=frozenset({"job"}), left_early_at=NOW - 20), unseen=True)
    assert status.interruption is not None
    assert status.interruption.since == NOW - 20


def test_a_drain_is_charged_to_nobody_unless_the_node_goes() -> None:
    status = looked(running(), HALF, DRAINED)
    status = looked(status, WHOLE, after=9, has=state(1))
    assert counts(status) == (0, 0, [])
    assert status.interruption is not None
    assert status.interruption.nodes == ("node-9",)

    assert counts(looked(status, WHOLE, after=60, has=state(1), fates=("node-9 is gone",))) == (1, 0, ["eviction"])
    stays = looked(status, WHOLE, after=DRAIN_SECONDS, has=state(1))
    assert counts(stays) == (0, 0, [])
    assert stays.interruption is None


def test_a_node_that_the_gang_is_whole_on_again_is_waited_for_no_more() -> None:
    on_it = gang(pod("a", node="node-9"), pod("b"))
    status = looked(looked(running(), HALF, DRAINED), on_it, after=9, has=state(1))

    assert status.interruption is not None
    assert status.interruption.nodes == ()


def test_a_node_that_goes_charges_what_was_open_and_not_what_begins_with_the_same_look() -> None:
    status = looked(looked(running(), HALF, DRAINED), WHOLE, after=9, has=state(1))
    status = looked(status, HALF, after=60, has=state(1), fates=("node-9 is gone",))

    assert counts(status) == (1, 0, ["eviction"])
    assert status.interruption is not None
    assert (status.interruption.since, status.interruption.cause) == (NOW + 60, "undecided")


def test_an_error_that_is_counted_once_an_interruption_is_over_is_of_the_next_one_alone() -> None:
    status = looked(looked(running(), HALF, SILENT), WHOLE, after=2)
    status = looked(status, HALF, after=3, has=state(1, 1))
    assert counts(status) == (0, 0, [])

    assert counts(looked(status, HALF, after=3 + LOOK_SECONDS, has=state(1, 1))) == (0, 1, ["error"])


@pytest.mark.parametrize(("spot", "evictions"), [(True, 1), (False, 0)])
def test_what_only_the_counter_tells_of_is_an_eviction_on_spot_and_nobodys_on_demand(
    evictions: int, *, spot: bool
) -> None:
    status = looked(running(), WHOLE, has=state(1), spot=spot)

    assert counts(status)[:2] == (evictions, 0)


def test_what_the_operator_counts_as_errors_while_nobody_looked_are_errors() -> None:
    status = looked(running(), WHOLE, has=state(3, 2))

    assert sorted(counts(status)[2]) == ["error", "error", "eviction"]
    assert looked(status, WHOLE, after=1, has=state(3, 2)) == status


def test_pods_that_somebody_deletes_on_a_node_that_stays_are_charged_to_nobody() -> None:
    status = looked(running(), HALF, SILENT)
    status = looked(status, HALF, SILENT, after=LOOK_SECONDS)

    assert counts(status) == (0, 0, [])
    assert status.interruption is not None
    assert status.interruption.cause == "voluntary"


def test_the_next_loss_ends_the_wait_for_evidence_of_the_last() -> None:
    status = looked(running(), HALF, DRAINED)
    status = looked(status, WHOLE, after=9, has=state(1))
    status = looked(status, HALF, EVICTION, after=30, has=state(1), attempt="1")

    assert counts(status) == (1, 0, ["eviction"])


def test_a_look_twice_at_the_same_counts_once() -> None:
    status = running()
    for _ in range(5):
        status = looked(status, HALF, EVICTION)

    assert counts(status) == (1, 0, ["eviction"])


@pytest.mark.parametrize(
    ("words", "second", "found"),
    [
        ("the same look again", (HALF, state(1)), 0),
        ("its own restart", (HALF, state(1)), 0),
        ("one more, and the gang was never whole", (HALF, state(2)), 1),
        ("several that nobody saw one by one", (HALF, state(5)), 4),
    ],
)
def test_restarts_of_one_interruption_are_told_one_by_one(
    words: str, second: tuple[Gang, JobState], found: int
) -> None:
    seen, has = second
    first = looked(running(), HALF, EVICTION, has=state(1))
    after = looked(first, seen, EVICTION, after=5, has=has)

    assert restarts(running(), first) == 1
    assert restarts(first, after) == found, words
    assert counts(after) == (1, 0, ["eviction"])


def test_a_program_that_fails_before_its_gang_is_whole_restarts_once_an_error() -> None:
    status, found = looked(running(), HALF, ERROR), []
    for number in range(1, 6):
        after = looked(status, HALF, ERROR, after=number * 9, has=state(number, number), attempt=str(number))
        found.append(restarts(status, after))
        status = after

    assert found == [1, 1, 1, 1, 1]
    assert status.errors == 6


def test_the_end_of_an_interruption_is_no_restart() -> None:
    first = looked(running(), HALF, EVICTION)
    after = looked(first, WHOLE, after=9, has=state(1))

    assert restarts(first, after) == 0


@pytest.mark.parametrize(
    ("words", "has", "lost", "errors"),
    [
        ("KubeRay makes the next attempt, and no pod was lost", JobState("ray-b", 1, 1, retrying=True), (), 1),
        ("a pod was: its evidence may come", JobState("ray-b", 1, 1, retrying=True), (DRAINED,), 0),
        ("nobody has said yet what it was", JobState("ray-b", 1, 1), (), 0),
    ],
)
def test_an_attempt_that_kuberay_is_about_to_make_is_charged_before_it_is_made(
    words: str, has: JobState, lost: tuple[Evidence, ...], errors: int
) -> None:
    """Charged after 10 s, an attempt more than the job's own limit was made."""
    first = looked(running(), HALF, *lost, has=has)
    again = looked(first, HALF, *lost, after=1, has=has)

    assert (first.errors, again.errors) == (errors, errors), words
