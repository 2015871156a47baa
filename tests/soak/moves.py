"""Every kind of move, as a story that begins quietly and ends in one state, whatever is spoilt in between."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spotproof.rehearsal.history import works
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION, POOL_LABEL
from tests.e2e import ray
from tests.e2e.controller import timeline
from tests.e2e.controller.gangs import EIGHT, JOBSET, RAYJOB, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import Controlled, drained, nodes_of, vanished
from tests.e2e.jobs import KNOB, ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.stage import Object

SECONDS: Final = 180.0
"""For the end, a silent watch and a lease that runs out included."""
HALF_SECONDS: Final = "3s"
DRY_SECONDS: Final = "3s"
RETURN: Final[Mapping[str, Any]] = {"return_": {"minStay": "1s"}, "probe": {"every": "2s"}}
"""Of a policy under which a job asks for spot at once."""
HELD: Final = ("example.org/held",)
RETRYING: Final = "Retrying"
ENOUGH: Final = 5
"""Failures that a tier takes, where the job is to stay on it."""


@dataclass(frozen=True)
class Move:
    """One kind of move.

    Args:
        gang: The job.
        tiers: Pools on which the gang is whole, in order, in the end.
        evictions: What is counted in the end.
        begin: Up to where nothing is left to be done.
        happen: What makes the controller act; what it does then is spoilt.
        errors: What is counted in the end.
        fails: Whether the job is given up in the end, and not whole on the last of the tiers.
    """

    gang: Gang
    tiers: tuple[str, ...]
    evictions: int
    begin: Callable[[Controlled, Gang], object]
    happen: Callable[[Controlled, Gang], None]
    errors: int = 0
    fails: bool = False

    def end(self, here: Controlled) -> None:
        """Wait for the state in which everything is well.

        Raises:
            NotSeen: It did not come.
        """
        meant = "to be given up" if self.fails else f"to run whole on {self.tiers[-1]}"
        here.wait(lambda: self.is_there(here), f"the {self.gang.kind} {meant}", SECONDS)

    def is_there(self, here: Controlled) -> bool:
        """Whether everything is as it should be in the end: the gang, where it is, and what its TrainingRun says."""
        said = here.run(self.gang.name)
        counted = said.get("evictions", 0), said.get("errors", 0)
        if counted != (self.evictions, self.errors):
            return False
        return self._is_given_up(here, said) if self.fails else self._is_whole(here, said)

    def _is_whole(self, here: Controlled, said: Object) -> bool:
        pods, nodes = self.gang.moving(here), here.nodes(self.tiers[-1])
        whole = len(pods) == self.gang.pods and all(works(pod) and pod["spec"]["nodeName"] in nodes for pod in pods)
        return whole and (said.get("phase"), said.get("tier")) == ("Running", self.tiers[-1])

    def _is_given_up(self, here: Controlled, said: Object) -> bool:
        suspended = bool(here.job(self.gang.kind)["spec"].get("suspend"))
        return said.get("phase") == "Failed" and suspended and not self.gang.moving(here)


def _on_spot(here: Controlled, gang: Gang) -> None:
    furnished(here, gang)
    running(here, gang, spot(max_failures=0), on_demand())


def _with_a_spare_node(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=3)
    running(here, gang, spot(max_failures=ENOUGH), on_demand())


def _node_goes(here: Controlled, gang: Gang) -> None:
    drained(here, nodes_of(gang.moving(here))[0])


def _node_vanishes(here: Controlled, gang: Gang) -> None:
    vanished(here, nodes_of(gang.moving(here))[0])


def _ends_with_0(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=3)
    name = here.policy(spot(max_failures=ENOUGH), on_demand())
    here.submit(gang.job(here, name, knobs={f"{KNOB}exit-code-on-term": "0"}))
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)


def _on_on_demand(here: Controlled, gang: Gang) -> None:
    """Under a policy without a return: a gang that runs a second longer than that needs has asked for spot already."""
    furnished(here, gang, spot=0)
    running(here, gang, spot(), on_demand(), pool=ON_DEMAND_POOL)


def _spot_comes_back(here: Controlled, _: Gang) -> None:
    here.policy(spot(), on_demand(), **RETURN)
    here.wait(lambda: timeline.probes(here.recorder.raw(), SPOT_POOL), "the job to ask for spot", SECONDS)
    here.recorder.mark("spot comes back")
    here.add_nodes(SPOT_POOL, 2)


def _half(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0, on_demand=1)
    here.policy(on_demand(pending_timeout=HALF_SECONDS))


def _waits_for_the_other_half(here: Controlled, gang: Gang) -> None:
    here.submit(gang.job(here, here.namespace, pool=ON_DEMAND_POOL))
    here.wait(lambda: here.job(gang.kind)["spec"].get("suspend"), "its nodes to be given back", SECONDS)
    here.add_nodes(ON_DEMAND_POOL, 1)


def _no_spot(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0)
    here.policy(spot(pending_timeout=DRY_SECONDS), on_demand())


def _waits_for_spot(here: Controlled, gang: Gang) -> None:
    here.submit(gang.job(here, here.namespace))


def _with_errors_left(here: Controlled, gang: Gang, *, limit: int, count_errors: bool) -> None:
    furnished(here, gang)
    name = here.policy(spot(max_failures=0), on_demand(), countErrors=count_errors)
    here.submit(gang.job(here, name, notes={BACKOFF_LIMIT_ANNOTATION: str(limit)}))
    gang.runs(here, SPOT_POOL)
    if gang.kind == "RayJob":
        ray.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)


def _errors_leave_the_tier(here: Controlled, gang: Gang) -> None:
    _with_errors_left(here, gang, limit=ENOUGH, count_errors=True)
    _keep_cluster(here, HELD)


def _no_errors_left(here: Controlled, gang: Gang) -> None:
    _with_errors_left(here, gang, limit=0, count_errors=False)


def _program_fails(here: Controlled, gang: Gang) -> None:
    if gang.kind == "RayJob":
        ray.ends(here, here.status("RayJob")["jobId"], "FAILED")
    else:
        here.turn(gang.moving(here)[:1], "exit-code", 1)


def _program_fails_and_its_cluster_goes_slowly(here: Controlled, gang: Gang) -> None:
    """KubeRay makes the next attempt once the old cluster is gone: until then it is about to, and the job moves."""
    _program_fails(here, gang)
    here.wait(lambda: _pools(here) == {ON_DEMAND_POOL}, "the next attempt to be meant for on-demand", SECONDS)
    assert here.status("RayJob")["jobDeploymentStatus"] == RETRYING
    _keep_cluster(here, [])


def _keep_cluster(here: Controlled, finalizers: Sequence[str]) -> None:
    """The Ray cluster cannot go as long as something holds it."""
    name = here.status("RayJob")["rayClusterName"]
    here.recorder.mark(f"finalizers {finalizers}", f"RayCluster/{name}")
    change = {"metadata": {"finalizers": list(finalizers)}}
    here.kube.patch(ray.RAY, "RayCluster", name, change, here.namespace)


def _pools(here: Controlled) -> set[str]:
    """Of the job's workers, as its next cluster is to have them."""
    groups = here.job("RayJob")["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    return {each["template"]["spec"]["nodeSelector"][POOL_LABEL] for each in groups}


DOWN: Final = (SPOT_POOL, ON_DEMAND_POOL)
UP: Final = (ON_DEMAND_POOL, SPOT_POOL)
STAYS: Final = (SPOT_POOL,)
LAST: Final = (ON_DEMAND_POOL,)

MOVES: Final[Mapping[str, Move]] = {
    "jobset-down": Move(JOBSET, DOWN, 1, _on_spot, _node_goes),
    "jobset-vanished": Move(JOBSET, STAYS, 1, _with_a_spare_node, _node_vanishes),
    "jobset-restart": Move(EIGHT, STAYS, 1, _ends_with_0, _node_goes),
    "jobset-timeout": Move(JOBSET, LAST, 0, _no_spot, _waits_for_spot),
    "jobset-up": Move(JOBSET, UP, 0, _on_on_demand, _spot_comes_back),
    "jobset-park": Move(JOBSET, LAST, 0, _half, _waits_for_the_other_half),
    "jobset-failed": Move(JOBSET, STAYS, 0, _no_errors_left, _program_fails, errors=1, fails=True),
    "rayjob-down": Move(RAYJOB, DOWN, 1, _on_spot, _node_goes),
    "rayjob-vanished": Move(RAYJOB, STAYS, 1, _with_a_spare_node, _node_vanishes),
    "rayjob-timeout": Move(RAYJOB, LAST, 0, _no_spot, _waits_for_spot),
    "rayjob-retrying": Move(
        RAYJOB, DOWN, 0, _errors_leave_the_tier, _program_fails_and_its_cluster_goes_slowly, errors=1
    ),
    "rayjob-up": Move(RAYJOB, UP, 0, _on_on_demand, _spot_comes_back),
    "rayjob-park": Move(RAYJOB, LAST, 0, _half, _waits_for_the_other_half),
    "rayjob-failed": Move(RAYJOB, STAYS, 0, _no_errors_left, _program_fails, errors=1, fails=True),
}
"""By name; what ends without a move by the controller is there where it writes to the job or its pods all the same.

A restart by the controller on the same tier is JobSet's alone, since KubeRay replaces single workers; and so is a next
attempt that is made anyway KubeRay's, since JobSet makes it in the write that counts the failure.
"""
