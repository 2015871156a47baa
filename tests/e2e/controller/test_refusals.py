"""Jobs that could not be moved: refused with field and remedy, left alone whatever happens, taken up when mended."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from spotproof.kube.client import Refused
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import node_of
from spotproof.vocabulary import FALLBACK_POLICY_LABEL
from tests.e2e.controller import seen
from tests.e2e.controller.fault_proxy import FaultProxy
from tests.e2e.controller.gangs import GANGS, Gang
from tests.e2e.controller.policies import NEXT_SPOT_POOL, on_demand, spot
from tests.e2e.controller.process import Controller
from tests.e2e.controller.scenery import furnished
from tests.e2e.controller.several import is_whole, one_of
from tests.e2e.controller.stage import Controlled, drained, nodes_of
from tests.e2e.controller.unfit import HEALTHY, POLICY, UNFIT, Unfit
from tests.e2e.jobs import HEAD_POOL, ON_DEMAND_POOL, SPOT_POOL
from tests.e2e.stage import NOT_FOUND

PARTS = Parts.JOBSET | Parts.KUBERAY
EXPERIMENTS: Final = {"JobSet": "pair", "RayJob": "ray-pair"}
OWN_RECORDS: Final = frozenset({"trainingruns", "trainingruns/status", "events"})
"""All that the controller may write about a job that it has refused."""


@pytest.fixture(scope="module")
def controller(installed: ControlPlane, proxy: FaultProxy) -> Iterator[Controller]:
    """The only replica; it asks through the proxy."""
    with Controller(installed, through=proxy) as controller:
        yield controller


class Refusals:
    """A workspace with a job for each way of being unfit, and one that is fit."""

    def __init__(self, here: Controlled, proxy: FaultProxy, kind: str) -> None:
        self.here, self.proxy, self.kind = here, proxy, kind
        self.unfit: Sequence[Unfit] = UNFIT[kind]
        self.gangs = {
            word: one_of(kind, EXPERIMENTS[kind], word, 2) for word in (HEALTHY, *(u.word for u in self.unfit))
        }
        self.policy = here.policy(spot(max_failures=5), on_demand())
        self.furnish()
        here.add_nodes(HEAD_POOL, len(self.gangs) if kind == "RayJob" else 0)

    def furnish(self) -> None:
        """A node for every gang, where it is."""
        self.here.add_nodes(SPOT_POOL, len(self.gangs) + 1)
        self.here.add_nodes(NEXT_SPOT_POOL, 1)
        self.here.add_nodes(ON_DEMAND_POOL, 2)

    def submit(self, unfit: Unfit, *, fit: bool = False) -> None:
        """The job, as it is unfit, or mended."""
        job = self.gangs[unfit.word].job(self.here, self.policy, pool=SPOT_POOL if fit else unfit.pool)
        if not fit:
            unfit.spoil(job)
            for key in unfit.later:
                job["metadata"]["labels"].pop(key, None)
        self.here.submit(job)
        if not fit and unfit.later:
            self.label(unfit, unfit.later)

    def label(self, unfit: Unfit, labels: Mapping[str, object]) -> None:
        """Labels of the job, as somebody sets them who knows no better, or removes them."""
        said: dict[str, Any] = {key: self.policy if value is POLICY else value for key, value in labels.items()}
        change = {"metadata": {"labels": said}}
        self.here.kube.patch(self.here.kinds[self.kind], self.kind, unfit.word, change, self.here.namespace)

    def mend(self, unfit: Unfit) -> None:
        """In place where that is possible; otherwise it is deleted and applied again, as it should have been."""
        if unfit.mended:
            self.label(unfit, unfit.mended)
            return
        version, gang = self.here.kinds[self.kind], self.gangs[unfit.word]
        self.here.kube.delete(version, self.kind, unfit.word, self.here.namespace)
        self.here.wait(
            lambda: (
                not gang.moving(self.here)
                and self.here.kube.find(version, self.kind, unfit.word, self.here.namespace) is None
            ),
            f"{unfit.word} to be gone",
        )
        self.submit(unfit, fit=True)

    def whole(self, *words: str) -> None:
        """Wait until these gangs run whole."""
        gangs = [self.gangs[word] for word in words]
        self.here.wait(lambda: all(is_whole(self.here, gang) for gang in gangs), f"{words} to run whole", 90)

    def lose_every_node(self) -> None:
        """Every node that gangs have for themselves goes, all of them at once, and there are others.

        The head that is on spot may be on the node of another gang's workers: that one stays.
        """
        here = self.here
        pods = [pod for gang in self.gangs.values() for pod in gang.moving(here) if node_of(pod)]
        ours = {pod["metadata"]["uid"] for pod in pods}
        old = [node for node in nodes_of(pods) if ours.issuperset(pod["metadata"]["uid"] for pod in here.on(node))]
        self.furnish()
        for node in old:
            here.kube.patch("v1", "Node", node, {"spec": {"unschedulable": True}})
        for pod in (each for each in pods if node_of(each) in old):
            try:
                here.evict(pod)
            except Refused as refused:  # its operator may have taken it by now
                if refused.status != NOT_FOUND:
                    raise
        here.wait(lambda: not any(here.on(node) for node in old), "the pods of all nodes to have ended", 90)
        for node in old:
            here.delete_node(node)

    def said_of(self, unfit: Unfit) -> list[str]:
        """What the condition and the event say."""
        accepted = self.here.condition(unfit.word, "Accepted")
        assert accepted.get("status") == "False", f"{unfit.word}: {accepted}"
        events = [each.object for each in self.here.recorder.raw().versions if each.kind == "Event"]
        told = [
            each["message"]
            for each in events
            if each.get("reason") == "Refused" and each["involvedObject"]["name"] == unfit.word
        ]
        assert told, f"{unfit.word}: no event on the job"
        return [accepted["message"], " ".join(told)]

    def written(self) -> list[str]:
        """What the controller has written here but for its own records."""
        place = f"/namespaces/{self.here.namespace}/"
        calls = [each for each in self.proxy.calls if each.writes and place in each.path]
        return [f"{each.verb} {each.path}" for each in calls if each.resource not in OWN_RECORDS]


@pytest.mark.parametrize("kind", EXPERIMENTS, ids=str.lower)
def test_jobs_that_could_not_be_moved_are_refused_and_left_alone_and_taken_up_once_mended(
    here: Controlled, proxy: FaultProxy, kind: str
) -> None:
    play = Refusals(here, proxy, kind)
    here.submit(play.gangs[HEALTHY].job(here, play.policy))
    here.says(HEALTHY, phase="Running")  # it is older by a second than what saves in its place
    for unfit in play.unfit:
        play.submit(unfit)
    for unfit in play.unfit:
        here.says(unfit.word, phase="Refused")
        for sentence in play.said_of(unfit):
            assert unfit.place in sentence
            assert unfit.remedy in sentence

    running = [each.word for each in play.unfit if each.runs]
    play.whole(HEALTHY, *running)
    play.lose_every_node()
    play.whole(HEALTHY, *running)
    here.says(HEALTHY, phase="Running", evictions=1)
    for unfit in play.unfit:
        here.says(unfit.word, phase="Refused", evictions=0, errors=0)
    assert play.written() == []
    assert [each for word in running for each in seen.suspensions(here.recorder.raw(), word)] == []

    for unfit in play.unfit:
        play.mend(unfit)
    play.whole(HEALTHY, *play.gangs)
    for unfit in play.unfit:
        here.says(unfit.word, phase="Running", tier=SPOT_POOL, evictions=0, errors=0)
        assert here.condition(unfit.word, "Accepted")["status"] == "True"
    play.lose_every_node()
    play.whole(HEALTHY, *play.gangs)
    for unfit in play.unfit:
        here.says(unfit.word, phase="Running", tier=SPOT_POOL, evictions=1, errors=0)
    here.has_lived(HEALTHY, SPOT_POOL, evictions=2)


@pytest.mark.parametrize("gang", GANGS, ids=str)
def test_a_job_that_is_given_a_policy_while_it_runs_is_taken_up(here: Controlled, gang: Gang) -> None:
    furnished(here, gang)
    policy = here.policy(spot(max_failures=0), on_demand())
    job = gang.job(here, policy)
    del job["metadata"]["labels"][FALLBACK_POLICY_LABEL]
    here.submit(job)
    pods = gang.runs(here, SPOT_POOL)
    change = {"metadata": {"labels": {FALLBACK_POLICY_LABEL: policy}}}
    here.kube.patch(here.kinds[gang.kind], gang.kind, gang.name, change, here.namespace)
    here.says(gang.name, phase="Running", tier=SPOT_POOL)

    drained(here, nodes_of(pods)[0])

    gang.runs(here, ON_DEMAND_POOL)
    here.says(gang.name, phase="Running", tier=ON_DEMAND_POOL, evictions=1)
    here.has_lived(gang.name, SPOT_POOL, ON_DEMAND_POOL, evictions=1)
