"""All spot is taken and none is to be had: the gang waits, says why, and runs again when the market opens."""

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import condition, node_of, waits
from spotproof.vocabulary import SPOT
from tests.e2e.jobs import PODS, SPOT_POOL, pools, rendered
from tests.e2e.stage import Stage

PARTS = Parts.JOBSET | Parts.KARPENTER
INSTANCE_TYPES = pools().instance_types


def test_a_gang_that_lost_all_spot_in_a_dry_market_waits_and_runs_when_the_market_opens(stage: Stage) -> None:
    stage.submit(rendered("gang", stage.namespace))
    nodes = {node_of(pod) for pod in stage.gang_runs(PODS, SPOT_POOL)}
    assert len(nodes) == 2

    stage.close_market(capacity_type=SPOT)
    for node in sorted(nodes):
        stage.reclaim(node)

    stage.wait(lambda: len([pod for pod in stage.pods() if waits(pod)]) == PODS, "every pod to wait")
    refused = stage.wait(
        lambda: stage.events("InsufficientCapacityError", "NodeClaim"), "a NodeClaim to be refused for want of capacity"
    )
    assert "the market has no capacity for any offering of this claim" in refused[0]
    assert any("available" in said for said in stage.events("FailedScheduling", "Pod"))
    assert not any(node_of(pod) for pod in stage.pods())
    assert condition(stage.job(), "RestartingJobSet")["status"] == "True"

    stage.open_market()

    stage.gang_runs(PODS, SPOT_POOL)
    stage.tells("jobset-dry-market")
