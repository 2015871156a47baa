"""Two writers on one checkpoint: pods of two attempts of a job that run at once, seen from pods and machines alone."""

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from spotproof.controller.kinds import JOBSET, NODE, POD, RAY_CLUSTER, RAYJOB, Object
from spotproof.vocabulary import MOVE_ANNOTATION, POOL_LABEL
from tests.world.jobset import ATTEMPT, JOBSET_UID, NUMBER, ROLE
from tests.world.raycluster import NODE_TYPE, WORKER
from tests.world.store import Change, Store
from tests.world.things import annotations, labels, name, node_of, owner, ready, uid

STAYS: Final = "cpu"
"""The pool of heads, which stay where they are."""


class Writer(NamedTuple):
    """Of which attempt of which job a pod is.

    Pods of one attempt have one `number`, and those that move select one `pool`. A JobSet's number is its restart; of a
    move within one restart its child Jobs are made anew, so that pods of one `part` have another `maker`. A RayJob's is
    how often the controller had resumed it when its cluster was made: where KubeRay itself retries a program, or
    somebody suspends and resumes the job, it waits for no pod of the cluster that goes, and nobody could make it,
    whichever tier the controller has the retry made on: its pool says nothing.
    """

    job: str
    number: str
    pool: str
    part: str
    maker: str

    def is_beside(self, other: "Writer") -> bool:
        """Whether the two are of two attempts of one job."""
        if self.job != other.job:
            return False
        made_anew = self.part == other.part and self.maker != other.maker
        return self.number != other.number or self.pool != other.pool or made_anew


class Writers:
    """Told of every pod; says each moment at which pods of two attempts run to whoever wants to know."""

    def __init__(self, store: Store, say: Callable[[str, Object], None]) -> None:
        self._store, self._say = store, say
        self._clusters: dict[str, tuple[str, str]] = {}
        self._resumes: Counter[str] = Counter()
        store.tell(RAYJOB, self._resumed)
        store.tell(RAY_CLUSTER, self._cluster)
        store.tell(POD, self._pod)

    def _resumed(self, change: Change, rayjob: Object, old: Object | None) -> None:
        """What comes after a resume by the controller, which takes its mark away, is another attempt."""
        if change == "MODIFIED" and old and old["spec"].get("suspend") and not rayjob["spec"].get("suspend"):
            self._resumes[uid(rayjob)] += MOVE_ANNOTATION in annotations(old) and MOVE_ANNOTATION not in annotations(
                rayjob
            )

    def _cluster(self, change: Change, cluster: Object, old: Object | None) -> None:
        """Whose it is: its pods outlive it."""
        del old
        if change == "ADDED" and (of := owner(cluster, RAYJOB.kind)) is not None:
            self._clusters[name(cluster)] = (of["uid"], str(self._resumes[of["uid"]]))

    def _pod(self, change: Change, pod: Object, old: Object | None) -> None:
        if change == "DELETED" or not ready(pod) or (old is not None and ready(old)):
            return
        if (mine := self._writer(pod)) is None:
            return
        for other in self._store.all(POD):
            if self._runs(other) and (its := self._writer(other)) is not None and mine.is_beside(its):
                self._say(f"{name(other)} of another attempt still runs", pod)

    def _writer(self, pod: Object) -> Writer | None:
        has, pool = labels(pod), pod["spec"].get("nodeSelector", {}).get(POOL_LABEL, STAYS)
        if pool == STAYS:
            return None
        if job := has.get(JOBSET_UID):
            maker = (owner(pod, "Job") or {}).get("uid", "")
            return Writer(f"{JOBSET.kind}/{job}", has.get(ATTEMPT, ""), pool, f"{has[ROLE]}/{has[NUMBER]}", maker)
        cluster = has.get("ray.io/cluster", "")
        if has.get(NODE_TYPE) == WORKER and cluster in self._clusters:
            job, number = self._clusters[cluster]
            return Writer(f"{RAYJOB.kind}/{job}", number, "", "", "")
        return None

    def _runs(self, pod: Object) -> bool:
        """Whether its program may run: one that is told to go does until it has ended, or its machine is gone."""
        return pod["status"]["phase"] == "Running" and self._store.get(NODE, ("", node_of(pod))) is not None
