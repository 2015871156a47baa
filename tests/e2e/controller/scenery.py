"""What most of these tests begin with: nodes that are there, a policy, a job that runs."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from tests.e2e.controller import timeline
from tests.e2e.controller.gangs import Gang
from tests.e2e.controller.policies import Tier, seconds_of
from tests.e2e.controller.stage import Controlled
from tests.e2e.jobs import HEAD_POOL, ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.stage import Object

NODE_POOL: Final = ("karpenter.sh/v1", "NodePool")
NODES: Final = 2
"""Of a gang."""
LATE_SECONDS: Final = 10.0
"""After which a timeout is no longer what made the controller act."""


def furnished(here: Controlled, gang: Gang, *, spot: int = NODES, on_demand: int = NODES) -> None:
    """Nodes that nobody has to buy."""
    here.add_nodes(SPOT_POOL, spot)
    here.add_nodes(ON_DEMAND_POOL, on_demand)
    if gang.kind == "RayJob":
        here.add_nodes(HEAD_POOL, 1)


def submitted(here: Controlled, gang: Gang, *tiers: Tier, pool: str = SPOT_POOL, **rest: Any) -> None:
    """The job under a policy of these tiers, submitted; `rest` is the policy's."""
    here.submit(gang.job(here, here.policy(*tiers, **rest), pool=pool))


def running(here: Controlled, gang: Gang, *tiers: Tier, pool: str = SPOT_POOL, **rest: Any) -> list[Object]:
    """The same, and its pods as soon as it runs and the controller has seen that."""
    submitted(here, gang, *tiers, pool=pool, **rest)
    pods = gang.runs(here, pool)
    here.says(gang.name, phase="Running", tier=pool)
    return pods


def left_after(here: Controlled, gang: Gang, timeout: str, *, moves: int = 1) -> None:
    """The job was first suspended when its first pod had found no node for as long as its tier's timeout says.

    `moves` is how often it was suspended in all.
    """
    recording = here.recorder.recording()
    move, *later = timeline.suspensions(recording, gang.name)
    assert len(later) == moves - 1, f"suspended {move} and {later}"
    waited = move.since - timeline.unplaced_at(recording, gang.name)
    least = seconds_of(timeout)
    assert least <= waited <= least + LATE_SECONDS, f"left after {waited:.1f} s"


def asked_before(here: Controlled, pool: str, moved: float) -> None:
    """A pool was asked by a probe that had its answer before the job was suspended, and no probe of it is left."""
    found = timeline.probes(here.recorder.raw(), pool)
    assert any(each.answered is not None and each.answered <= moved for each in found), f"{found}, moved at {moved:.1f}"
    here.wait(
        lambda: all(each.gone is not None for each in timeline.probes(here.recorder.raw(), pool)),
        "the probes to be gone",
    )


@contextmanager
def closed_by_limits(here: Controlled, pool: str) -> Generator[None]:
    """Within the block Karpenter may buy no node of a pool, by the pool's own limits."""
    limits = here.kube.get(*NODE_POOL, pool)["spec"]["limits"]
    here.recorder.mark("limit", f"NodePool/{pool}")
    here.kube.patch(*NODE_POOL, pool, {"spec": {"limits": dict.fromkeys(limits, "0")}})
    try:
        yield
    finally:
        here.kube.patch(*NODE_POOL, pool, {"spec": {"limits": limits}})
