"""A Flock whose nodes are reclaimed while the controller dies, and one without a policy: told as JSON."""

import json
import sys
from random import Random
from typing import Any

from spotproof.controller.jobs import JOBS
from spotproof.controller.kinds import NAMESPACE, POD, RUN, Object
from spotproof.status.without_policy import without_policy
from spotproof.status.world import LOOKED
from spotproof.status.world import World as Seen
from spotproof.vocabulary import FALLBACK_POLICY_LABEL, POOL_LABEL, SYSTEM_NAMESPACE, WORKSPACE_LABEL
from tests.contracts.newcomer.flock import ATTEMPT, FLOCK, NAME
from tests.world.jobs import Tier, jobset, policy, pools
from tests.world.manager import Manager
from tests.world.process import Process
from tests.world.store import Change, Place, place
from tests.world.things import ended, labels, leaves, name, namespace, node_of, owned_by, ready, status, uid
from tests.world.world import World

TIERS = (Tier("spot-a", max_failures=1), Tier("on-demand", -1, capacity="on-demand", usd=30.0))


class Shepherd(Manager):
    """The operator of Flocks."""

    def flock(self, change: Change, flock: Object, old: Object | None) -> None:
        """A Flock has come, or has changed."""
        del old
        if change != "DELETED":
            self.later(place(flock), 0.05)

    def pod(self, change: Change, pod: Object, old: Object | None) -> None:
        """A pod has changed."""
        del change, old
        if NAME in labels(pod):
            self.later((namespace(pod), labels(pod)[NAME]), 0.05)

    def sync(self, where: Place) -> None:
        """Take away all pods where one is lost or the Flock is suspended; make all that are missing of this attempt."""
        flock = self.store.get(FLOCK, where)
        assert flock is not None
        pods, attempt = self.store.owned(uid(flock), POD), int(flock.get("status", {}).get("attempt", 0))
        suspended = bool(flock["spec"]["runPolicy"].get("suspend"))
        if suspended or any(ended(pod) or leaves(pod) or labels(pod)[ATTEMPT] != f"{attempt}" for pod in pods):
            for pod in pods:
                if not leaves(pod):
                    self.server.delete(*POD, name(pod), namespace(pod))
            is_lost = any(labels(pod)[ATTEMPT] == f"{attempt}" for pod in pods)
            self.store.write(flock, status(flock, attempt=attempt + is_lost, quiet=suspended and not pods))
        else:
            for _ in range(flock["spec"]["replicas"] - len(pods)):
                self.server.create(_pod(flock, f"{attempt}"))


def _pod(flock: Object, attempt: str) -> Object:
    template = flock["spec"]["template"]
    carried = {**template["metadata"].get("labels", {}), NAME: name(flock), ATTEMPT: attempt}
    meta = {"generateName": f"{name(flock)}-", "namespace": namespace(flock), "labels": carried}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "ownerReferences": owned_by(flock)}} | {
        "spec": template["spec"]
    }


def _flock(namespace: str) -> Object:
    like = jobset("flock", "standard", "spot-a")["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    meta = {"name": "flock", "namespace": namespace, "labels": {FALLBACK_POLICY_LABEL: "standard"}}
    spec = {"replicas": 2, "template": like, "runPolicy": {}}
    return {"apiVersion": FLOCK.api_version, "kind": FLOCK.kind, "metadata": meta, "spec": spec}


def story() -> dict[str, Any]:
    """It is reclaimed twice, and the controller dies each time as the pods leave."""
    world = World(pools(TIERS))
    shepherd = Shepherd(world.server, Random(0))  # noqa: S311 - no secret
    world.store.tell(FLOCK, shepherd.flock)
    world.store.tell(POD, shepherd.pod)
    for each in (SYSTEM_NAMESPACE, world.namespace):
        meta = {"name": each, "labels": {WORKSPACE_LABEL: each}}
        world.submit({"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": meta})
    world.submit(policy("standard", TIERS))
    process = Process(world)
    process.start()
    world.submit(_flock(world.namespace))

    attempts_at_once = 0

    def gang() -> list[Object]:
        return [pod for pod in world.all(POD) if NAME in labels(pod)]

    def watch(*_: object) -> None:
        nonlocal attempts_at_once
        attempts_at_once = max(attempts_at_once, len({labels(pod)[ATTEMPT] for pod in gang() if ready(pod)}))

    def is_whole(tier: str) -> bool:
        on = [pod["spec"]["nodeSelector"][POOL_LABEL] for pod in gang() if ready(pod) and not leaves(pod)]
        said = (world.get(RUN, "flock") or {}).get("status", {})
        return on == [tier, tier] and (said.get("phase"), said.get("tier")) == ("Running", tier)

    world.store.tell(POD, watch)
    world.run_until(lambda: is_whole("spot-a"))
    for tier in ("spot-a", "on-demand"):
        world.reclaim(node_of(gang()[0]))
        world.run(1)
        process.kill()
        world.run(1)
        process.start()
        world.run_until(lambda tier=tier: is_whole(tier))
    said = (world.get(RUN, "flock") or {})["status"]
    moved = [each["reason"] for each in said["history"] if each["what"] == "Moved"]
    return {"tier": said["tier"], "evictions": said["evictions"], "moved": moved, "attempts_at_once": attempts_at_once}


def shown() -> dict[str, Any]:
    """One that names no policy waits for its nodes: what is told of it, where its kind is looked at."""
    flock = _flock("team")
    flock["metadata"] |= {"labels": {}, "uid": "1"}
    flock["spec"]["template"]["spec"]["nodeSelector"] = {"karpenter.sh/capacity-type": "spot"}
    pod = _pod(flock, "0")
    pod["metadata"]["name"] = "flock-0"
    pod["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": "no nodes available"}]}
    seen = Seen({each.kind: {FLOCK: (flock,), POD: (pod,)}.get(each.kind, ()) for each in LOOKED})
    return {each.kind: [each.name, each.selects, each.pods_waiting] for each in without_policy(seen)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"kinds": list(JOBS), **story(), "shown": shown()}))
