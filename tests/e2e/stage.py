"""Where one test plays: a workspace of its own on a control plane, read, waited for and recorded from the start."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from spotproof.kube.client import Refused
from spotproof.kube.waiting import wait
from spotproof.manifests.job_admission import job_admission
from spotproof.manifests.workspaces import workspace
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.dashboard import Status
from spotproof.rehearsal.history import is_leaving, node_of, works
from spotproof.rehearsal.recorder import KINDS, Recorder
from spotproof.settings.environment import Workspace
from spotproof.vocabulary import POOL_LABEL, ZONE_LABEL
from tests.e2e.jobs import KNOB, STATIC, environment, pools, static_node
from tests.e2e.own import Own
from tests.recordings.stories import STORIES, missing

T = TypeVar("T")

SECONDS: Final = 60.0
"""For anything that takes a second or ten on an idle machine."""
LEAST_SECONDS: Final = 0.1
MOST_SECONDS: Final = 0.5
"""Between two looks: a look is two lists, which at 20 a second were a quarter of what the API server was asked."""
PART_OF: Final[Mapping[str, Parts]] = {
    "JobSet": Parts.JOBSET,
    "RayJob": Parts.KUBERAY,
    "RayCluster": Parts.KUBERAY,
    "NodeClaim": Parts.KARPENTER,
    "NodePool": Parts.KARPENTER,
    "TrainingRun": Parts.CONTROLLER,
}
"""Kinds that are there only with their operator."""
OWNERS_FIRST: Final = ("JobSet", "RayJob", "RayCluster", "Job", "Pod")
"""What is deleted at the end, one after the other. The garbage collector would do it, but it looks for kinds that are
new, as those of operators are here, only every 30 s."""
NOT_FOUND: Final = 404
KARPENTERS_TAINTS: Final = frozenset({"karpenter.sh/disrupted", "karpenter.sh/unregistered"})
"""The second stays on the node of a NodeClaim that was deleted between its launch and its node's registration."""
RECORDINGS: Final = Path(__file__).resolve().parents[1] / "recordings"

Object = dict[str, Any]


def prepare(plane: ControlPlane) -> None:
    """What all tests share: the stack's pools, and the admission policies of jobs, which every job here passes."""
    made = pools().objects if Parts.KARPENTER in plane.parts else ()
    for each in (*made, *job_admission(environment())):
        plane.kube.apply(each)


class Stage:
    """One test's namespace. Everything read is what the API server says now."""

    def __init__(self, plane: ControlPlane, namespace: str, *, record: bool = False, bought: bool = True) -> None:
        """Prepare.

        Args:
            plane: A control plane that is prepared.
            namespace: The test's, which nobody has made.
            record: Whether the story told is written to tests/recordings.
            bought: Whether nodes that Karpenter buys from now on are the test's.
        """
        self.plane = plane
        self.kube = plane.kube
        self.namespace = namespace
        self._record = record
        self._static: list[str] = []
        self.kinds = {kind: version for kind, version in KINDS.items() if PART_OF.get(kind, Parts.CORE) in plane.parts}
        self.recorder = Recorder(Own(plane.kube, namespace, bought=bought), kinds=self.kinds, hidden=[plane.folder])

    def __enter__(self) -> Self:
        """Make the workspace and begin to record."""
        for each in workspace(Workspace(namespace=self.namespace)):
            self.kube.apply(each)
        self.recorder.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing that the next test could take for its own: no job, no pod, no node that takes pods."""
        self.recorder.stop()
        self.plane.market.open_all()
        for kind in (each for each in OWNERS_FIRST if each in self.kinds):
            for each in self.kube.list(self.kinds[kind], kind, self.namespace):
                self._delete(kind, each["metadata"]["name"])
        self.wait(lambda: not self.pods(), "the pods of the last test to be gone")
        for claim in self.claims():
            self.kube.delete(self.kinds["NodeClaim"], "NodeClaim", claim["metadata"]["name"])
        for name in self._static:
            self._delete("Node", name)
        self.wait(self._takes_no_pods, "the nodes of the last test to take no more pods")

    def static_nodes(self, pool: str, count: int) -> None:
        """Nodes that are there from the start, for stories in which none is bought."""
        for number in range(1, count + 1):
            name = f"{STATIC}{self.namespace}-{pool}-{number}"
            self.kube.create(static_node(name, pool))
            self._static.append(name)

    def submit(self, job: Mapping[str, Any]) -> None:
        """Apply a job; the API server has nothing to say against it."""
        self.recorder.mark("submit", f"{job['kind']}/{job['metadata']['name']}")
        assert self.kube.apply(job).warnings == ()

    def wait(self, read: Callable[[], T | None], what: str, within_seconds: float = SECONDS) -> T:
        """Look until something is there: whenever something was recorded, and now and then."""
        return wait(read, what, within_seconds, seen=self.summary, patient=(Refused,), sleep=self._until_news)

    def stays(self, what: str, wrong: Callable[[], Sequence[object]], for_seconds: float) -> None:
        """Look, whenever something was recorded, until so much more is recorded: nothing is ever wrong.

        Args:
            what: Stays so, as a sentence's beginning: "the counts of gang".
            wrong: What is not so; empty while all is well.
            for_seconds: Of the recording.
        """
        until = self.recorder.seconds + for_seconds
        is_last = False
        while not is_last:
            is_last = self.recorder.seconds >= until
            found = wrong()
            assert not found, f"{what} did not stay for {for_seconds:g} s: {found}"
            self._until_news(0)

    def _until_news(self, _seconds: float) -> None:
        self.recorder.wait_for_news(LEAST_SECONDS, MOST_SECONDS)

    def gang_runs(self, count: int, pool: str) -> list[Object]:
        """The pods of the job, as soon as there are so many, all ready, on nodes of the pool, and no other."""
        return self.wait(lambda: self._gang(count, pool), f"{count} pods ready on {pool}, and no other")

    def _gang(self, count: int, pool: str) -> list[Object] | None:
        nodes, pods = self.nodes(pool), self.pods()
        ready = all(works(pod) and node_of(pod) in nodes for pod in pods)
        return pods if len(pods) == count and ready else None

    def pods(self, **labels: str) -> list[Object]:
        """Pods that are there, whatever their state."""
        return self.kube.list("v1", "Pod", self.namespace, labels=",".join(f"{k}={v}" for k, v in labels.items()))

    def nodes(self, pool: str) -> dict[str, Object]:
        """Nodes of a pool, by name."""
        found = self.kube.list("v1", "Node", labels=f"{POOL_LABEL}={pool}")
        return {each["metadata"]["name"]: each for each in found}

    def zones(self, pods: Iterable[Mapping[str, Any]]) -> set[str]:
        """Zones of the nodes of pods."""
        nodes = [self.kube.get("v1", "Node", node_of(pod)) for pod in pods]
        return {node["metadata"]["labels"][ZONE_LABEL] for node in nodes}

    def claims(self) -> list[Object]:
        """NodeClaims that nobody has deleted."""
        if "NodeClaim" not in self.kinds:
            return []
        return [each for each in self.kube.list(self.kinds["NodeClaim"], "NodeClaim") if not is_leaving(each)]

    def job(self, kind: str = "JobSet") -> Object:
        """The test's JobSet or RayJob."""
        (found,) = self.kube.list(self.kinds[kind], kind, self.namespace)
        return found

    def status(self, kind: str = "JobSet") -> Object:
        """Its status; empty while it has none."""
        return self.job(kind).get("status", {})

    def jobs(self) -> dict[str, Object]:
        """The JobSet's Jobs, by name."""
        return {each["metadata"]["name"]: each for each in self.kube.list("batch/v1", "Job", self.namespace)}

    def events(self, reason: str, kind: str) -> list[str]:
        """What events of a reason say of the test's objects of a kind, as they were recorded.

        Not as they are listed: the events of a NodeClaim that an earlier test wanted stay for an hour.
        """
        said = [each.object for each in self.recorder.raw().versions if each.kind == "Event"]
        about = [each for each in said if each["involvedObject"]["kind"] == kind]
        return [each["message"] for each in about if each.get("reason") == reason]

    def reclaim(self, node: str) -> None:
        """A cloud takes a node with notice: Karpenter's interruption handler deletes the NodeClaim."""
        (name,) = (each["metadata"]["name"] for each in self.claims() if each.get("status", {}).get("nodeName") == node)
        self.recorder.mark("reclaim", f"NodeClaim/{name}")
        self.kube.delete(self.kinds["NodeClaim"], "NodeClaim", name)

    def evict(self, pod: Mapping[str, Any]) -> None:
        """A drain comes to one pod."""
        name = pod["metadata"]["name"]
        self.recorder.mark("evict", f"Pod/{name}")
        self.kube.evict(name, self.namespace)

    def finish(self, submission: str, status: Status) -> None:
        """The Ray job's program ends so."""
        self.recorder.mark(f"finish {status}", f"RayJob/{self.job('RayJob')['metadata']['name']}")
        self.plane.dashboard.finish(submission, status)

    def lose_head(self, cluster: str) -> None:
        """A head that went has taken with it what its dashboard knew."""
        self.plane.dashboard.forget(f"{cluster}-head")

    def close_market(self, **offerings: str) -> None:
        """No more of these offerings."""
        self.recorder.mark("close the market", ", ".join(offerings.values()))
        self.plane.market.close(**offerings)

    def open_market(self) -> None:
        """Capacity of everything again."""
        self.recorder.mark("open the market")
        self.plane.market.open_all()

    def turn(self, pods: Iterable[Mapping[str, Any]], knob: str, value: object) -> None:
        """Set one of kwok's knobs on pods."""
        for pod in pods:
            name = pod["metadata"]["name"]
            self.recorder.mark(f"{knob} {value}", f"Pod/{name}")
            change = {"metadata": {"annotations": {KNOB + knob: str(value)}}}
            self.kube.patch("v1", "Pod", name, change, self.namespace)

    def tells(self, story: str) -> None:
        """What is recorded comes to be the story, step by step; with `--record` it goes to tests/recordings."""
        wait(
            lambda: not missing(story, self.recorder.raw()),
            f"the story {story}",
            SECONDS,
            seen=lambda: f"everything before {missing(story, self.recorder.raw())}{self.summary()}",
            sleep=self._until_news,
        )
        self.recorder.stop()
        assert self.recorder.failures == []
        if self._record:
            about = {"story": STORIES[story].about, "kubernetes": self.kube.version()}
            replace(self.recorder.recording(), about=about).save(RECORDINGS / f"{story}.json")

    def summary(self) -> str:
        """What is there, in a few lines, for a wait that ended in vain."""
        kinds = [kind for kind in self.kinds if kind not in {"Event", "NodePool"}]
        found = [each for kind in kinds for each in self.kube.list(self.kinds[kind], kind)]
        ours = [each for each in found if each["metadata"].get("namespace") in {None, self.namespace}]
        return "\n".join(["", *map(_line, ours)])

    def _delete(self, kind: str, name: str) -> None:
        try:
            self.kube.delete(self.kinds[kind], kind, name, None if kind == "Node" else self.namespace)
        except Refused as refused:
            if refused.status != NOT_FOUND:
                raise

    def _takes_no_pods(self) -> bool:
        """Whether every node that was bought is one that Karpenter takes down, or that it will never know."""
        return all(
            any(taint["key"] in KARPENTERS_TAINTS for taint in node["spec"].get("taints", ()))
            for node in self.kube.list("v1", "Node")
            if not node["metadata"]["name"].startswith(STATIC)
        )


def _line(thing: Mapping[str, Any]) -> str:
    status: Mapping[str, Any] = thing.get("status", {})
    conditions = [f"{each['type']}={each['status']}/{each.get('reason')}" for each in status.get("conditions", ())]
    plain = {key: value for key, value in status.items() if isinstance(value, str | int)}
    leaving = " (leaving)" if is_leaving(thing) else ""
    return f"  {thing['kind']} {thing['metadata']['name']}{leaving} {node_of(thing)} {plain} {' '.join(conditions)}"
