"""Two gangs of six nodes on a last tier of eight, each of which holds four: one gives back, and both finish."""

from typing import Final

import pytest

from spotproof.rehearsal.control_plane import Parts
from spotproof.rehearsal.history import node_of, waits
from tests.e2e.controller import judge, seen
from tests.e2e.controller.gangs import Gang
from tests.e2e.controller.policies import on_demand
from tests.e2e.controller.several import is_whole, moving_specs, one_of
from tests.e2e.controller.stage import Controlled
from tests.e2e.jobs import HEAD_POOL, ON_DEMAND_POOL, STATIC, static_node

PARTS = Parts.JOBSET | Parts.KUBERAY
HALF: Final = 4
SOON: Final = "2s"
APART: Final = {"key": "example.org/apart", "value": "1", "effect": "NoSchedule"}
"""On the nodes of the second gang until both hold their half: only its pods tolerate it."""
EXPERIMENTS: Final = {"JobSet": "six", "RayJob": "ray-six"}


def two_halves(here: Controlled, gangs: tuple[Gang, Gang]) -> list[str]:
    """Nodes for four pods of each gang; the second's take no other pods. Returns those."""
    here.add_nodes(ON_DEMAND_POOL, HALF)
    apart = [f"{STATIC}{here.namespace}-apart-{number}" for number in range(HALF)]
    for name in apart:
        node = static_node(name, ON_DEMAND_POOL)
        node["spec"]["taints"] = [*node["spec"]["taints"], APART]
        here.put_node(node)
    here.add_nodes(HEAD_POOL, len(gangs))
    return apart


def is_half_placed(here: Controlled, gang: Gang) -> bool:
    """Whether it holds its half, and the rest of its pods find no node."""
    pods = gang.moving(here)
    return sum(bool(node_of(pod)) for pod in pods) == HALF and sum(map(waits, pods)) == gang.pods - HALF


@pytest.mark.parametrize("kind", EXPERIMENTS, ids=str.lower)
def test_of_two_gangs_that_hold_half_of_the_last_tier_each_one_gives_back_and_both_finish(
    here: Controlled, kind: str
) -> None:
    one, other = gangs = one_of(kind, EXPERIMENTS[kind], "first", 6), one_of(kind, EXPERIMENTS[kind], "second", 6)
    apart = two_halves(here, gangs)
    policy = here.policy(on_demand())
    first = one.job(here, policy, pool=ON_DEMAND_POOL)
    second = other.job(here, policy, pool=ON_DEMAND_POOL)
    for spec in moving_specs(second):
        spec["tolerations"].append({"key": APART["key"], "operator": "Exists"})
    # one after the other: the second's pods could land on the first's nodes, too
    for gang, job in ((one, first), (other, second)):
        here.submit(job)
        here.wait(lambda gang=gang: is_half_placed(here, gang), f"{gang.name} to hold four nodes and miss two")
        # of the tier: a RayJob's head has a node beside them
        here.says(gang.name, tier=ON_DEMAND_POOL, nodesHeld=HALF)
    for name in apart:
        here.kube.patch("v1", "Node", name, {"spec": {"taints": static_node(name, ON_DEMAND_POOL)["spec"]["taints"]}})
    # not before: a gang that is alone with its half gives back, too
    here.policy(on_demand(pending_timeout=SOON))

    left = list(gangs)
    while left:
        done = here.wait(lambda: next((one for one in left if is_whole(here, one)), None), "a gang to be whole", 90)
        left.remove(done)
        here.says(done.name, phase="Running", tier=ON_DEMAND_POOL)
        done.finish(here)
        here.wait(lambda one=done: one.is_finished(here), f"{done.name} to be done")
        here.says(done.name, phase="Succeeded")
    took_turns(here, *(gang.name for gang in gangs))


def took_turns(here: Controlled, *jobs: str) -> None:
    """As it is recorded: both held four nodes at once, one was suspended by the controller, both ran whole in turn."""
    recording = here.recorder.raw()
    stuck = seen.when_stuck(recording, ON_DEMAND_POOL, HALF, *jobs)
    assert stuck is not None, "both gangs were to hold their half at once"
    whole = {job: judge.stretches(recording, job) for job in jobs}
    assert all(whole.values()), f"each was to run whole: {whole}"
    (_, ended), (begun, _) = sorted((each[0].since, each[-1].until or each[-1].since) for each in whole.values())
    assert stuck < ended <= begun, f"one was to run after the other: {whole}"
    suspended = [each for job in jobs for each in seen.suspensions(recording, job)]
    first_whole = min(each[0].since for each in whole.values())
    assert any(each.is_ours and stuck < each.since < first_whole for each in suspended), f"{suspended}, {first_whole}"
    for job in jobs:
        here.has_lived(job, ON_DEMAND_POOL, evictions=0)
