"""A rehearsal: a stack and its job on a local control plane, whose spot nodes are taken away one by one."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from spotproof.kube.client import Refused
from spotproof.rehearsal.control_plane import ControlPlane, Parts
from spotproof.rehearsal.history import History, Job, Node, node_of, works
from spotproof.rehearsal.market import Market
from spotproof.rehearsal.marks import CLOSES, OPENS, RECLAIM, STEP, SUBMIT
from spotproof.rehearsal.outcome import Outcome
from spotproof.rehearsal.processes import ProcessEnded
from spotproof.rehearsal.recorder import KINDS, Recorder
from spotproof.rehearsal.recording import Recording
from spotproof.rehearsal.scene import Scene
from spotproof.rehearsal.story import Moment, told
from spotproof.rehearsal.story.jobs import is_over, whole
from spotproof.rehearsal.story.pods import waits_of
from spotproof.rehearsal.tools import Tools
from spotproof.vocabulary import SPOT, Manifest

START_SECONDS: Final = 120.0
"""For the job to run at first: two node registrations and a launch, on a busy machine."""
RETURN_SECONDS: Final = 90.0
"""For the job to run again after a reclaim, while nodes can be had."""
LEAVE_SECONDS: Final = 60.0
"""For a node to be drained and gone."""
DRY_SECONDS: Final = 12.0
"""How long the end is watched: Karpenter asks again 10 s after it was refused."""
FALL_SECONDS: Final = 120.0
"""For the controller to move the job: the wait that it has patience for, the move, and new nodes."""
SERVED_SECONDS: Final = 30.0
REST_SECONDS: Final = 2.0
"""Between two reclaims, so that a reader sees the job run."""
LOOK_SECONDS: Final = 0.25
FEWEST_RECLAIMS: Final = 2
"""So that one is seen from which the job comes back, before the market is dry."""

NOT_FOUND: Final = 404
RAY_KINDS: Final = ("RayJob", "RayCluster")


@dataclass(frozen=True)
class Options:
    """How far a rehearsal goes.

    `reclaims` None is as many as the job has spot nodes; `dry` closes the spot market before the last one, and then
    takes what spot is left. Whether the fallback controller then acts is the scene's.
    """

    reclaims: int | None = None
    dry: bool = True


@dataclass(frozen=True)
class View:
    """What is known so far: the history as it is, the moments of it, and what the rehearsal is doing."""

    history: History
    moments: Sequence[Moment]
    doing: str


@dataclass(frozen=True)
class Time:
    """What polling goes by: seconds that only grow, and a pause."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


TIME: Final = Time()


class Api(Protocol):
    """What is asked of the API server."""

    def apply(self, thing: Manifest) -> object:
        """Make an object, or make it so."""
        ...

    def delete(self, api_version: str, kind: str, name: str) -> None:
        """Ask for an object's end."""
        ...


class Plane(Protocol):
    """What is needed of a control plane."""

    @property
    def kube(self) -> Api:
        """Its API server."""
        ...

    @property
    def market(self) -> Market:
        """What Karpenter can buy there."""
        ...

    def check(self) -> None:
        """Nothing where every part runs; raises otherwise."""
        ...


class Notes(Protocol):
    """What is needed of a recorder."""

    def raw(self) -> Recording:
        """What was recorded so far."""
        ...

    def mark(self, did: str, to: str = "") -> None:
        """Note what is done from outside."""
        ...


@dataclass(frozen=True)
class Stage:
    """Where one rehearsal is played, and what is written down of it."""

    scene: Scene
    plane: Plane
    notes: Notes


class Stopped(Exception):  # noqa: N818 - the name is the sentence
    """The story cannot go on; the text says why."""


def rehearse(
    scene: Scene,
    tools: Tools,
    options: Options,
    audience: Callable[[View], None],
    keep_logs: Path | None = None,
) -> Outcome:
    """Rehearse; everything that was started is gone when this returns.

    Ctrl-C ends it early: what was seen until then is returned.

    Args:
        scene: The stack and the job.
        tools: The binaries of `make tools`.
        options: How far it goes.
        audience: Told what is known, several times a second.
        keep_logs: A folder for the logs of every process.

    Raises:
        NotStarted: the control plane did not come up.
    """
    parts = Parts.KARPENTER | (Parts.KUBERAY if scene.needs_ray else Parts.JOBSET)
    if scene.is_managed:
        parts |= Parts.CONTROLLER
    outcome, began = Outcome(), time.monotonic()
    with ExitStack() as stack:
        plane = stack.enter_context(
            ControlPlane(tools, parts, instance_types=scene.pools.instance_types, keep_logs=keep_logs)
        )
        outcome.ready_seconds = time.monotonic() - began
        recorder = Recorder(
            plane.kube,
            kinds={kind: version for kind, version in KINDS.items() if _served(kind, parts)},
            hidden=[plane.folder],
            about={
                "story": f"rehearsal of stack {scene.stack}",
                "kubernetes": plane.kube.version(),
                "readySeconds": f"{outcome.ready_seconds:.1f}",
            },
        )
        try:
            with recorder:
                Play(Stage(scene.on(plane.kube.version()), plane, recorder), audience).play(options)
        except KeyboardInterrupt:
            outcome.unfinished = "it was stopped"
        except (Stopped, Refused, ProcessEnded) as error:
            outcome.unfinished = str(error)
        history = History(recorder.raw())
        audience(View(history, told(history), ""))
        outcome.recording = recorder.recording()
        outcome.failures = recorder.failures
        if keep_logs is not None:
            plane.save_logs(keep_logs)
    return outcome


def _served(kind: str, parts: Parts) -> bool:
    if kind == "JobSet":
        return Parts.JOBSET in parts
    if kind == "TrainingRun":
        return Parts.CONTROLLER in parts
    return kind not in RAY_KINDS or Parts.KUBERAY in parts


class Play:
    """One rehearsal on a control plane that is up and recorded."""

    def __init__(self, stage: Stage, audience: Callable[[View], None], passing: Time = TIME) -> None:
        """Prepare; nothing is asked yet."""
        self._scene, self._plane, self._recorder = stage.scene, stage.plane, stage.notes
        self._audience, self._clock, self._sleep = audience, passing.clock, passing.sleep
        self._doing = ""

    def play(self, options: Options) -> None:
        """From the first object to the end of the story.

        Raises:
            Stopped: something that has to happen did not.
            Refused: the API server does not take an object.
        """
        self._set_up()
        self._submit()
        nodes = len(self._spot_nodes(self._look()))
        if not nodes:
            raise Stopped("no pod of the job is on a spot node, so there is nothing to take away")
        reclaims = max(nodes, FEWEST_RECLAIMS) if options.reclaims is None else options.reclaims
        for number in range(1, reclaims + 1):
            if options.dry and number == reclaims:
                self._dry_up()
                return
            self._reclaim_one(f"reclaim {number} of {reclaims}")
            if self._is_over():
                return

    def _set_up(self) -> None:
        self._say("applying the stack's pools, policies and workspaces")
        for each in (*self._scene.pools.objects, *self._scene.kinds):
            self._apply(each)
        for each in self._scene.objects:
            self._apply(each)

    def _apply(self, thing: Manifest) -> None:
        """A kind that was made just now is served a moment later."""
        deadline = self._clock() + SERVED_SECONDS
        while True:
            try:
                self._plane.kube.apply(thing)
            except Refused as refused:
                if refused.status != NOT_FOUND or self._clock() > deadline:
                    raise
                self._sleep(LOOK_SECONDS)
            else:
                return

    def _submit(self) -> None:
        self._say("submitting the job and waiting until it runs")
        self._recorder.mark(SUBMIT, f"{self._scene.job['kind']}/{self._scene.name}")
        self._plane.kube.apply(self._scene.job)
        self._until(lambda history: any(job.life.name == self._scene.name for job in history.jobs), SERVED_SECONDS)
        if not self._until(lambda history: bool(whole(self._job(history))), START_SECONDS):
            job = self._job(self._look())
            waiting = "its pods find no node" if waits_of(job) else "its pods were not ready"
            raise Stopped(f"{job.said} did not run within {START_SECONDS:.0f} s: {waiting}")

    def _reclaim_one(self, what: str) -> None:
        self._rest()
        history = self._look()
        nodes = self._spot_nodes(history)
        if not nodes:
            raise Stopped("the job is on no spot node any more")
        before = len(whole(self._job(history)))
        self._take(nodes[0], what)
        back = self._until(lambda history: self._is_back(history, before) or self._is_over(), RETURN_SECONDS)
        if not back:
            raise Stopped(f"the job did not run again within {RETURN_SECONDS:.0f} s after {what}")

    def _dry_up(self) -> None:
        """The last reclaim: no new spot node is to be had, and those that are left go too."""
        self._rest()
        self._recorder.mark(CLOSES)
        self._plane.market.close(capacity_type=SPOT)
        what = "the last reclaim, in a dry market"
        while nodes := self._spot_nodes(self._look()) or self._spot_nodes(self._look(), held=False):
            self._take(nodes[0], what)
            name = nodes[0].name
            if not self._until(lambda history, name=name: self._has_left(history, name), LEAVE_SECONDS):
                raise Stopped(f"node {name} was not gone within {LEAVE_SECONDS:.0f} s")
            what = "the rest of spot goes as well"
        if self._scene.is_managed and self._scene.fallbacks:
            self._fall()
        else:
            self._say("watching what happens without spot")
            self._until(lambda _: self._is_over(), DRY_SECONDS)

    def _fall(self) -> None:
        """The controller takes the job to on-demand, and back where the policy says so."""
        self._say("waiting for the controller to take the job to another tier")
        before = len(whole(self._job(self._look())))
        if not self._until(lambda history: self._is_back(history, before) or self._is_over(), FALL_SECONDS):
            raise Stopped(f"the job did not run on another tier within {FALL_SECONDS:.0f} s")
        if not self._scene.returns or self._is_over():
            return
        self._rest()
        self._say("opening the spot market again, and waiting for the job to return")
        self._recorder.mark(OPENS)
        self._plane.market.open_all()
        before = len(whole(self._job(self._look())))
        if not self._until(lambda history: self._is_back(history, before) or self._is_over(), FALL_SECONDS):
            raise Stopped(f"the job did not return to spot within {FALL_SECONDS:.0f} s")
        self._rest()

    def _take(self, node: Node, what: str) -> None:
        if node.claim is None:
            raise Stopped(f"node {node.name} is none of Karpenter's, so it cannot be reclaimed here")
        self._say(f"{what}: node {node.short}")
        self._recorder.mark(RECLAIM, f"NodeClaim/{node.claim.name}")
        self._plane.kube.delete("karpenter.sh/v1", "NodeClaim", node.claim.name)

    def _spot_nodes(self, history: History, *, held: bool = True) -> list[Node]:
        """Spot nodes that stay, oldest first; with `held` those that hold pods of the job."""
        used = {node_of(pod.last) for pod in self._job(history).pods if pod.gone is None and works(pod.last)}
        nodes = [node for node in history.nodes.values() if node.capacity == SPOT and node.stays]
        return [node for node in nodes if not held or node.name in used]

    def _is_back(self, history: History, before: int) -> bool:
        return len(whole(self._job(history))) > before and whole(self._job(history))[-1][1] is None

    def _has_left(self, history: History, name: str) -> bool:
        node = history.node(name)
        return node is None or node.life.gone is not None

    def _is_over(self) -> bool:
        return is_over(self._job(self._look()))

    def _job(self, history: History) -> Job:
        found = [job for job in history.jobs if job.life.name == self._scene.name]
        if not found:
            raise Stopped(f"{self._scene.job['kind']} {self._scene.name} is not there any more")
        return found[0]

    def _look(self) -> History:
        self._plane.check()
        history = History(self._recorder.raw())
        self._audience(View(history, told(history), self._doing))
        return history

    def _say(self, doing: str) -> None:
        self._recorder.mark(STEP, doing)
        self._doing = doing
        self._look()

    def _rest(self) -> None:
        self._until(lambda _: False, REST_SECONDS)

    def _until(self, holds: Callable[[History], bool], within_seconds: float) -> bool:
        """Look until something holds; False if it did not in time."""
        deadline = self._clock() + within_seconds
        while True:
            if holds(self._look()):
                return True
            if self._clock() >= deadline:
                return False
            self._sleep(LOOK_SECONDS)
