"""A world with the fallback controller in it, and a judge: what stories and random worlds are told in."""

from collections.abc import Sequence
from typing import Any, Final

from spotproof.controller.causes import SIGNALS
from spotproof.controller.kinds import EVENT, JOBSET, JOBSET_NAME, NAMESPACE, NODE, POD, RAYJOB, RUN, Object
from spotproof.controller.kinds import JOB as CHILD
from spotproof.fallback.record import RunCondition, TrainingRunStatus
from spotproof.vocabulary import (
    FALLBACK_POLICY_LABEL,
    MANUAL_LABEL,
    MOVE_ANNOTATION,
    PAUSED_LABEL,
    POOL_LABEL,
    SYSTEM_NAMESPACE,
    WORKSPACE_LABEL,
)
from tests.world.jobs import Tier, policy, pools
from tests.world.judge import Judge, is_over, tiers_of
from tests.world.ledger import Cause, Hit, Ledger
from tests.world.moves import Moves
from tests.world.process import Process
from tests.world.raycluster import NODE_TYPE, WORKER
from tests.world.things import annotations, is_true, labels, leaves, node_of, owner, ready, uid
from tests.world.world import World

POLICY_NAME: Final = "standard"
HIT_SECONDS: Final = 1.0
"""How long it may take at the most until what was done to a gang can be seen of it."""


class Managed(World):
    """A world whose jobs are managed. Its jobs are named by their name alone; they are all in one namespace.

    `judged`: whoever tells what happens writes all of it into the ledgers, so that decisions are held to them.
    """

    def __init__(
        self, tiers: Sequence[Tier], *, seed: int = 0, most: int = 100, judged: bool = False, **rule: Any
    ) -> None:
        super().__init__(pools(tiers, most=most), seed=seed)
        self.tiers = {each.pool: each for each in tiers}
        for each in (SYSTEM_NAMESPACE, self.namespace):
            meta = {"name": each, "labels": {WORKSPACE_LABEL: each}}
            self.server.create({"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": meta})
        self.process = Process(self, seed=seed)
        self.judge = Judge(self, self.process)
        self.moves = Moves(self) if judged else None
        self.ledgers: dict[str, Ledger] = {}
        self.done: set[str] = set()
        """Uids of child Jobs whose pods have done their work."""
        self.store.tell(POD, self._finds_its_work_done)
        self.server.create(policy(POLICY_NAME, tiers, **rule))
        self.process.start()

    # looks

    def job(self, name: str) -> Object:
        """A job, or nothing."""
        return self.get(JOBSET, name) or self.get(RAYJOB, name) or {}

    def managed(self) -> list[Object]:
        """All jobs."""
        return [*self.all(JOBSET), *self.all(RAYJOB)]

    def status(self, name: str) -> TrainingRunStatus:
        """What its TrainingRun says."""
        run = self.get(RUN, name)
        return TrainingRunStatus.model_validate((run or {}).get("status", {}))

    def phase(self, name: str) -> str:
        """The phase that its TrainingRun says; empty where it says none."""
        return str((self.get(RUN, name) or {}).get("status", {}).get("phase", ""))

    def conditions(self, name: str) -> dict[str, RunCondition]:
        """Its TrainingRun's conditions, by type."""
        return {each.type: each for each in self.status(name).conditions}

    def told(self, reason: str) -> list[str]:
        """What the controller's events of that reason say."""
        return [str(each["note"]) for each in self.all(EVENT) if each["reason"] == reason]

    def gang(self, name: str) -> list[Object]:
        """Pods of the gang that are to move with it: a head stays, and a submitter is none of them."""
        job = self.job(name)
        return [
            pod
            for pod in (self.judge.pods_of(job) if job else ())
            if POOL_LABEL in pod["spec"].get("nodeSelector", {}) and _moves(pod) and not self._is_done(pod)
        ]

    def roles(self, name: str, *, done: bool = False) -> list[Object]:
        """Child Jobs of a JobSet that are under way, or those that have done their work."""
        jobs = [each for each in self.all(CHILD) if labels(each).get(JOBSET_NAME) == name]
        return [each for each in jobs if (uid(each) in self.done and is_true(each, "Complete")) == done]

    def _is_done(self, pod: Object) -> bool:
        of = owner(pod, CHILD.kind)
        job = None if of is None or of["uid"] not in self.done else self.get(CHILD, of["name"])
        return job is not None and is_true(job, "Complete")

    def size(self, name: str) -> int:
        """Pods of a whole gang, of those that move."""
        job = self.job(name)
        if job["kind"] == JOBSET.kind:
            all_ = sum(each["template"]["spec"]["parallelism"] for each in job["spec"]["replicatedJobs"])
            return all_ - sum(each["spec"]["completions"] for each in self.roles(name, done=True))
        return sum(each["replicas"] for each in job["spec"]["rayClusterSpec"]["workerGroupSpecs"])

    def is_whole(self, name: str, tier: str = "") -> bool:
        """Whether the gang is ready, on that tier if one is named, and nothing of it is ending."""
        pods = self.gang(name)
        there = [pod for pod in pods if ready(pod) and not leaves(pod)]
        on = {self._tier_of(pod) for pod in there}
        head = self.job(name)["kind"] == JOBSET.kind or self.job(name).get("status", {}).get("jobStatus") == "RUNNING"
        return head and len(there) == len(pods) == self.size(name) and (not tier or on == {tier})

    def tier(self, name: str) -> str:
        """The tier that its templates select."""
        return tiers_of(self.job(name))[0]

    def _tier_of(self, pod: Object) -> str:
        return pod["spec"]["nodeSelector"][POOL_LABEL]

    def suspended_by_us(self, name: str) -> str:
        """The mark by which the controller has suspended the job; empty where it has not."""
        return annotations(self.job(name)).get(MOVE_ANNOTATION, "")

    def is_over(self, name: str) -> bool:
        """Whether the job has come to its end, or is gone."""
        job = self.job(name)
        return not job or is_over(job)

    # waits

    def until_whole(self, name: str, tier: str = "", within: float = 120.0) -> float:
        """Let time pass until the gang is ready and its TrainingRun says that it runs."""
        return self.run_until(lambda: self.is_whole(name, tier) and self.status(name).phase == "Running", within)

    # what is done to a gang, and written into its ledger

    def nodes(self, name: str) -> list[str]:
        """Nodes of the gang, in the order of their names."""
        return sorted({node_of(pod) for pod in self.gang(name) if node_of(pod)})

    def lose(self, name: str, how: str, count: int = 1) -> None:
        """Take nodes away from the gang: `reclaim`, `vanish`, `silence` or `drain`."""
        spot = self.tiers[self.tier(name)].capacity == "spot"
        cause: Cause = "eviction" if spot and how != "drain" else "voluntary"
        lost = [node for node in self.nodes(name) if self.get(NODE, node, "") is not None][:count]
        if lost:
            self.note(name, cause)
        for node in lost:
            getattr(self, how)(node)

    def fail(self, name: str, code: int = 1, reason: str = "") -> None:
        """A pod of the gang ends with an error of its own."""
        pods = [pod for pod in self.gang(name) if ready(pod) and not leaves(pod)]
        if pods:
            self.note(name, "error", counted=code not in SIGNALS)
            self.exit(pods[0], code, reason)

    def delete_pod(self, name: str) -> None:
        """Somebody deletes a pod of the gang that is ready."""
        pods = [pod for pod in self.gang(name) if ready(pod)]
        if pods:
            self.note(name, "voluntary")
            self.server.delete(*POD, pods[0]["metadata"]["name"], self.namespace)

    def finish_role(self, name: str) -> None:
        """One role of a JobSet that has others does its work to the end."""
        self.ledger(name).disturb("a role is done", self.now)
        first, *others = self.roles(name)
        if others:
            self._finish(name, [first])

    def finish_roles(self, name: str) -> None:
        """All of a JobSet's work is done."""
        self._finish(name, self.roles(name))

    def _finish(self, name: str, roles: Sequence[Object]) -> None:
        uids = set(map(uid, roles))
        self.done |= uids
        for pod in self.gang(name):
            if (of := owner(pod, CHILD.kind)) is not None and of["uid"] in uids:
                self.exit(pod, 0)

    def _finds_its_work_done(self, _: str, pod: Object, old: Object | None) -> None:
        """A pod whose role had done its work, and that was lost before it could say so, is made again by its Job."""
        of = owner(pod, CHILD.kind)
        if of is not None and of["uid"] in self.done and ready(pod) and old is not None and not ready(old):
            self.clock.after(HIT_SECONDS, lambda: self.exit(pod, 0))

    def lose_done(self, name: str) -> None:
        """The nodes of pods that have done their work go: nobody's loss, to who knows that they had."""
        done = {uid(each) for each in self.roles(name, done=True)}
        pods = [pod for pod in self.all(POD) if (of := owner(pod, CHILD.kind)) is not None and of["uid"] in done]
        if pods and not self.is_calm(name):
            self.note(name, "voluntary")
        for node in {node_of(pod) for pod in pods}:
            self.vanish(node)

    def suspend(self, name: str) -> None:
        """Somebody else suspends the job."""
        self._set_suspend(name, suspend=True)

    def resume(self, name: str) -> None:
        """Somebody else resumes it."""
        self._set_suspend(name, suspend=False)

    def _set_suspend(self, name: str, *, suspend: bool) -> None:
        job = self.job(name)
        self.server.patch(job["apiVersion"], job["kind"], name, {"spec": {"suspend": suspend}}, self.namespace)

    def note(self, name: str, cause: Cause, *, counted: bool = True) -> None:
        """Write into a job's ledger what is about to be done to it."""
        calm, run = self.is_calm(name), self.get(RUN, name) or {}
        tiers = frozenset({self.tier(name), run.get("status", {}).get("tier", self.tier(name))})
        self.ledger(name).hit(Hit(cause, self.now, tiers, calm=calm, counted=counted))

    def frozen(self, name: str) -> bool:
        """Whether the job is to be left alone, by its own label, its namespace's or the system's."""
        spaces = (self.get(NAMESPACE, each, "") for each in (self.namespace, SYSTEM_NAMESPACE))
        return _is_frozen(self.job(name), MANUAL_LABEL) or any(_is_frozen(each, PAUSED_LABEL) for each in spaces)

    def label(self, thing: Object, key: str, value: str | None) -> None:
        """Set a label, or take it away."""
        where = thing["metadata"]
        change = {"metadata": {"labels": {key: value}}}
        self.server.patch(thing["apiVersion"], thing["kind"], where["name"], change, where.get("namespace"))

    def take_in(self, name: str) -> None:
        """Name its policy on a job."""
        self.label(self.job(name), FALLBACK_POLICY_LABEL, POLICY_NAME)

    def take_out(self, name: str) -> None:
        """Name no policy on it any more."""
        self.label(self.job(name), FALLBACK_POLICY_LABEL, None)

    def ledger(self, name: str) -> Ledger:
        """A job's ledger."""
        return self.ledgers.setdefault(f"{name}/{uid(self.job(name))}", Ledger())

    def is_calm(self, name: str) -> bool:
        """Whether the gang is whole, a controller looks, and its record says so too."""
        status = self.status(name)
        if self.frozen(name) or self.job(name)["spec"].get("suspend"):
            return False
        known = status.phase == "Running" and status.interruption is None and status.counted.whole_since is not None
        return known and self.is_whole(name) and self.process.is_watching and self._stands(name)

    def _stands(self, name: str) -> bool:
        """Whether nothing has just been done to the gang, and all of its nodes are there, ready, and stay."""
        nodes = [self.get(NODE, node, "") for node in self.nodes(name)]
        stay = all(
            node is not None and is_true(node, "Ready") and not leaves(node) and not node["spec"].get("unschedulable")
            for node in nodes
        )
        return stay and self.now >= self.ledger(name).last + HIT_SECONDS


def _is_frozen(thing: Object | None, label: str) -> bool:
    return thing is not None and labels(thing).get(label) == "true"


def _moves(pod: Object) -> bool:
    return (labels(pod).get(NODE_TYPE, WORKER) == WORKER and "job-name" not in labels(pod)) or _is_of_jobset(pod)


def _is_of_jobset(pod: Object) -> bool:
    return "jobset.sigs.k8s.io/jobset-name" in labels(pod)
