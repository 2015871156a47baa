"""What a job says that it waits for, where Karpenter has said why it buys nothing."""

from typing import Final

from spotproof.rehearsal.control_plane import Parts
from spotproof.vocabulary import SPOT
from tests.e2e.controller.gangs import JOBSET
from tests.e2e.controller.policies import SHORT, on_demand, spot
from tests.e2e.controller.scenery import closed_by_limits, submitted
from tests.e2e.controller.stage import Controlled
from tests.e2e.jobs import SPOT_POOL, pools

PARTS = Parts.ALL
INSTANCE_TYPES = pools().instance_types


SECONDS: Final = 60.0


def waits_for(here: Controlled, begins: str) -> None:
    """What the job's TrainingRun says that it waits for comes to begin so."""
    here.wait(
        lambda: here.run(JOBSET.name).get("waitingFor", "").startswith(begins), f"the job to wait for {begins}", SECONDS
    )


def test_a_job_in_a_dry_market_waits_for_capacity(here: Controlled) -> None:
    here.has_pods = False
    here.close_market(capacity_type=SPOT)
    submitted(here, JOBSET, spot(), on_demand())
    here.wait(lambda: here.events("InsufficientCapacityError", "NodeClaim"), "Karpenter to be refused a machine")
    waits_for(here, "capacity: ")


def test_a_job_on_a_pool_at_its_limits_is_told_that_none_is_bought(here: Controlled) -> None:
    """Karpenter says why in an event on the pod alone, which the controller does not read."""
    here.has_pods = False
    with closed_by_limits(here, SPOT_POOL):
        submitted(here, JOBSET, spot(pending_timeout=SHORT))
        here.wait(
            lambda: any("limits" in each for each in here.events("FailedScheduling", "Pod")), "the limits to be said"
        )
        waits_for(
            here, f"a node of {SPOT_POOL}, for which Karpenter makes no NodeClaim: its node pool is at its limits"
        )
