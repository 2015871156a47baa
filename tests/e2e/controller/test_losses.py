"""All ways a node can go: each is one eviction, and the gang is back on its tier."""

from collections.abc import Callable
from typing import Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from tests.e2e.controller import timeline
from tests.e2e.controller.gangs import GANGS, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import WAYS, Controlled, deleted, killed, nodes_of, vanished
from tests.e2e.jobs import SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
PROMPTLY_SECONDS: Final = 5.0
"""PodGC would take 40 s at least."""
UNTOLD: Final = frozenset({killed, deleted})
"""Ways of which pods do not say why they ended: what explains them comes later, and so would a second count."""

both = pytest.mark.parametrize("gang", GANGS, ids=str)


@both
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
    here.has_lived(gang.name, SPOT_POOL, evictions=1, quiet=way in UNTOLD)


@both
def test_pods_of_a_node_that_vanished_are_ended_within_5_s_and_not_after_a_minute(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=3)
    pods = running(here, gang, spot(max_failures=5), on_demand())
    lost = here.on(nodes_of(pods)[0])
    vanished(here, nodes_of(pods)[0])
    gang.runs(here, SPOT_POOL, without=lost)

    recording = here.recorder.raw()
    (gone,) = (mark.at for mark in recording.marks if mark.did == "delete the node")
    uids = {pod["metadata"]["uid"] for pod in lost}
    ended = timeline.ended_at(recording, uids)
    assert ended.keys() == uids, "every pod that was on the node is recorded"
    late = {uid: at for uid, at in ended.items() if at is None or at - gone > PROMPTLY_SECONDS}
    assert not late, f"the node went at {gone:.1f} s, and its pods ended at {ended}"
    here.has_told(gang.name, "Evicted", "NodeGone")
