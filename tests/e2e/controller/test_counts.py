"""What is counted, and what is done at the count: evictions on a tier, each once, errors apart from them."""

from typing import Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import node_of
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION
from tests.e2e.controller.gangs import APART, EIGHT, GANGS, JOBSET, RAY_EIGHT, RAYJOB, Gang
from tests.e2e.controller.interruptions import interruptions
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import KNOB, ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.ray import ends, runs
from tests.e2e.stage import Object

PARTS = Parts.JOBSET | Parts.KUBERAY

TOGETHER: Final = (1, 2, 4)
"""Pods of eight; the most of them are looked at for a while, since each of them could be counted."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@both
def test_a_tier_tolerates_its_max_failures_and_one_more_moves_the_whole_gang(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=5)
    pods = running(here, gang, spot(max_failures=2), on_demand())
    for evictions, pool in ((1, SPOT_POOL), (2, SPOT_POOL), (3, ON_DEMAND_POOL)):
        lost = here.on(nodes_of(pods)[0])
        drained(here, nodes_of(pods)[0])
        pods = gang.runs(here, pool, without=lost)
        here.says(gang.name, phase="Running", tier=pool, evictions=evictions, errors=0)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=3, quiet=True)
    assert [each.pool for each in interruptions(here.recorder.raw(), gang.name)] == [SPOT_POOL] * 3
    here.has_told(gang.name, *["Evicted"] * 3, "Moving", "Moved")


@pytest.mark.parametrize("gang", [EIGHT, RAY_EIGHT], ids=str)
@pytest.mark.parametrize("count", TOGETHER)
def test_pods_of_eight_that_are_lost_together_count_once(here: Controlled, gang: Gang, count: int) -> None:
    furnished(here, gang)
    pods = running(here, gang, spot(max_failures=5), on_demand())
    here.add_nodes(SPOT_POOL, 2)
    # from both nodes in turn, which are both about to go
    lost = [pod for pair in zip(*_by_node(pods), strict=True) for pod in pair][:count]
    here.give_notice(nodes_of(pods))
    for pod in lost:
        here.evict(pod)
    gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", evictions=1, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=1, quiet=count == TOGETHER[-1])


def _by_node(pods: list[Object]) -> list[list[Object]]:
    """Pods, node by node."""
    return [[pod for pod in pods if node_of(pod) == node] for node in nodes_of(pods)]


@both
def test_a_drain_of_a_node_that_stays_is_charged_to_nobody(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    here.evict(pods[0])
    gang.runs(here, SPOT_POOL, without=pods[:1])
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=0, voluntary=1, quiet=True)


def test_an_error_of_a_jobset_is_held_against_its_own_limit_and_never_against_the_tier(here: Controlled) -> None:
    gang = JOBSET
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand())
    here.submit(gang.job(here, name, notes={BACKOFF_LIMIT_ANNOTATION: "1"}))
    pods = gang.runs(here, SPOT_POOL)

    here.turn(pods[:1], "exit-code", 1)
    again = gang.runs(here, SPOT_POOL, without=pods)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0, errors=1)

    here.turn(again[:1], "exit-code", 1)
    here.says(gang.name, phase="Failed", reason="TooManyErrors", errors=2)
    here.wait(lambda: not gang.moving(here), "its nodes to be given back")
    assert here.job(gang.kind)["spec"]["suspend"] is True
    here.has_lived(gang.name, SPOT_POOL, evictions=0, errors=2, quiet=True)
    here.has_told(gang.name, "Error", "Error", "Failed")


def test_a_ray_program_that_fails_is_an_error_and_the_attempt_after_the_last_is_not_made(here: Controlled) -> None:
    gang = RAYJOB
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand())
    here.submit(gang.job(here, name, notes={BACKOFF_LIMIT_ANNOTATION: "1"}))
    first = runs(here, SPOT_POOL)

    ends(here, first["jobId"], "FAILED")
    second = runs(here, SPOT_POOL, not_as=first["jobId"])
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0, errors=1)

    ends(here, second["jobId"], "FAILED")
    here.says(gang.name, phase="Failed", reason="TooManyErrors", errors=2)
    here.wait(lambda: not gang.moving(here), "its nodes to be given back")
    here.has_lived(gang.name, SPOT_POOL, evictions=0, errors=2, quiet=True)
    here.has_told(gang.name, "Error", "Error", "Failed")


@pytest.mark.parametrize("gang", [EIGHT, APART], ids=lambda gang: gang.experiment)
def test_a_gang_that_would_hang_after_an_exit_with_0_is_restarted_and_its_owner_is_told(
    here: Controlled, gang: Gang
) -> None:
    furnished(here, gang, spot=4)
    name = here.policy(spot(max_failures=5), on_demand())
    here.submit(gang.job(here, name, knobs={f"{KNOB}exit-code-on-term": "0"}))
    pods = gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running")

    drained(here, nodes_of(pods)[0])

    gang.runs(here, SPOT_POOL, without=pods)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, evictions=1, quiet=gang is EIGHT)
    assert [each["reason"] for each in here.run(gang.name)["history"] if each["what"] == "Restarted"] == ["SilentHang"]
    (told,) = here.events("Restarted", gang.kind)
    assert "exit code 0" in told
