"""What the controller writes of its own: TrainingRuns, their status, and events on jobs."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from spotproof.controller.api import Api
from spotproof.controller.cache import Cache
from spotproof.controller.kinds import EVENT, POLICY, RUN, Object
from spotproof.controller.messages import event
from spotproof.controller.projecting import whole
from spotproof.fallback.record import JobReference, TrainingRunSpec, TrainingRunStatus
from spotproof.kube.client import Refused
from spotproof.vocabulary import FALLBACK_POLICY_LABEL

REPORTER: Final = "spotproof-controller"
UNSETTLED: Final = frozenset({"Pending", "Restarting"})
COUNTS: Final = frozenset({"nodes", "nodesHeld"})
COUNTS_SECONDS: Final = 5.0
"""How far the counts of a job that waits may be behind: a gang's pods get their nodes one by one, a write each would be
as many as it has pods."""


def read_status(run: Object) -> TrainingRunStatus:
    """The status of a TrainingRun; what a later version has added is left out, and a broken one begins afresh."""
    try:
        return TrainingRunStatus.model_validate(run.get("status") or {}, extra="ignore")
    except ValidationError:
        return TrainingRunStatus()


def spec_of(job: Object) -> TrainingRunSpec:
    """What the TrainingRun of a job says of it."""
    meta = job["metadata"]
    reference = JobReference(api_version=job["apiVersion"], kind=job["kind"], name=meta["name"], uid=meta["uid"])
    return TrainingRunSpec(job=reference, policy=meta["labels"][FALLBACK_POLICY_LABEL])


def create_run(api: Api, cache: Cache, job: Object) -> Object:
    """Make the TrainingRun of a job, which goes with it."""
    meta = job["metadata"]
    made = api.create(
        {
            "apiVersion": RUN.api_version,
            "kind": RUN.kind,
            "metadata": {
                "name": meta["name"],
                "namespace": meta["namespace"],
                "ownerReferences": [
                    {
                        "apiVersion": job["apiVersion"],
                        "kind": job["kind"],
                        "name": meta["name"],
                        "uid": meta["uid"],
                        "controller": True,
                        "blockOwnerDeletion": False,
                    }
                ],
            },
            "spec": spec_of(job).model_dump(mode="json", exclude_none=True),
        }
    ).object
    cache.put(RUN, whole(made))
    return made


def write_policy(api: Api, cache: Cache, run: Object, policy: str) -> Object:
    """The job names another policy now."""
    return _patched(api, cache, run, [{"op": "replace", "path": "/spec/policy", "value": policy}])


def write_status(api: Api, cache: Cache, run: Object, status: TrainingRunStatus, *, counts: bool = False) -> Object:
    """Write the status if it has changed; refused where somebody has changed the run meanwhile.

    `counts`: also where nothing but counts of nodes has changed of a gang that is being placed.
    """
    new, old = status.model_dump(mode="json", exclude_none=True), run.get("status") or {}
    if (new if counts else _meaning(new)) == (old if counts else _meaning(old)):
        return run
    return _patched(api, cache, run, [{"op": "add", "path": "/status", "value": new}], "status")


def write_judgement(api: Api, cache: Cache, policy: Object, status: Object) -> None:
    """Write what the controller makes of a policy; refused where somebody has changed the policy meanwhile."""
    meta = policy["metadata"]
    as_read = {"op": "test", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]}
    change = [as_read, {"op": "add", "path": "/status", "value": status}]
    cache.put(POLICY, whole(api.patch(*POLICY, meta["name"], change, subresource="status").object))


def is_behind(run: Object, status: TrainingRunStatus) -> bool:
    """Whether the run of a job that waits tells of another number of nodes than are held.

    Of one that does not wait nobody goes by it: its pods come and go until the gang is placed.
    """
    return status.waiting_since is not None and (run.get("status") or {}).get("nodesHeld") != status.nodes_held


def _meaning(status: Object) -> Object:
    """What is worth a write at once."""
    return {key: each for key, each in status.items() if status.get("phase") not in UNSETTLED or key not in COUNTS}


def _patched(api: Api, cache: Cache, run: Object, change: list[Mapping[str, Any]], subresource: str = "") -> Object:
    meta = run["metadata"]
    as_read = {"op": "test", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]}
    done = api.patch(*RUN, meta["name"], [as_read, *change], meta["namespace"], subresource=subresource)
    thing = whole(done.object)
    cache.put(RUN, thing)
    return thing


def tell(api: Api, job: Object, code: str, now: float, **values: object) -> None:
    """An event on the job. That it cannot be written stops nothing: the TrainingRun has the same story."""
    kind, reason, note = event(code, **values)
    meta = job["metadata"]
    said: Object = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": f"{meta['name'][:200]}.{secrets.token_hex(8)}", "namespace": meta["namespace"]},
        "eventTime": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": f"spotproof.dev/{REPORTER}",
        "reportingInstance": REPORTER,
        "action": reason,
        "reason": reason,
        "type": kind,
        "note": note[:1024],
        "regarding": {
            "apiVersion": job["apiVersion"],
            "kind": job["kind"],
            "name": meta["name"],
            "namespace": meta["namespace"],
            "uid": meta["uid"],
        },
    }
    try:
        api.create(said)
    except Refused:
        return
