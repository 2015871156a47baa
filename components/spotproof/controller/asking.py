"""Asking a tier whether it has room: a pod that requests what the job's largest pod does, and is gone with the answer.

Yes: it is bound, or a NodeClaim that was made for its pool since has been launched and nobody else can have been the
reason: Karpenter writes into neither claim nor pod whom a node is for. No: a NodeClaim that was made since came to
nothing, or five minutes passed (Karpenter gives up a launch after five). The node that a probe had and nobody uses is
given back; one that it never had may be another's, and goes by Karpenter's own rule when it stays empty.
"""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from kubernetes.utils.quantity import parse_quantity

from spotproof.controller.api import Api
from spotproof.controller.cache import Cache
from spotproof.controller.kinds import NODE_CLAIM, POD, Kind, Object
from spotproof.controller.pods import has_ended, is_leaving, is_true, node_of, waits
from spotproof.controller.relations import Key, labels
from spotproof.controller.templates import Template
from spotproof.fallback.record import TrainingRunStatus, parse_instant
from spotproof.fallback.resolved import ResolvedTier
from spotproof.fallback.run import Instant
from spotproof.fallback.view import ANSWER
from spotproof.kube.client import Refused
from spotproof.vocabulary import GPU_RESOURCE, PROBE_LABEL, PROBE_OF_ANNOTATION, SYSTEM_NAMESPACE

PRIORITY_CLASS: Final = "spotproof-probe"
GONE: Final = frozenset({404, 409})
OWNED: Final = "DaemonSet"
LONGEST_SECONDS: Final = 900
"""A probe that has a node ends by itself if its controller has died, so that the node is given back. Kubernetes counts
from the start of a pod: one without a node is withdrawn by the process that comes next."""


def names(uid: str, pool: str, since: Instant, nodes: int) -> list[str]:
    """The probes of a question: the same names for the same one, so that asking twice is asking once."""
    return [f"{_named(uid, pool, since)}{number}" for number in range(nodes)]


def _named(uid: str, pool: str, since: Instant) -> str:
    return f"probe-{pool}-{hashlib.sha256(f'{uid}/{since}'.encode()).hexdigest()[:10]}-"


def ask(  # noqa: PLR0913 - a question has as many parts
    api: Api, key: Key, tier: ResolvedTier, moving: Sequence[Template], missing: Iterable[str], *, image: str
) -> Iterator[Object]:
    """Make the probe pods of these names; one that is there already is the same question."""
    for name in missing:
        try:
            yield api.create(probe(key, tier, moving, name, image=image)).object
        except Refused as refused:
            if refused.status != 409:  # noqa: PLR2004 - HTTP's own
                raise


def probe(key: Key, tier: ResolvedTier, moving: Sequence[Template], name: str, *, image: str) -> Object:
    """A pod that lands where the job's largest pod would, and does nothing there."""
    asked = requests(moving)
    limits = {name: amount for name, amount in asked.items() if "/" in name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": SYSTEM_NAMESPACE,
            "labels": {PROBE_LABEL: tier.pool, "app.kubernetes.io/part-of": "spotproof"},
            "annotations": {PROBE_OF_ANNOTATION: "/".join(key)},
        },
        "spec": {
            "priorityClassName": PRIORITY_CLASS,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "activeDeadlineSeconds": LONGEST_SECONDS,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "nodeSelector": dict(tier.node_selector),
            "tolerations": [each.model_dump(mode="json", exclude_none=True) for each in tier.tolerations],
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65534,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "probe",
                    "image": image,
                    "resources": {"requests": asked, **({"limits": limits} if limits else {})},
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }


def requests(moving: Iterable[Template]) -> dict[str, str]:
    """What the largest pod requests: most GPUs, then most CPUs. Quantities as the API takes them."""
    totals = [_total(each.spec) for each in moving]
    largest = max(totals, key=lambda each: (each.get(GPU_RESOURCE, Decimal()), each.get("cpu", Decimal())), default={})
    return {name: format(amount.normalize(), "f") for name, amount in largest.items() if amount}


def _total(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for container in spec.get("containers", []):
        resources = container.get("resources", {})
        for name, amount in {**resources.get("limits", {}), **resources.get("requests", {})}.items():
            total[name] = total.get(name, Decimal()) + parse_quantity(amount)
    return total


def answer(  # noqa: PLR0913 - a question has as many parts
    cache: Cache, tier: ResolvedTier, probes: Sequence[Object], since: Instant, now: Instant, *, nodes: int
) -> bool | None:
    """Whether the tier has room; None while nobody knows.

    Args:
        cache: What was seen of claims.
        tier: The tier.
        probes: The probe pods of this question.
        since: When it was asked.
        now: The moment, by the same clock.
        nodes: How many probes the question has.
    """
    if sum(bool(node_of(each)) for each in probes if not has_ended(each) and not is_leaving(each)) >= nodes:
        return True
    if probes:
        # claims have the API server's clock, so have probes, and ours may be another
        made = min(_made(each) for each in probes)
        if nodes == 1 and _is_bought(cache, tier, probes, made):
            return True
        refused = cache.departed.refused_at(tier.pool)
        if refused and parse_instant(refused) >= made:
            return False
    return False if now >= since + ANSWER else None


def _is_bought(cache: Cache, tier: ResolvedTier, probes: Sequence[Object], made: Instant) -> bool:
    """Whether a node is coming that only the probe can be the reason for: nobody else waits for one.

    Not one that is there: it may be kept for who had it before, and is a yes once the probe is on it.
    """
    launched = (each for each in cache.coming(tier.pool) if is_true(each, "Launched") and _made(each) >= made)
    if all(each["status"].get("nodeName") for each in launched):
        return False
    own = {each["metadata"]["uid"] for each in probes}
    return not _is_wanted((each for each in cache.all(POD) if each["metadata"]["uid"] not in own), tier.node_selector)


def _is_wanted(pods: Iterable[Object], selector: Mapping[str, str]) -> bool:
    """Whether one of the pods waits for a node with these labels."""
    return any(selector.items() <= (pod["spec"].get("nodeSelector") or {}).items() and waits(pod) for pod in pods)


def _made(thing: Object) -> Instant:
    return parse_instant(thing["metadata"]["creationTimestamp"])


def withdraw_all(api: Api, cache: Cache, key: Key) -> None:
    """Delete all probes of a job, whoever has sent them out."""
    _withdraw(api, cache, cache.probes_of(key), keep=frozenset())


def withdraw_closed(api: Api, cache: Cache, key: Key, uid: str, status: TrainingRunStatus) -> None:
    """Delete the probes of a job that are of no question that is open, whenever and by whomever they were sent out.

    The nodes they had are given back where nobody uses them, unless the job is on their pool or goes there. Nothing is
    asked of the API server where there are none.

    Args:
        api: The API server.
        cache: What the watches have delivered.
        key: The job.
        uid: Its uid.
        status: Its record as it is stored.
    """
    open_ = tuple(_named(uid, each.pool, each.asking_since) for each in status.tiers if each.asking_since is not None)
    closed = [each for each in cache.probes_of(key) if not each["metadata"]["name"].startswith(open_)]
    to = None if status.move is None else status.move.to
    _withdraw(api, cache, closed, keep=frozenset({status.tier, to}))


def _withdraw(api: Api, cache: Cache, probes: Iterable[Object], keep: Container[str | None]) -> None:
    """A node goes before its probe: should the probe's deletion fail, the next look still finds both by it."""
    for each in probes:
        if is_leaving(each):
            continue
        if labels(each).get(PROBE_LABEL) not in keep:
            _give_back(api, cache, each)
        meta = each["metadata"]
        _delete(api, POD, meta["name"], meta["namespace"], meta["uid"])
        cache.drop(POD, each)


def probes_of(cache: Cache, key: Key, uid: str, pool: str, since: Instant) -> list[Object]:
    """The probe pods of one question of a job."""
    name = _named(uid, pool, since)
    return [each for each in cache.probes_of(key) if each["metadata"]["name"].startswith(name)]


def _give_back(api: Api, cache: Cache, probe: Object) -> None:
    """Delete the NodeClaim of a probe's node if it was made since, nothing uses it, and nobody waits for such a one."""
    node = node_of(probe)
    seen = cache.claim_of(node) if node else None
    if seen is None or is_leaving(seen) or _made(seen) < _made(probe):
        return
    if _is_wanted(cache.all(POD), probe["spec"]["nodeSelector"]):
        return
    pods = api.list(*POD, fields=f"spec.nodeName={node}")
    if not all(pod["metadata"]["uid"] == probe["metadata"]["uid"] or _is_owned(pod) for pod in pods):
        return
    name = seen["metadata"]["name"]
    claim = api.find(*NODE_CLAIM, name)  # the watch keeps no uid of it
    if claim is not None and not is_leaving(claim):
        _delete(api, NODE_CLAIM, name, None, claim["metadata"]["uid"])


def _is_owned(pod: Object) -> bool:
    return any(owner["kind"] == OWNED for owner in pod["metadata"].get("ownerReferences", []))


def _delete(api: Api, kind: Kind, name: str, namespace: str | None, uid: str) -> None:
    try:
        api.delete(*kind, name, namespace, uid=uid)
    except Refused as refused:
        if refused.status not in GONE:
            raise
