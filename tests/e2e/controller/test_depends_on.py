"""A JobSet whose second role begins once the first is ready: of that role nothing is made while it is suspended."""

from dataclasses import dataclass

from spotproof.rehearsal.control_plane import Parts
from tests.e2e.controller.gangs import JOBSET, Gang, Words
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.stage import Object, Stage

PARTS = Parts.JOBSET


@dataclass(frozen=True)
class Depending(Gang):
    """A JobSet whose second role depends on its first."""

    def job(
        self,
        stage: Stage,
        policy: str,
        *,
        pool: str = SPOT_POOL,
        knobs: Words | None = None,
        notes: Words | None = None,
    ) -> Object:
        """As the one without, and the second role waits for the first."""
        job = super().job(stage, policy, pool=pool, knobs=knobs, notes=notes)
        first, second = job["spec"]["replicatedJobs"]
        second["dependsOn"] = [{"name": first["name"], "status": "Ready"}]
        return job


DEPENDING = Depending(JOBSET.kind, JOBSET.experiment, JOBSET.name, JOBSET.pods, JOBSET.labels)


def test_a_role_that_depends_on_a_ready_one_is_restarted_and_moved_with_it(here: Controlled) -> None:
    gang = DEPENDING
    furnished(here, gang, spot=4)
    pods = running(here, gang, spot(max_failures=1), on_demand())
    for evictions, pool in ((1, SPOT_POOL), (2, ON_DEMAND_POOL)):
        node, *_ = nodes_of(pods)
        lost = here.on(node)
        drained(here, node)
        pods = gang.runs(here, pool, without=lost)
        here.says(gang.name, phase="Running", tier=pool, evictions=evictions, errors=0)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=2)
