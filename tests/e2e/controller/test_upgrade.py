"""A controller that takes over records of another version: it goes on with what they say, and minds nothing else."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from spotproof.kube.client import Refused
from spotproof.manifests import training_run
from spotproof.rehearsal.control_plane import Parts
from spotproof.vocabulary import API_VERSION
from tests.e2e.controller import seen
from tests.e2e.controller.gangs import GANGS, Gang
from tests.e2e.controller.policies import on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import furnished, running
from tests.e2e.controller.stage import RUN, Controlled, drained, nodes_of
from tests.e2e.jobs import ON_DEMAND_POOL, SPOT_POOL

PARTS = Parts.JOBSET | Parts.KUBERAY
CRD: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
LACKING: Final = (
    "selector", "capacity", "nodes", "nodesHeld", "restartSeconds", "stalledRestarts", "progressSeconds", "doneSeconds",
    "moves", "waited", "since", "arrived", "conditions", "observedGeneration",
)  # fmt: skip
"""Fields that an older controller may not have written: what is counted is in none of them."""
ADDED: Final[dict[str, Any]] = {"mood": "serene", "forecast": {"rain": True}}
"""Fields that a newer controller may have written, of the newer definition that came with it."""


@contextmanager
def newer_definition(here: Controlled) -> Generator[None]:
    """Within the block TrainingRuns have fields that the controller does not know."""
    crd: Any = training_run.crd()
    newer = here.kube.get(*CRD, crd["metadata"]["name"])
    status = newer["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    status |= {"mood": {"type": "string"}, "forecast": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    status["tiers"]["items"]["properties"]["mood"] = {"type": "string"}
    here.kube.patch(*CRD, crd["metadata"]["name"], {"spec": {"versions": newer["spec"]["versions"]}})
    try:
        yield
    finally:
        here.kube.apply(crd, force=True)


def rewrite(here: Controlled, gang: Gang) -> None:
    """The record as a controller of another version would have left it."""
    tiers = [{**each, "mood": "serene"} for each in here.run(gang.name)["tiers"]]
    change = {"status": {**dict.fromkeys(LACKING), **ADDED, "tiers": tiers}}

    def taken() -> bool:
        try:
            here.kube.patch(API_VERSION, RUN, gang.name, change, here.namespace, subresource="status")
        except Refused:  # the newer definition is not served yet
            return False
        return here.run(gang.name).get("forecast") == ADDED["forecast"]

    here.wait(taken, "the record of another version to be taken")


@pytest.mark.parametrize("gang", GANGS, ids=str)
def test_a_record_of_another_version_is_gone_on_with(here: Controlled, controller: Controller, gang: Gang) -> None:
    furnished(here, gang, spot=4)
    pods = running(here, gang, spot(max_failures=1), on_demand())
    lost = here.on(nodes_of(pods)[0])
    drained(here, nodes_of(pods)[0])
    pods = gang.runs(here, SPOT_POOL, without=lost)
    here.says(gang.name, phase="Running", evictions=1)

    assert controller.stop() == 0
    with newer_definition(here):
        rewrite(here, gang)
        controller.start()
        here.says(gang.name, phase="Running", tier=SPOT_POOL, evictions=1, errors=0, capacity="spot")
        assert here.condition(gang.name, "Accepted")["status"] == "True"
        assert seen.suspensions(here.recorder.raw(), gang.name) == []

        drained(here, nodes_of(pods)[0])
        gang.runs(here, ON_DEMAND_POOL)
        here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=2, errors=0)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=2)
    (move,) = seen.suspensions(here.recorder.raw(), gang.name)
    assert move.is_ours
