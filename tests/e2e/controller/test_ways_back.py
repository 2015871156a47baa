"""Waiting, moving for time, asking, coming back: what the rule says, carried out on jobs."""

from typing import Any, Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import works
from spotproof.vocabulary import DEADLINE_ANNOTATION, WORK_ANNOTATION
from tests.e2e.controller import timeline
from tests.e2e.controller.gangs import GANGS, JOBSET, Gang, jobset
from tests.e2e.controller.policies import LONG, SHORT, on_demand, seconds_of, spot
from tests.e2e.controller.scenery import (
    LATE_SECONDS,
    NODES,
    asked_before,
    furnished,
    left_after,
    running,
    submitted,
)
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import HEAD_POOL, ON_DEMAND_POOL, SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
STAY: Final = "6s"
"""More than a gang takes to be placed on nodes that are there: what a return waits for is this."""
RESOLUTION_SECONDS: Final = 1.0
"""Times inside objects are whole seconds, so that a wait is up to one shorter than it looks."""
EARLY_SECONDS: Final = 2.0
"""And no object says when a job was resumed: the recorder sees that late where the machine is busy (of 7,728 objects of
a whole run two by over 0.2 s, one of them by 0.6 s or more)."""
RETURN: Final[dict[str, Any]] = {"return_": {"minStay": STAY}, "probe": {"every": "3s"}}
WORK_HOURS: Final = "0.01"
WORK: Final = 36
DEADLINE: Final = 60
RESTART: Final = 2
MARGIN: Final = 6
"""Seconds, as the three before it: of the work named above, from the job's creation, of a start, and over."""
KEPT_SHARE: Final = 0.10
"""Of the time left `pace` keeps a tenth to spare while it waits, and a start more than `guard` (docs/economics.md)."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@both
def test_a_gang_that_finds_no_place_for_its_timeout_moves_on(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0)
    submitted(here, gang, spot(pending_timeout=SHORT), on_demand())
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=0)
    here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)
    left_after(here, gang, SHORT)
    here.has_told(gang.name, "Moving", "Moved")


@both
def test_a_gang_on_on_demand_returns_to_spot_after_its_stay_once_that_has_answered(
    here: Controlled, gang: Gang
) -> None:
    furnished(here, gang, spot=2)
    pods = running(here, gang, spot(max_failures=0), on_demand(), **RETURN)
    drained(here, *nodes_of(pods))
    here.wait(lambda: is_resumed(here, gang), "the job to be resumed on on-demand")
    here.add_nodes(SPOT_POOL, 2)  # there at once, so that nothing but its stay keeps it from coming back

    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, SPOT_POOL, evictions=1)
    here.has_told(gang.name, "Evicted", *["Moving", "Moved"] * 2)

    down, up = timeline.suspensions(here.recorder.raw(), gang.name)
    assert down.until is not None
    stayed = up.since - down.until
    assert seconds_of(STAY) - EARLY_SECONDS <= stayed <= seconds_of(STAY) + LATE_SECONDS, f"{stayed:.1f} s"
    asked_before(here, SPOT_POOL, up.since)


@both
def test_a_job_that_is_deleted_while_it_asks_leaves_no_question(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0)
    quickly: dict[str, Any] = {"return_": {"minStay": "1s"}, "probe": {"every": "3s"}}
    running(here, gang, spot(), on_demand(), pool=ON_DEMAND_POOL, **quickly)
    here.wait(lambda: timeline.probes(here.recorder.raw(), SPOT_POOL), "a probe to wait for spot")
    job = here.job(gang.kind)
    here.kube.delete(job["apiVersion"], gang.kind, gang.name, here.namespace)
    here.wait(
        lambda: all(each.gone is not None for each in timeline.probes(here.recorder.raw(), SPOT_POOL)),
        "the probe to be gone",
    )
    here.wait(lambda: not gang.moving(here), "its pods to be gone")


def test_a_return_waits_while_there_were_as_many_moves_as_an_hour_may_have(here: Controlled) -> None:
    furnished(here, JOBSET, spot=2)
    pods = running(here, JOBSET, spot(max_failures=0), on_demand(), maxMovesPerHour=1, **RETURN)
    drained(here, nodes_of(pods)[0])
    JOBSET.runs(here, ON_DEMAND_POOL)
    here.add_nodes(SPOT_POOL, 2)
    here.says(JOBSET.name, phase="Running", tier=ON_DEMAND_POOL, reason="TooManyMoves")
    here.has_lived(JOBSET.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
    assert len(timeline.suspensions(here.recorder.raw(), JOBSET.name)) == 1
    assert not timeline.probes(here.recorder.raw(), SPOT_POOL), "nothing is asked for a move that is not made"


@both
@pytest.mark.parametrize("mode", ["guard", "pace"])
def test_a_job_whose_deadline_comes_near_is_taken_to_on_demand_when_it_has_to_be(
    here: Controlled, gang: Gang, mode: str
) -> None:
    here.add_nodes(ON_DEMAND_POOL, NODES)
    deadline = {"mode": mode, "restart": f"{RESTART}s", "margin": f"{MARGIN}s", "checkpointEvery": "1s"}
    # a tier counts as having room while its nodes may be on their way, which is for its timeout at most; and of the two
    # only `guard` would leave for that timeout
    tier = spot(pending_timeout=SHORT if mode == "pace" else LONG)
    name = here.policy(tier, on_demand(), deadline=deadline)
    here.submit(gang.job(here, name, notes={DEADLINE_ANNOTATION: f"{DEADLINE}s", WORK_ANNOTATION: WORK_HOURS}))
    here.wait(lambda: here.job(gang.kind)["spec"].get("suspend"), "the job to be taken from spot")
    if gang.kind == "RayJob":  # with a head that has its node, half a gang would give that back meanwhile
        here.add_nodes(HEAD_POOL, 1)
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL)
    here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)

    recording = here.recorder.recording()
    (move,) = timeline.suspensions(recording, gang.name)
    waited = move.since - timeline.made_at(recording, gang.name)
    earliest, latest = moment_of(mode)
    assert earliest <= waited <= latest, f"taken after {waited:.1f} s, {earliest:.1f} to {latest:.1f} s were meant"


def moment_of(mode: str) -> tuple[float, float]:
    """From when to when on-demand is to be taken, in seconds from the job's creation, while it waits for spot.

    The guard waits until work and start just fill what is left before the margin, a second early rather than late;
    after the margin the job could not be in time. `pace` keeps a share of what is left, and goes before the guard.
    """
    guard = DEADLINE - MARGIN - WORK - RESTART - RESOLUTION_SECONDS
    if mode == "guard":
        return guard, DEADLINE - WORK - RESTART
    return DEADLINE - MARGIN - (WORK + 2 * RESTART) / (1 - KEPT_SHARE) - RESOLUTION_SECONDS, guard


@both
def test_half_of_a_gang_gives_its_nodes_back_and_has_all_of_them_when_there_are_enough(
    here: Controlled, gang: Gang
) -> None:
    furnished(here, gang, spot=0, on_demand=1)
    submitted(here, gang, on_demand(pending_timeout=SHORT), pool=ON_DEMAND_POOL)
    here.says(gang.name, phase="Parked")
    here.wait(lambda: not gang.moving(here), "the nodes to be given back")
    here.add_nodes(ON_DEMAND_POOL, 1)
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=0)
    here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)
    # on a slow machine it may have tried again before there were enough
    told = [each for each in timeline.events(here.recorder.raw(), gang.name) if each in {"Parked", "Unparked"}]
    assert told == ["Parked", "Unparked"] * max(len(told) // 2, 1)


def test_two_gangs_of_six_nodes_on_a_last_tier_of_eight_both_come_to_their_end(here: Controlled) -> None:
    gangs = [jobset("six", name, 6) for name in ("first", "second")]
    name = here.policy(on_demand(pending_timeout=SHORT))
    for gang in gangs:
        here.submit(gang.job(here, name, pool=ON_DEMAND_POOL))
    here.wait(lambda: all(len(gang.moving(here)) == gang.pods for gang in gangs), "all pods to be made")
    # one by one, so that each gang gets some of them
    here.add_nodes(ON_DEMAND_POOL, 8)

    ended: set[str] = set()
    for _ in gangs:
        done = here.wait(lambda: next((one for one in gangs if whole(here, one, ended)), None), "a gang to be whole")
        done.finish(here)
        here.wait(lambda one=done: one.is_finished(here), f"{done.name} to be done")
        ended.add(done.name)
        here.says(done.name, phase="Succeeded")
    for gang in gangs:
        here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)


def is_resumed(here: Controlled, gang: Gang) -> bool:
    """Whether a suspension of the job is over."""
    return any(each.until is not None for each in timeline.suspensions(here.recorder.raw(), gang.name))


def whole(here: Controlled, gang: Gang, ended: set[str]) -> bool:
    """Whether a gang that has not ended runs whole."""
    return gang.name not in ended and sum(map(works, gang.moving(here))) == gang.pods
