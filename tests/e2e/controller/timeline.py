"""When what happened to a job, by watch events alone: seconds of the recording, in the order of the writes."""

from typing import Final, NamedTuple

from spotproof.controller.writing import REPORTER
from spotproof.rehearsal.history import History, Life, condition, is_leaving, is_true, labels, node_of, phase, waits
from spotproof.rehearsal.patches import Json
from spotproof.rehearsal.recording import Recording
from spotproof.vocabulary import PROBE_LABEL
from tests.e2e.controller.judge import job_of, members

CONTROLLER: Final = f"spotproof.dev/{REPORTER}"
NODE_POOL_LABEL: Final = "karpenter.sh/nodepool"


class Suspension(NamedTuple):
    """From when to when a job was suspended; None where it still is."""

    since: float
    until: float | None


class Probe(NamedTuple):
    """A pod that asked whether a pool has room: made, answered yes (None: never), gone (None: still there)."""

    pool: str
    made: float
    answered: float | None
    gone: float | None


def suspensions(recording: Recording, job: str = "") -> list[Suspension]:
    """When a job was suspended, by whomever; never, as far as it has not been recorded yet.

    Arguments as those of `judge.job_of`.
    """
    history = History(recording)
    if all(job not in {"", each.life.name} for each in history.jobs):
        return []
    life = job_of(history, job).life
    return [Suspension(since, until) for since, until in life.stretches(_is_suspended)]


def made_at(recording: Recording, job: str = "") -> float:
    """The second in which a job was made, as is written in it. For a recording that is redacted, as a file's is."""
    return _second(job_of(History(recording), job).life.versions[0].object["metadata"]["creationTimestamp"])


def unplaced_at(recording: Recording, job: str = "") -> float:
    """The second in which the scheduler first found no node for a pod of the gang, as it wrote; recording as above.

    When the recorder saw it is later where the machine is busy: a wait of 4 s was once one of 2.9 s.
    """
    found = job_of(History(recording), job)
    pods, _ = members(found)
    refused = (pod.first(waits) for pod in found.pods if pod.uid in pods)
    return min(_second(condition(pod, "PodScheduled")["lastTransitionTime"]) for pod in refused if pod is not None)


def _second(written: str) -> float:
    return float(written.removesuffix("s"))


def ended_at(recording: Recording, uids: set[str]) -> dict[str, float | None]:
    """When each of these pods was marked as failed by a disruption; None where it never was."""
    lives = (life for life in History(recording).of("Pod") if life.uid in uids)
    return {life.uid: life.when(_is_ended_by_disruption) for life in lives}


def probes(recording: Recording, pool: str) -> list[Probe]:
    """Probes of a pool, in the order in which they were made. A yes is a node, or a NodeClaim that is launched."""
    history = History(recording)
    lives = [life for life in history.of("Pod") if labels(life.last).get(PROBE_LABEL) == pool]
    claims = [life for life in history.of("NodeClaim") if labels(life.last).get(NODE_POOL_LABEL) == pool]
    return [Probe(pool, life.versions[0].at, _answer(life, claims), life.gone) for life in lives]


def events(recording: Recording, job: str = "") -> list[str]:
    """Reasons of the controller's events on a job, in order, as `kubectl describe` shows them. Arguments as above."""
    life = job_of(History(recording), job).life
    said = [each.object for each in recording.versions if each.kind == "Event" and each.change != "deleted"]
    ours = [each for each in said if each.get("reportingComponent") == CONTROLLER]
    return [each["reason"] for each in ours if _about(each) == (life.kind, life.name, life.uid)]


def _about(event: Json) -> tuple[str, str, str]:
    about = event["involvedObject"]
    return about["kind"], about["name"], about.get("uid", "")


def _answer(probe: Life, claims: list[Life]) -> float | None:
    made = probe.versions[0].at
    launched = (life.when(_is_launched) for life in claims if life.versions[0].at >= made)
    return min((at for at in (probe.when(node_of), *launched) if at is not None), default=None)


def _is_suspended(job: Json) -> bool:
    return bool(job["spec"].get("suspend"))


def _is_launched(claim: Json) -> bool:
    return is_true(claim, "Launched") and not is_leaving(claim)


def _is_ended_by_disruption(pod: Json) -> bool:
    return phase(pod) == "Failed" and is_true(pod, "DisruptionTarget")
