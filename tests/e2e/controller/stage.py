"""One test's workspace under the controller: its policies, its nodes, what its TrainingRuns say, and the judge."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from spotproof.kube.client import Refused
from spotproof.kube.waiting import NotSeen
from spotproof.manifests import controller_rights
from spotproof.rehearsal.control_plane import ControlPlane
from spotproof.rehearsal.history import History, node_of, phase
from spotproof.rehearsal.recorder import Recorder
from spotproof.vocabulary import API_VERSION, POOL_LABEL
from tests.e2e.controller import judge, timeline
from tests.e2e.controller.policies import Tier, policy
from tests.e2e.controller.verdict import Lived
from tests.e2e.jobs import STATIC, static_node
from tests.e2e.own import Own
from tests.e2e.stage import NOT_FOUND, Object, Stage

RUN: Final = "TrainingRun"
SECONDS: Final = 90.0
LAG_SECONDS: Final = 5.0
QUIET_SECONDS: Final = 5.0
"""Of the recording: a controller that counts again once the gang is whole, or at its next look, has done so by then."""
NOTICE: Final = {"key": "aws-node-termination-handler/spot-itn", "value": "1", "effect": "NoSchedule"}
"""What a cloud's handler puts on a node that is about to be taken; no pod of a test tolerates it."""
TAKEN: Final = {"key": "example.org/taken", "value": "1", "effect": "NoExecute"}


class Controlled(Stage):
    """A workspace in which the controller acts. Its TrainingRuns are recorded with everything else."""

    def __init__(self, plane: ControlPlane, namespace: str, *, bought: bool = True) -> None:
        super().__init__(plane, namespace, bought=bought)
        self.kinds = {**self.kinds, RUN: API_VERSION}
        self.recorder = Recorder(Own(plane.kube, namespace, bought=bought), kinds=self.kinds, hidden=[plane.folder])
        self.resumed_by_hand: float | None = None
        """When a person resumed a job whose last pods were still ending, in seconds of the recording."""
        self.has_pods = True
        """Whether the test's job comes as far as having pods."""
        self._policies: list[str] = []
        self._made = 0

    def __enter__(self) -> Self:
        """Make the workspace, with the controller's rights in it, and begin to record."""
        super().__enter__()
        for each in controller_rights.workspace_roles(self.namespace):
            self.kube.apply(each)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""
        super().__exit__()
        for name in self._policies:
            self.kube.delete(API_VERSION, "FallbackPolicy", name)

    def policy(self, *tiers: Tier, **rest: Any) -> str:
        """Make a policy of the test's own, or make it so. Returns its name."""
        self.kube.apply(policy(self.namespace, *tiers, **rest), force=True)
        if self.namespace not in self._policies:
            self._policies.append(self.namespace)
        return self.namespace

    def add_nodes(self, pool: str, count: int) -> list[str]:
        """More nodes of a pool, there at once, with names that no node had before."""
        names: list[str] = []
        for _ in range(count):
            self._made += 1
            names.append(f"{STATIC}{self.namespace}-{pool}-{self._made}")
            self.put_node(static_node(names[-1], pool))
        return names

    def put_node(self, node: Mapping[str, Any]) -> None:
        """A node that is there at once, and gone with the test."""
        self.kube.create(node)
        self._static.append(str(node["metadata"]["name"]))

    def on(self, node: str) -> list[Object]:
        """Pods on a node that have not ended."""
        found = self.kube.list("v1", "Pod", self.namespace, fields=f"spec.nodeName={node}")
        return [pod for pod in found if phase(pod) not in {"Succeeded", "Failed"}]

    def give_notice(self, nodes: Iterable[str]) -> None:
        """The cloud says that it will take these nodes."""
        for node in nodes:
            self.recorder.mark("notice", f"Node/{node}")
            self.taint(node, NOTICE)

    def delete_node(self, node: str) -> None:
        """The node object goes, with or without its pods."""
        self.recorder.mark("delete the node", f"Node/{node}")
        self.kube.delete("v1", "Node", node)

    def taint(self, node: str, taint: Mapping[str, str]) -> None:
        """Put a taint on a node beside those it has."""
        there = self.kube.get("v1", "Node", node)["spec"].get("taints", [])
        self.kube.patch("v1", "Node", node, {"spec": {"taints": [*there, dict(taint)]}})

    def says(self, job: str, within_seconds: float = SECONDS, **wanted: object) -> Object:
        """The status of a job's TrainingRun, as soon as it says all of this."""

        def look() -> Object | None:
            status = self.run(job)
            return status if status and all(status.get(key) == value for key, value in wanted.items()) else None

        said = ", ".join(f"{key} {value}" for key, value in wanted.items())
        return self.wait(look, f"the TrainingRun of {job} to say {said}", within_seconds)

    def run(self, job: str) -> Object:
        """The status of a job's TrainingRun as it is; empty where there is none."""
        found = self.kube.find(API_VERSION, RUN, job, self.namespace)
        return (found or {}).get("status", {})

    def condition(self, job: str, kind: str) -> Object:
        """A condition of a job's TrainingRun; empty where it has none."""
        return next((each for each in self.run(job).get("conditions", []) if each["type"] == kind), {})

    def has_told(self, job: str, *reasons: str) -> None:
        """The controller has written these events on a job, in this order, and none of their reasons once more.

        Some are written a moment after what they tell of.
        """

        def told() -> list[str]:
            return [each for each in timeline.events(self.recorder.raw(), job) if each in reasons]

        with contextlib.suppress(NotSeen):
            self.kube.wait(lambda: told() == [*reasons], "the events to be there", LAG_SECONDS)
        assert told() == [*reasons], f"events of {job}: {told()}, where {[*reasons]} were meant"

    def has_one_writer(self) -> None:
        """At no moment did pods of two attempts of one job run at once."""
        found = judge.overlaps(self.recorder.raw(), self.resumed_by_hand)
        assert found == (), f"pods of two attempts ran at once: {found}"

    def has_seen(self) -> None:
        """Nothing was proven by an empty recording: no watch of it ended, and it has pods of the test's job."""
        assert self.recorder.failures == []
        pods = [each for each in History(self.recorder.raw()).of("Pod") if each.namespace == self.namespace]
        assert pods or not self.has_pods, "no pod of the job was recorded"

    def has_lived(
        self, job: str, *tiers: str, evictions: int, errors: int = 0, voluntary: int = 0, quiet: bool = False
    ) -> None:
        """What is recorded: the tiers on which the gang was whole, in order, and what was counted, one by one.

        What was counted has to agree with the interruptions that are seen in the gang's pods alone.

        Args:
            job: The job's name.
            tiers: Pools.
            evictions: How many the test has caused.
            errors: How many the test has caused.
            voluntary: How many interruptions on spot it has caused that are charged to nobody.
            quiet: Whether it is looked at for a while longer, since what is counted twice may be counted late.
        """
        lived = Lived(job, tiers, evictions, errors, voluntary)
        with contextlib.suppress(NotSeen):  # what the API server says now is delivered a moment later
            self.kube.wait(lambda: not lived.wrong(self.recorder.raw()), "the recording to be there", LAG_SECONDS)
        found = lived.wrong(self.recorder.raw())
        assert not found, "; ".join(found)
        if quiet:
            self.stays(f"what {job} has lived", lambda: lived.wrong(self.recorder.raw()), QUIET_SECONDS)
            said = self.run(job)
            assert (said.get("evictions", 0), said.get("errors", 0)) == (evictions, errors), said


def nodes_of(pods: Sequence[Object]) -> list[str]:
    """Nodes that pods are on, each once, in order."""
    return sorted({node_of(pod) for pod in pods})


def drained(stage: Controlled, *nodes: str) -> None:
    """A drain, which cordons all nodes before the first is emptied, as kubectl does, and the machines go."""
    for node in nodes:
        stage.recorder.mark("cordon", f"Node/{node}")
        stage.kube.patch("v1", "Node", node, {"spec": {"unschedulable": True}})
    for node in nodes:
        _emptied(stage, node)


def _emptied(stage: Controlled, node: str) -> None:
    for pod in stage.on(node):
        try:
            stage.evict(pod)
        except Refused as refused:  # the gang's restart may have taken it by now: kubectl drain passes over it, too
            if refused.status != NOT_FOUND:
                raise
    stage.wait(lambda: not stage.on(node), f"the pods of {node} to have ended")
    stage.delete_node(node)


def tainted(stage: Controlled, node: str) -> None:
    """A taint that no pod tolerates, and the machine goes."""
    stage.recorder.mark("taint NoExecute", f"Node/{node}")
    stage.taint(node, TAKEN)
    stage.wait(lambda: not stage.on(node), f"the pods of {node} to have ended")
    stage.delete_node(node)


def vanished(stage: Controlled, node: str) -> None:
    """The machine is gone, and nobody has told its pods."""
    stage.delete_node(node)


def killed(stage: Controlled, node: str) -> None:
    """Every pod is killed with the machine, which nobody has announced.

    No node takes a pod until the machine is gone: on a slow one the successor of the first pod was ready before the
    second was killed, or on the very node that was about to go, and that gang had been interrupted twice.
    """
    nodes = stage.nodes(stage.kube.get("v1", "Node", node)["metadata"]["labels"][POOL_LABEL]).keys()
    for each in nodes:
        stage.kube.patch("v1", "Node", each, {"spec": {"unschedulable": True}})
    stage.turn(stage.on(node), "exit-code", 137)
    stage.wait(lambda: not stage.on(node), f"the pods of {node} to have died")
    stage.delete_node(node)
    for each in nodes - {node}:
        stage.kube.patch("v1", "Node", each, {"spec": {"unschedulable": None}})


def deleted(stage: Controlled, node: str) -> None:
    """Pods are deleted without a condition that says why (AKS, Karpenter's forced deletes), and the machine goes."""
    for pod in stage.on(node):
        stage.recorder.mark("delete the pod", f"Pod/{pod['metadata']['name']}")
        try:
            stage.kube.delete("v1", "Pod", pod["metadata"]["name"], stage.namespace)
        except Refused as refused:
            if refused.status != NOT_FOUND:
                raise
    stage.delete_node(node)


def claimed(stage: Controlled, node: str) -> None:
    """A cloud takes a node with notice: Karpenter's interruption handler deletes the NodeClaim."""
    stage.reclaim(node)


WAYS: Final = (drained, tainted, vanished, killed, deleted)
"""How a node goes that nobody has bought."""
