"""What an independent watcher says of a job: read from recorded versions alone, never from the controller's words.

Versions are in the order of their writes (`Recorder.raw`), so that two pods that ran at once are seen at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from spotproof.rehearsal.history import (
    HEAD,
    JOBSET_NAME,
    RAY_CLUSTER,
    History,
    Job,
    gang,
    is_ray_node,
    labels,
    node_of,
    owners,
    phase,
    role,
    works,
)
from spotproof.rehearsal.recording import Recording, Version

Object = Mapping[str, Any]
RESTART_ATTEMPT: Final = "jobset.sigs.k8s.io/restart-attempt"


class Overlap(NamedTuple):
    """Two pods of two attempts of one job that ran at once, from this second on."""

    at: float
    job: str
    one: str
    other: str


class Stretch(NamedTuple):
    """From when to when every pod of a gang that moves was ready on one pool; None where it still is."""

    pool: str
    since: float
    until: float | None


class Said(NamedTuple):
    """What a TrainingRun said from this second on."""

    at: float
    phase: str
    tier: str | None
    attempt: int
    evictions: int
    errors: int


@dataclass(frozen=True)
class _Attempt:
    """What a pod is one run of: the job, a word that all pods of the run share, and who made the pod.

    `excused` is what an attempt may overlap: KubeRay makes the cluster of a retry beside the pods of the one that
    failed, with or without a controller.
    """

    job: str
    word: str
    maker: tuple[str, str] = ("", "")
    excused: int = 0

    def clashes(self, other: "_Attempt") -> bool:
        """Whether pods of the two must never run at once."""
        if self.job != other.job:
            return False
        again = self.maker[0] == other.maker[0] and self.maker[1] != other.maker[1]
        return again or (self.word != other.word and self.excused == other.excused)


@dataclass
class _Watcher:
    """What is known after so many writes."""

    suspended: dict[str, bool] = field(default_factory=dict[str, bool])
    resumes: dict[str, int] = field(default_factory=dict[str, int])
    failed: dict[str, int] = field(default_factory=dict[str, int])
    clusters: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    jobs: dict[str, str] = field(default_factory=dict[str, str])
    attempts: dict[str, _Attempt] = field(default_factory=dict[str, _Attempt])
    running: dict[str, str] = field(default_factory=dict[str, str])
    """Pods that run, by uid: their names."""

    def take(self, version: Version) -> Iterator[Overlap]:
        """One more write, and what begins to overlap with it."""
        thing = version.object
        if version.kind in {"JobSet", "RayJob"}:
            self._job(version.uid, thing)
        elif version.kind == "RayCluster":
            self._cluster(version.object)
        elif version.kind == "Pod":
            yield from self._pod(version)

    def _job(self, uid: str, job: Object) -> None:
        name = _named(job)
        self.jobs[uid] = name
        suspended = bool(job["spec"].get("suspend"))
        if self.suspended.get(name) and not suspended:
            self.resumes[name] = self.resumes.get(name, 0) + 1
        self.suspended[name] = suspended
        self.failed[name] = int(job.get("status", {}).get("failed") or 0)

    def _cluster(self, cluster: Object) -> None:
        job = next((self.jobs[uid] for uid in owners(cluster) if uid in self.jobs), "")
        self.clusters.setdefault(str(cluster["metadata"]["name"]), (job, self.failed.get(job, 0)))

    def _pod(self, version: Version) -> Iterator[Overlap]:
        uid, pod = version.uid, version.object
        attempt = self.attempts.get(uid) or self._attempt(pod)
        if attempt is None:
            return
        self.attempts[uid] = attempt
        if version.change == "deleted" or phase(pod) != "Running":
            self.running.pop(uid, None)
        elif uid not in self.running:
            for other, name in self.running.items():
                if attempt.clashes(self.attempts[other]):
                    yield Overlap(version.at, attempt.job, name, str(pod["metadata"]["name"]))
            self.running[uid] = str(pod["metadata"]["name"])

    def _attempt(self, pod: Object) -> _Attempt | None:
        found, namespace = labels(pod), pod["metadata"].get("namespace", "")
        if name := found.get(JOBSET_NAME):
            job = f"JobSet {namespace}/{name}"
            word = f"restart {found.get(RESTART_ATTEMPT)}, resumed {self.resumes.get(job, 0)}"
            made = next(((each["name"], each["uid"]) for each in pod["metadata"].get("ownerReferences", ())), ("", ""))
            return _Attempt(job, word, made)
        if is_ray_node(pod) and (cluster := found.get(RAY_CLUSTER, "")) in self.clusters:
            job, failed = self.clusters[cluster]
            return _Attempt(job, cluster, excused=failed)
        return None


def overlaps(recording: Recording, by_hand: float | None = None) -> tuple[Overlap, ...]:
    """Moments at which pods of two attempts of one job ran at once. A pod runs until its phase says otherwise.

    An attempt of a JobSet is a restart of its own, or a resume: pods made before and after are of two. That of a RayJob
    is a Ray cluster.

    Args:
        recording: What was recorded.
        by_hand: When a person resumed a job whose last pods had not ended: KubeRay makes the new cluster beside them,
            and of a JobSet each role begins again when its own pods are gone, whoever else is there. A pod made before
            that moment and one made after it are then their doing.
    """
    watcher = _Watcher()
    found = tuple(overlap for version in recording.versions for overlap in watcher.take(version))
    if by_hand is None:
        return found
    made = {life.name: life.versions[0].at for life in History(recording).of("Pod")}
    return tuple(each for each in found if not made[each.one] < by_hand <= made[each.other])


def job_of(history: History, job: str = "") -> Job:
    """A job with its pods; of several that had one name after each other the newest.

    Args:
        history: What was recorded.
        job: The job's name; not needed where there is one alone.
    """
    found = [each for each in history.jobs if job in {"", each.life.name}]
    assert len({each.said for each in found}) == 1, f"of which job: {[each.said for each in found]}"
    newest = found[-1]
    # those of a JobSet are found by its name, which another one may have had before
    began = newest.life.versions[0].at
    return Job(newest.life, tuple(pod for pod in newest.pods if pod.versions[0].at >= began))


def members(job: Job) -> tuple[set[str], int]:
    """The pods of a gang that move, by uid, over all its attempts, and of how many it is whole."""
    pods = {pod.uid for pod in job.pods if role(pod.last) != HEAD}
    return pods, sum(size for name, size in gang(job.life.last) if name != HEAD)


def stretches(recording: Recording, job: str = "") -> tuple[Stretch, ...]:
    """When the whole gang of a job was ready on one pool, in order: its tiers over time. Arguments as of `job_of`."""
    history = History(recording)
    pods, size = members(job_of(history, job))
    where = {name: node.pool for name, node in history.nodes.items()}
    return tuple(_stretches([each for each in recording.versions if each.uid in pods], size, where))


def _stretches(versions: list[Version], size: int, where: Mapping[str, str]) -> Iterator[Stretch]:
    there, pool, since = dict[str, str](), "", 0.0
    for version in versions:
        if version.change != "deleted" and works(version.object):
            there[version.uid] = where.get(node_of(version.object), "?")
        else:
            there.pop(version.uid, None)
        now = next(iter(there.values())) if len(there) == size and len(set(there.values())) == 1 else ""
        if now != pool:
            if pool:
                yield Stretch(pool, since, version.at)
            pool, since = now, version.at
    if pool:
        yield Stretch(pool, since, None)


def tiers(recording: Recording, job: str = "") -> list[str]:
    """Pools on which the whole gang was ready, each time it came to another one."""
    found: list[str] = []
    for each in stretches(recording, job):
        if not found or found[-1] != each.pool:
            found.append(each.pool)
    return found


def said(recording: Recording, job: str = "") -> list[Said]:
    """What the TrainingRun of a job said, each time it said something else; of several of one name, of the newest."""
    found: list[Said] = []
    of = ""
    for version in recording.versions:
        if version.kind != "TrainingRun" or job not in {"", version.object["metadata"]["name"]}:
            continue
        if (about := _job_of(version.object)) != of:
            found, of = [], about
        status = version.object.get("status", {})
        now = Said(
            version.at,
            str(status.get("phase", "")),
            status.get("tier"),
            *(int(status.get(key) or 0) for key in ("attempt", "evictions", "errors")),
        )
        if not found or found[-1][1:] != now[1:]:
            found.append(now)
    return found


def miscounts(recording: Recording, job: str = "") -> list[str]:
    """Counters that ever went back, or on by two at once: every interruption is one of its own."""
    told = said(recording, job)
    return [
        f"{name} went from {old} to {new} after {after.at:.1f} s"
        for before, after in pairwise(told)
        for name in ("attempt", "evictions", "errors")
        if not 0 <= (new := getattr(after, name)) - (old := getattr(before, name)) <= 1
    ]


def _job_of(run: Object) -> str:
    """The job's uid: another job of the same name starts afresh."""
    return str(run.get("spec", {}).get("job", {}).get("uid", ""))


def _named(job: Object) -> str:
    return f"{job['kind']} {job['metadata'].get('namespace', '')}/{job['metadata']['name']}"
