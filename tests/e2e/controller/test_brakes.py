"""What keeps a job where it is: as many moves as an hour may have, and the label that freezes it."""

from typing import Any, Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.vocabulary import MANUAL_LABEL
from tests.e2e.controller import seen
from tests.e2e.controller.gangs import GANGS, Gang, jobset
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.several import is_whole
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
RETURN: Final[dict[str, Any]] = {"return_": {"minStay": "3s"}, "probe": {"every": "3s"}}

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@both
def test_a_job_that_was_moved_as_often_as_an_hour_may_have_stays_while_another_returns(
    here: Controlled, gang: Gang
) -> None:
    twin = jobset("pair", "twin", 2)
    furnished(here, gang, on_demand=3)
    pods = running(here, gang, spot(max_failures=0), on_demand(), maxMovesPerHour=1, **RETURN)
    drained(here, *nodes_of(pods))
    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, reason="TooManyMoves", evictions=1)

    # it has not been moved yet, and is to stay as long as the other has
    here.submit(twin.job(here, here.namespace, pool=ON_DEMAND_POOL))
    twin.runs(here, ON_DEMAND_POOL)
    here.add_nodes(SPOT_POOL, 3)
    twin.runs(here, SPOT_POOL)
    here.says(twin.name, phase="Running", tier=SPOT_POOL)

    here.has_lived(twin.name, ON_DEMAND_POOL, SPOT_POOL, evictions=0)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
    assert is_whole(here, gang)
    assert len(seen.suspensions(here.recorder.raw(), gang.name)) == 1, "it was moved once, and never again"


def label(here: Controlled, gang: Gang, value: str | None) -> None:
    """Freeze the job, or release it."""
    here.recorder.mark(f"manual {value}", gang.kind)
    change = {"metadata": {"labels": {MANUAL_LABEL: value}}}
    here.kube.patch(here.kinds[gang.kind], gang.kind, gang.name, change, here.namespace)


@both
def test_a_frozen_job_is_not_written_to_and_what_it_lost_meanwhile_counts_once_it_is_released(
    here: Controlled, gang: Gang
) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=0), on_demand())
    label(here, gang, "true")
    here.says(gang.name, phase="Manual")
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Manual", evictions=0, errors=0)

    label(here, gang, None)

    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
    recording = here.recorder.raw()
    frozen = [each.object for each in seen.versions(recording, gang.kind, gang.name)]
    frozen = [each for each in frozen if MANUAL_LABEL in each["metadata"]["labels"]]
    written = {(each["metadata"]["generation"], str(each["metadata"].get("annotations"))) for each in frozen}
    assert len(written) == 1, f"nobody was to write to a frozen job: {written}"
    (move,) = seen.suspensions(recording, gang.name)
    assert move.since > seen.marked(recording, "manual None")
