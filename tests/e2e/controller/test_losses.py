"""All ways a node can go: each is one eviction, and the gang is back on its tier."""

from collections.abc import Callable
from typing import Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import History, is_true, phase
from tests.e2e.controller.gangs import GANGS, JOBSET, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import WAYS, Controlled, nodes_of, vanished
from tests.e2e.jobs import SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
PROMPTLY_SECONDS: Final = 15.0
"""On an idle machine it is under 5 s; PodGC would take 40 s at least."""


@pytest.mark.parametrize("gang", GANGS, ids=str)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_node_that_goes_in_any_way_is_one_eviction(
    here: Controlled, gang: Gang, way: Callable[[Controlled, str], None]
) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=5), on_demand())
    node = nodes_of(pods)[0]
    lost = here.on(node)

    way(here, node)

    gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1, errors=0)
    here.has_lived(gang.name, SPOT_POOL, evictions=1)


def test_pods_of_a_node_that_vanished_are_ended_at_once_and_not_after_a_minute(here: Controlled) -> None:
    furnished(here, JOBSET, spot=3)
    pods = running(here, JOBSET, spot(max_failures=5), on_demand())
    lost = here.on(nodes_of(pods)[0])
    vanished(here, nodes_of(pods)[0])
    JOBSET.runs(here, SPOT_POOL, without=lost)

    history = History(here.recorder.raw())
    (gone,) = (mark.at for mark in history.recording.marks if mark.did == "delete the node")
    uids = {pod["metadata"]["uid"] for pod in lost}
    ended = [
        life.when(lambda pod: phase(pod) == "Failed" and is_true(pod, "DisruptionTarget"))
        for life in history.of("Pod")
        if life.uid in uids
    ]
    assert all(at is not None and at - gone < PROMPTLY_SECONDS for at in ended)
