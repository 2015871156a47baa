"""Every kind of move, as a story that begins quietly and ends in one state, whatever is spoilt in between."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spotproof.rehearsal.history import works
from tests.e2e.controller.gangs import EIGHT, JOBSET, RAYJOB, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.jobs import KNOB, ON_DEMAND_POOL, SPOT_POOL

SECONDS: Final = 180.0
"""For the end, a silent watch and a lease that runs out included."""
HALF_SECONDS: Final = "3s"


@dataclass(frozen=True)
class Move:
    """One kind of move.

    Args:
        gang: The job.
        tiers: Pools on which the gang is whole, in order, in the end.
        evictions: What is counted in the end.
        begin: Up to where nothing is left to be done.
        happen: What makes the controller act; what it does then is spoilt.
    """

    gang: Gang
    tiers: tuple[str, ...]
    evictions: int
    begin: Callable[[Controlled, Gang], object]
    happen: Callable[[Controlled, Gang], None]

    def end(self, here: Controlled) -> None:
        """Wait for the state in which everything is well.

        Raises:
            NotSeen: It did not come.
        """
        here.wait(lambda: self._is_there(here), f"the {self.gang.kind} to run whole on {self.tiers[-1]}", SECONDS)

    def _is_there(self, here: Controlled) -> bool:
        pods, nodes = self.gang.moving(here), here.nodes(self.tiers[-1])
        whole = len(pods) == self.gang.pods and all(works(pod) and pod["spec"]["nodeName"] in nodes for pod in pods)
        said = here.run(self.gang.name)
        return (
            whole
            and (said.get("phase"), said.get("tier")) == ("Running", self.tiers[-1])
            and (said.get("evictions", 0), said.get("errors", 0)) == (self.evictions, 0)
        )


def _on_spot(here: Controlled, gang: Gang) -> None:
    furnished(here, gang)
    running(here, gang, spot(max_failures=0), on_demand())


def _node_goes(here: Controlled, gang: Gang) -> None:
    drained(here, nodes_of(gang.moving(here))[0])


def _ends_with_0(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=3)
    name = here.policy(spot(max_failures=5), on_demand())
    here.submit(gang.job(here, name, knobs={f"{KNOB}exit-code-on-term": "0"}))
    gang.runs(here, SPOT_POOL)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)


def _on_on_demand(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0)
    rest: dict[str, Any] = {"return_": {"minStay": "1s"}, "probe": {"every": "2s"}}
    running(here, gang, spot(), on_demand(), pool=ON_DEMAND_POOL, **rest)


def _spot_comes_back(here: Controlled, _: Gang) -> None:
    here.recorder.mark("spot comes back")
    here.add_nodes(SPOT_POOL, 2)


def _half(here: Controlled, gang: Gang) -> None:
    furnished(here, gang, spot=0, on_demand=1)
    here.policy(on_demand(pending_timeout=HALF_SECONDS))


def _waits_for_the_other_half(here: Controlled, gang: Gang) -> None:
    here.submit(gang.job(here, here.namespace, pool=ON_DEMAND_POOL))
    here.wait(lambda: here.job(gang.kind)["spec"].get("suspend"), "its nodes to be given back", SECONDS)
    here.add_nodes(ON_DEMAND_POOL, 1)


DOWN: Final = (SPOT_POOL, ON_DEMAND_POOL)
UP: Final = (ON_DEMAND_POOL, SPOT_POOL)

MOVES: Final[Mapping[str, Move]] = {
    "jobset-down": Move(JOBSET, DOWN, 1, _on_spot, _node_goes),
    "jobset-restart": Move(EIGHT, (SPOT_POOL,), 1, _ends_with_0, _node_goes),
    "jobset-up": Move(JOBSET, UP, 0, _on_on_demand, _spot_comes_back),
    "jobset-park": Move(JOBSET, (ON_DEMAND_POOL,), 0, _half, _waits_for_the_other_half),
    "rayjob-down": Move(RAYJOB, DOWN, 1, _on_spot, _node_goes),
    "rayjob-up": Move(RAYJOB, UP, 0, _on_on_demand, _spot_comes_back),
    "rayjob-park": Move(RAYJOB, (ON_DEMAND_POOL,), 0, _half, _waits_for_the_other_half),
}
"""By name; a restart by the controller on the same tier is JobSet's alone, since KubeRay replaces single workers."""
