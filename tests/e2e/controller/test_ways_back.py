"""Waiting, moving for time, asking, coming back: what the rule says, carried out on jobs."""

from typing import Any, Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import works
from spotproof.vocabulary import DEADLINE_ANNOTATION, SYSTEM_NAMESPACE, WORK_ANNOTATION
from tests.e2e.controller import judge
from tests.e2e.controller.gangs import GANGS, JOBSET, Gang, jobset
from tests.e2e.controller.policies import SHORT, on_demand, spot
from tests.e2e.controller.scenery import furnished, running, submitted
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
RETURN: Final[dict[str, Any]] = {"return_": {"minStay": "3s"}, "probe": {"every": "3s"}}
WORK_HOURS: Final = "0.01"
"""36 s."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@both
def test_a_gang_that_finds_no_place_for_its_timeout_moves_on(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0)
    submitted(here, gang, spot(pending_timeout=SHORT), on_demand())
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=0)
    here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)


@both
def test_a_gang_on_on_demand_returns_to_spot_once_that_has_answered(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=2)
    pods = running(here, gang, spot(max_failures=0), on_demand(), **RETURN)
    drained(here, *nodes_of(pods))
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)

    here.add_nodes(SPOT_POOL, 2)

    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, SPOT_POOL, evictions=1)
    here.wait(lambda: not here.kube.list("v1", "Pod", SYSTEM_NAMESPACE), "the probe to be gone")


def test_a_return_waits_while_there_were_as_many_moves_as_an_hour_may_have(here: Controlled) -> None:
    furnished(here, JOBSET, spot=2)
    pods = running(here, JOBSET, spot(max_failures=0), on_demand(), maxMovesPerHour=1, **RETURN)
    drained(here, nodes_of(pods)[0])
    JOBSET.runs(here, ON_DEMAND_POOL)
    here.add_nodes(SPOT_POOL, 2)
    here.says(JOBSET.name, phase="Running", tier=ON_DEMAND_POOL, reason="TooManyMoves")
    here.has_lived(JOBSET.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)


@both
@pytest.mark.parametrize("mode", ["guard", "pace"])
def test_a_job_whose_deadline_comes_near_is_taken_to_on_demand(here: Controlled, gang: Gang, mode: str) -> None:
    furnished(here, gang, spot=0)
    deadline = {"mode": mode, "restart": "2s", "margin": "2s", "checkpointEvery": "1s"}
    name = here.policy(spot(), on_demand(), deadline=deadline)
    here.submit(gang.job(here, name, notes={DEADLINE_ANNOTATION: "60s", WORK_ANNOTATION: WORK_HOURS}))
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL)
    told = judge.said(here.recorder.raw())
    moved = next(each for each in told if each.tier == ON_DEMAND_POOL)
    assert moved.at - told[0].at < 30, "after that it could not have been in time"


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


def whole(here: Controlled, gang: Gang, ended: set[str]) -> bool:
    """Whether a gang that has not ended runs whole."""
    return gang.name not in ended and sum(map(works, gang.moving(here))) == gang.pods
