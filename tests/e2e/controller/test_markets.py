"""Under Karpenter: nodes that are bought or not to be had, a claim that is taken, two gangs that meet."""

from typing import Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import waits
from spotproof.vocabulary import ON_DEMAND, SPOT
from tests.e2e.controller import timeline
from tests.e2e.controller.gangs import GANGS, Gang
from tests.e2e.controller.policies import NEXT_SPOT_POOL, on_demand, spot
from tests.e2e.controller.scenery import asked_before, closed_by_limits, furnished, left_after, running, submitted
from tests.e2e.controller.stage import Controlled, claimed, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL, environment, pools

PARTS = Parts.ALL
INSTANCE_TYPES = pools().instance_types
PATIENT: Final = "12s"
"""Longer than Karpenter takes for a node here, on a busy machine, while one can be had."""
LIMITS: Final = f"limits have been exhausted for nodepool (NodePool={SPOT_POOL})"
"""In Karpenter's event on a pod that it may buy no node for."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@both
def test_a_claim_that_is_taken_is_one_eviction_and_the_next_node_is_bought(here: Controlled, gang: Gang) -> None:
    pods = running(here, gang, spot(max_failures=5), on_demand())
    lost = here.on(nodes_of(pods)[0])
    claimed(here, nodes_of(pods)[0])
    gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=1, quiet=True)


@both
def test_a_spot_market_without_capacity_is_left_after_the_timeout(here: Controlled, gang: Gang) -> None:
    here.close_market(capacity_type=SPOT)
    submitted(here, gang, spot(pending_timeout=PATIENT), on_demand())
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=0)
    here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)
    left_after(here, gang, PATIENT)
    assert _refused(here, SPOT_POOL), "Karpenter was to be refused a machine of spot"
    assert not _refused(here, ON_DEMAND_POOL)


@both
def test_a_pool_at_its_limits_is_left_after_the_timeout(here: Controlled, gang: Gang) -> None:
    with closed_by_limits(here, SPOT_POOL):
        submitted(here, gang, spot(pending_timeout=PATIENT), on_demand())
        gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=0)
    here.has_lived(gang.name, ON_DEMAND_POOL, evictions=0)
    left_after(here, gang, PATIENT)
    assert any(LIMITS in said for said in here.events("FailedScheduling", "Pod"))
    assert not here.events("InsufficientCapacityError", "NodeClaim"), "nobody was asked for a machine"


@both
def test_a_tier_of_the_same_price_is_asked_and_taken_before_on_demand(here: Controlled, gang: Gang) -> None:
    (zone,) = environment().zones_of(environment().pool(SPOT_POOL))
    here.close_market(capacity_type=SPOT, zone=zone)
    submitted(here, gang, spot(), spot(pool=NEXT_SPOT_POOL), on_demand(), probe={"every": "5s"})
    gang.runs(here, NEXT_SPOT_POOL)
    here.says(gang.name, phase="Running", tier=NEXT_SPOT_POOL, evictions=0)
    here.has_lived(gang.name, NEXT_SPOT_POOL, evictions=0)
    (move,) = timeline.suspensions(here.recorder.raw(), gang.name)
    asked_before(here, NEXT_SPOT_POOL, move.since)
    assert not timeline.probes(here.recorder.raw(), ON_DEMAND_POOL), "on-demand is dearer"


@both
def test_while_on_demand_is_dry_too_spot_is_asked_and_taken_when_it_comes_back(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0, on_demand=0)
    here.close_market(capacity_type=SPOT)
    here.close_market(capacity_type=ON_DEMAND)
    submitted(here, gang, spot(pending_timeout=PATIENT), on_demand(PATIENT), probe={"every": "5s"})
    here.says(gang.name, tier=ON_DEMAND_POOL, phase="Waiting")
    here.wait(lambda: any(waits(pod) for pod in gang.moving(here)), "the gang to wait for on-demand")
    here.wait(lambda: _refused(here, ON_DEMAND_POOL), "Karpenter to be refused a machine of on-demand")
    here.recorder.mark("open the market", SPOT)
    here.plane.market.open(capacity_type=SPOT)
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, tier=SPOT_POOL, phase="Running", evictions=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=0)
    left_after(here, gang, PATIENT, moves=2)
    away, back = timeline.suspensions(here.recorder.raw(), gang.name)
    assert away.until is not None
    (opened,) = (each.at for each in here.recorder.raw().marks if each.did == "open the market")
    assert away.until < opened < back.since
    asked_before(here, SPOT_POOL, back.since)


def _refused(here: Controlled, pool: str) -> bool:
    """Whether a NodeClaim of a pool came to nothing for want of capacity."""
    said = [each.object for each in here.recorder.raw().versions if each.kind == "Event"]
    return any(
        each.get("reason") == "InsufficientCapacityError" and each["involvedObject"]["name"].rpartition("-")[0] == pool
        for each in said
    )
