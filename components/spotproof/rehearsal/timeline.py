"""A rehearsal as one JSON document: what is saved, and what the page is made from."""

from typing import Any, Final

from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.rehearsal.forecast import after, forecast, tolerance
from spotproof.rehearsal.history import History, gang
from spotproof.rehearsal.lanes import Lane, lanes
from spotproof.rehearsal.marks import STEP
from spotproof.rehearsal.outcome import Outcome
from spotproof.rehearsal.pools import REGISTRATION_DELAY
from spotproof.rehearsal.scene import Scene
from spotproof.rehearsal.story import Moment, told
from spotproof.rehearsal.verdict import Account, outlook, verdict

FORMAT: Final = "spotproof-rehearsal/1"

LIMITS: Final = (
    (
        "Kubernetes, its scheduler and Job controller, JobSet, KubeRay and Karpenter are the real ones; clouds, "
        "machines and containers are not. Nothing trains, no image is pulled, no checkpoint is written."
    ),
    (
        f"Seconds here are no seconds of a cloud: a node takes {REGISTRATION_DELAY} to register and a pod half a "
        "second to start, where a cloud takes minutes, and a pod ends 1 s after it is told to."
    ),
    (
        "The pools of every cloud are made by Karpenter here. How GKE's or AKS's own autoscaler asks for nodes is not "
        "rehearsed, nor is the notice a cloud gives before it takes a node."
    ),
)
"""What a rehearsal does not show; on every page."""
LENT: Final = (
    "This stack has no fallback controller (operators.fallback is off): on its cluster nothing would move the job. It "
    "is rehearsed with one, and the job is as it would be rendered beside it; --without-controller shows what there is."
)
"""Of a stack whose job is moved here and would not be there."""


def document(scene: Scene, outcome: Outcome) -> dict[str, Any]:
    """The document; times are seconds from the start of the recording."""
    recording = outcome.recording
    history = History(recording)
    job = next((each for each in history.jobs if each.life.name == scene.name), None)
    account = Account(history, job) if job else None
    return {
        "format": FORMAT,
        "stack": scene.stack,
        "policy": scene.policy.name if scene.policy else None,
        "kubernetes": recording.about.get("kubernetes", ""),
        "readySeconds": round(outcome.ready_seconds, 1),
        "seconds": round(recording.seconds, 1),
        "unfinished": outcome.unfinished,
        "holes": list(outcome.failures),
        "job": _job(scene),
        "pools": _pools(scene, history),
        "figures": _figures(account) if account else None,
        "rule": _rule(account, scene.policy) if account and scene.policy and not scene.is_managed else None,
        "verdict": verdict(account, scene.policy) if account else [],
        "limits": [*([LENT] if _is_lent(scene) else []), *LIMITS],
        "lanes": [_lane(each) for each in lanes(history)],
        "marks": [
            {"at": round(each.at, 1), "did": each.did, "to": each.to} for each in recording.marks if each.did != STEP
        ],
        "moments": [_moment(each) for each in told(history)],
    }


def _is_lent(scene: Scene) -> bool:
    return scene.is_managed and not scene.environment.operators.fallback.is_there


def _job(scene: Scene) -> dict[str, Any]:
    return {
        "kind": scene.job["kind"],
        "name": scene.name,
        "namespace": scene.job["metadata"]["namespace"],
        "roles": [{"name": name, "pods": size} for name, size in gang(scene.job)],
    }


def _pools(scene: Scene, history: History) -> list[dict[str, str]]:
    """Pools that matter here: the policy's tiers in their order, then where else the job was."""
    tiers = [tier.pool for tier in scene.policy.tiers] if scene.policy else []
    used = [node.pool for node in history.nodes.values() if node.pool]
    names = dict.fromkeys([*tiers, *(pool.name for pool in scene.starts_on), *used])
    pools = {pool.name: pool for pool in scene.environment.pools}
    return [{"name": name, "capacity": pools[name].capacity} for name in names if name in pools]


def _figures(account: Account) -> dict[str, Any]:
    return {
        "reclaims": account.reclaims,
        "dry": account.is_dry,
        "podsEvicted": len(account.evicted),
        "podsEnded": len(account.ended),
        "exitCodes": account.exit_codes,
        "restarts": account.restarts,
        "restartsCounted": account.restarts_counted,
        "maxRestarts": account.most_restarts,
        "interruptions": [_span(*each) for each in account.interruptions],
        "waitingSince": None if account.waiting_since is None else round(account.waiting_since, 1),
    }


def _rule(account: Account, policy: ResolvedPolicy) -> dict[str, Any]:
    steps = forecast(policy, account.seen)
    asked = list(dict.fromkeys(tier for step in steps for tier in step.asked))
    return {
        "tolerance": tolerance(policy, len(account.interruptions)),
        "outlook": outlook(account, steps),
        "asked": asked,
        "steps": [{"after": after(step), "to": step.to, "reason": step.reason} for step in steps],
    }


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "group": lane.group,
        "name": lane.name,
        "note": lane.note,
        "phases": [
            {"phase": each.phase, "pool": each.pool or None, **_span(each.start, each.end, 2)}
            for each in lane.stretches
        ],
    }


def _span(start: float, end: float | None, decimals: int = 1) -> dict[str, Any]:
    return {"from": round(start, decimals), "to": None if end is None else round(end, decimals)}


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "at": round(moment.at, 1),
        "until": None if moment.until is None else round(moment.until, 1),
        "kind": moment.kind,
        "text": moment.text,
        "quote": moment.quote or None,
        "objects": list(moment.objects),
    }
