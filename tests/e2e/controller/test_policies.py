"""A policy that is edited, deleted and made again while jobs run under it."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.vocabulary import API_VERSION
from tests.e2e.controller import seen
from tests.e2e.controller.gangs import GANGS, Gang, jobset
from tests.e2e.controller.policies import SHORT, Tier, on_demand, policy, spot
from tests.e2e.controller.scenery import furnished, running, submitted
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.stage import Object

PARTS = Parts.JOBSET | Parts.KUBERAY

both = pytest.mark.parametrize("gang", GANGS, ids=str)


def evicted_once(here: Controlled, gang: Gang, pods: list[Object]) -> list[Object]:
    """A node goes; the gang runs again on spot, and it is counted."""
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    again = gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1)
    return again


@both
def test_a_tier_that_is_to_tolerate_less_than_was_counted_is_left_at_the_next_decision(
    here: Controlled, gang: Gang
) -> None:
    furnished(here, gang, spot=3)
    evicted_once(here, gang, running(here, gang, spot(max_failures=5), on_demand()))
    here.recorder.mark("edit the policy")
    here.policy(spot(max_failures=0), on_demand())
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
    (move,) = seen.suspensions(here.recorder.raw(), gang.name)
    assert move.is_ours
    assert move.since > seen.marked(here.recorder.raw(), "edit the policy")


@contextmanager
def another_policy(here: Controlled, *tiers: Tier) -> Generator[str]:
    """A second policy beside the test's own."""
    name = f"{here.namespace}-other"
    here.kube.apply(policy(name, *tiers), force=True)
    yield name
    here.kube.delete(API_VERSION, "FallbackPolicy", name)


@both
def test_a_job_that_waits_is_given_the_time_of_an_edited_policy(here: Controlled, gang: Gang) -> None:
    twin = jobset("pair", "twin", 2)
    furnished(here, gang, spot=0, on_demand=3)
    submitted(here, gang, spot(pending_timeout=SHORT), on_demand())
    here.wait(lambda: here.run(gang.name).get("waitingSince"), "the gang to wait for spot")
    here.policy(spot(), on_demand())
    with another_policy(here, spot(pending_timeout=SHORT), on_demand()) as name:
        # it began to wait later than the other, and for as long as that was to
        here.submit(twin.job(here, name))
        twin.runs(here, ON_DEMAND_POOL)
        here.says(twin.name, phase="Running", tier=ON_DEMAND_POOL)
        here.has_lived(twin.name, ON_DEMAND_POOL, evictions=0)
    assert seen.suspensions(here.recorder.raw(), gang.name) == []
    here.add_nodes(SPOT_POOL, 2)
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=0)
    assert seen.suspensions(here.recorder.raw(), gang.name) == []


@both
def test_a_job_whose_policy_is_deleted_and_made_again_stays_and_is_moved_by_it(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=4)
    tiers = spot(max_failures=1), on_demand()
    pods = evicted_once(here, gang, running(here, gang, *tiers))
    here.kube.delete(API_VERSION, "FallbackPolicy", here.namespace)
    here.says(gang.name, phase="Refused", reason="UnknownPolicy")
    here.policy(*tiers)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1)
    assert {pod["metadata"]["uid"] for pod in gang.moving(here)} == {pod["metadata"]["uid"] for pod in pods}
    drained(here, nodes_of(pods)[0])
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=2)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=2)
    assert len(seen.suspensions(here.recorder.raw(), gang.name)) == 1
