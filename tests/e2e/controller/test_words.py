"""What a job says that it waits for, where Karpenter has said why it buys nothing."""

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.vocabulary import SPOT
from tests.e2e.controller.gangs import JOBSET
from tests.e2e.controller.policies import SHORT, on_demand, spot
from tests.e2e.controller.scenery import closed_by_limits, submitted
from tests.e2e.controller.stage import Controlled
from tests.e2e.jobs import SPOT_POOL, pools

PARTS = Parts.ALL
INSTANCE_TYPES = pools().instance_types


def test_a_job_in_a_dry_market_waits_for_capacity(here: Controlled) -> None:
    here.close_market(capacity_type=SPOT)
    submitted(here, JOBSET, spot(), on_demand())
    here.wait(lambda: here.events("InsufficientCapacityError", "NodeClaim"), "Karpenter to be refused a machine")
    said = here.says(JOBSET.name, phase="Waiting")
    assert said["waitingFor"].startswith("capacity: "), said["waitingFor"]


def test_a_job_on_a_pool_at_its_limits_waits_for_room_under_them(here: Controlled) -> None:
    with closed_by_limits(here, SPOT_POOL):
        submitted(here, JOBSET, spot(pending_timeout=SHORT))
        here.wait(
            lambda: any("limits" in each for each in here.events("FailedScheduling", "Pod")), "the limits to be said"
        )
        said = here.says(JOBSET.name, phase="Waiting")
        assert said["waitingFor"] == f"room under the limits of its node pool {SPOT_POOL}", said["waitingFor"]
