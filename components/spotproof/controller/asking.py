"""Asking a tier whether it has room: a pod that requests what the job's largest pod does, and is gone with the answer.

Yes: it is bound, or a NodeClaim that was made for its pool since has been launched. No: a NodeClaim that was made since
came to nothing, or five minutes passed (Karpenter gives up a launch after five). What the asking bought and nobody uses
is given back.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from kubernetes.utils.quantity import parse_quantity

from spotproof.controller.api import Api
from spotproof.controller.cache import Cache
from spotproof.controller.kinds import NODE_CLAIM, POD, Object
from spotproof.controller.pods import is_leaving, is_true, node_of
from spotproof.controller.relations import Key, labels
from spotproof.controller.templates import Template
from spotproof.fallback.record import parse_instant
from spotproof.fallback.resolved import ResolvedTier
from spotproof.fallback.run import Instant
from spotproof.fallback.view import ANSWER
from spotproof.kube.client import Refused
from spotproof.vocabulary import GPU_RESOURCE, PROBE_LABEL, PROBE_OF_ANNOTATION, SYSTEM_NAMESPACE

PRIORITY_CLASS: Final = "spotproof-probe"
GONE: Final = frozenset({404, 409})
OWNED: Final = "DaemonSet"
LONGEST_SECONDS: Final = 900
"""A probe whose controller has died ends by itself, so that its node is given back."""


def probe_name(uid: str, pool: str, number: int) -> str:
    """The same for the same question, so that asking twice is asking once."""
    return f"probe-{pool}-{hashlib.sha256(uid.encode()).hexdigest()[:10]}-{number}"


def ask(  # noqa: PLR0913 - a question has as many parts
    api: Api, key: Key, job: Object, tier: ResolvedTier, moving: Sequence[Template], *, nodes: int, image: str
) -> Iterator[Object]:
    """Make the probe pods; those that are there already are the same question."""
    for number in range(nodes):
        try:
            yield api.create(probe(key, job, tier, moving, number, image=image)).object
        except Refused as refused:
            if refused.status != 409:  # noqa: PLR2004 - HTTP's own
                raise


def probe(  # noqa: PLR0913 - as `ask`
    key: Key, job: Object, tier: ResolvedTier, moving: Sequence[Template], number: int, *, image: str
) -> Object:
    """A pod that lands where the job's largest pod would, and does nothing there."""
    asked = requests(moving)
    limits = {name: amount for name, amount in asked.items() if "/" in name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": probe_name(job["metadata"]["uid"], tier.pool, number),
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


def answer(cache: Cache, tier: ResolvedTier, probes: Sequence[Object], since: Instant, now: Instant) -> bool | None:
    """Whether the tier has room; None while nobody knows.

    Args:
        cache: What was seen of claims.
        tier: The tier.
        probes: Its probe pods of this job.
        since: When it was asked.
        now: The moment.
    """
    if probes and all(node_of(each) for each in probes):
        return True
    if len(probes) == 1 and _launched(cache, tier.pool, since):
        return True
    refused = cache.departed.refused_at(tier.pool)
    if refused and parse_instant(refused) >= since:
        return False
    return False if now >= since + ANSWER else None


def _launched(cache: Cache, pool: str, since: Instant) -> bool:
    return any(is_true(each, "Launched") and not is_leaving(each) for each in _claims(cache, pool, since))


def _claims(cache: Cache, pool: str, since: Instant) -> list[Object]:
    return [each for each in cache.claims(pool) if parse_instant(each["metadata"]["creationTimestamp"]) >= since]


def withdraw_all(api: Api, cache: Cache, key: Key) -> None:
    """Delete all probes of a job, whoever has sent them out."""
    for each in cache.probes_of(key):
        _delete(api, POD.api_version, POD.kind, each)


def withdraw(  # noqa: PLR0913 - a question has as many parts
    api: Api, cache: Cache, key: Key, pool: str, since: Instant, *, keep_nodes: bool
) -> None:
    """Delete a job's probes of a pool; and the nodes they bought, where nobody is to use them."""
    for each in probes_of(cache, key, pool):
        _delete(api, POD.api_version, POD.kind, each)
    if keep_nodes:
        return
    for claim in _claims(cache, pool, since):
        if not is_leaving(claim) and _is_unused(api, claim):
            _delete(api, NODE_CLAIM.api_version, NODE_CLAIM.kind, claim)


def probes_of(cache: Cache, key: Key, pool: str) -> list[Object]:
    """A job's probe pods of a pool."""
    asked = "/".join(key)
    return [
        each for each in cache.probes(pool) if each["metadata"].get("annotations", {}).get(PROBE_OF_ANNOTATION) == asked
    ]


def _is_unused(api: Api, claim: Object) -> bool:
    """Whether nothing is on a claim's node but probes and what every node has. A claim without a node is waited for."""
    node = claim["status"].get("nodeName")
    if not node:
        return False
    pods = api.list(*POD, fields=f"spec.nodeName={node}")
    return all(PROBE_LABEL in labels(pod) or _is_owned(pod) for pod in pods)


def _is_owned(pod: Object) -> bool:
    return any(owner["kind"] == OWNED for owner in pod["metadata"].get("ownerReferences", []))


def _delete(api: Api, api_version: str, kind: str, thing: Object) -> None:
    meta = thing["metadata"]
    try:
        api.delete(api_version, kind, meta["name"], meta.get("namespace"), uid=meta["uid"])
    except Refused as refused:
        if refused.status not in GONE:
            raise
