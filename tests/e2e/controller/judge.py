"""What an independent watcher says of a job: read from recorded versions alone, never from the controller's words.

Versions are in the order of their writes (`Recorder.raw`), so that two pods that ran at once are seen at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from spotproof.rehearsal.history import (
    JOBSET_NAME,
    RAY_CLUSTER,
    History,
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
from spotproof.vocabulary import POOL_LABEL

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


def overlaps(recording: Recording) -> tuple[Overlap, ...]:
    """Moments at which pods of two attempts of one job ran at once. A pod runs until its phase says otherwise.

    An attempt of a JobSet is a restart of its own, or a resume: pods made before and after are of two. That of a RayJob
    is a Ray cluster.
    """
    watcher = _Watcher()
    return tuple(overlap for version in recording.versions for overlap in watcher.take(version))


def stretches(recording: Recording, job: str = "") -> tuple[Stretch, ...]:
    """When the whole gang of a job was ready on one pool, in order: its tiers over time.

    Args:
        recording: What was recorded.
        job: The job's name; not needed where there is one alone.
    """
    history = History(recording)
    (found,) = (each for each in history.jobs if job in {"", each.life.name})
    pods = {pod.uid: pod for pod in found.pods if role(pod.last) != "head"}
    size = sum(size for name, size in gang(found.life.last) if name != "head")
    where = {name: labels(node.life.last).get(POOL_LABEL, "") for name, node in history.nodes.items()}
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
    """What the TrainingRun of a job said, each time it said something else."""
    found: list[Said] = []
    for version in recording.versions:
        if version.kind != "TrainingRun" or job not in {"", version.object["metadata"]["name"]}:
            continue
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


def _named(job: Object) -> str:
    return f"{job['kind']} {job['metadata'].get('namespace', '')}/{job['metadata']['name']}"
