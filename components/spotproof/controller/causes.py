"""Why a pod was lost: an eviction, somebody's choice, or the program's own error.

Signals in the order of their strength: what became of the node, then Kubernetes' own
condition, then how the container ended. Exit codes alone tell nothing: a drain, a lack of memory and a reclaim may all
end with 137 or 143. Kubernetes' condition names the mechanism, not the reason: a reclaim, an upgrade and a person with
`kubectl drain` all use the Eviction API. So what counts is whether a spot node was taken away.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from spotproof.controller.cache import Cache
from spotproof.controller.kinds import Object
from spotproof.controller.pods import condition, is_cut_short, is_disrupted, is_leaving, is_true, node_of
from spotproof.controller.relations import labels
from spotproof.fallback.reasons import phrase
from spotproof.fallback.record import Cause
from spotproof.vocabulary import CAPACITY_LABEL, SPOT, SPOT_SELECTORS

Finding = Literal["eviction", "voluntary", "undecided", "error", "killed", "unexplained"]
RANK: Final[Mapping[Finding, int]] = {
    "eviction": 5,
    "voluntary": 4,
    "undecided": 3,
    "error": 2,
    "killed": 1,
    "unexplained": 0,
}
"""Of an interruption the strongest decides: what an eviction does to the other pods of the gang is no error."""

LOST_TAINTS: Final = frozenset(
    {
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/out-of-service",
        # the cloud's own notices, written as taints: AWS node termination handler, GKE, AKS
        "aws-node-termination-handler/spot-itn",
        "aws-node-termination-handler/rebalance-recommendation",
        "cloud.google.com/impending-node-termination",
        "remediator.kubernetes.azure.com/unschedulable",
    }
)
SCHEDULERS: Final = frozenset({"PreemptionByScheduler", "PreemptionByKubeScheduler"})
EMPTY: Final = "Empty"
"""Why Karpenter takes a node away whose pods were lost before: that explains no loss."""
OUT_OF_MEMORY: Final = "OOMKilled"
SIGNALS: Final = frozenset({137, 143})
DRAIN_SECONDS: Final = 180
"""How long a node that was drained may take to go: spot notices are 30 to 120 s, and the machine goes after them."""
LOOK_SECONDS: Final = 10
"""How long a loss without evidence waits for some: nodes, pods and counters come by streams of their own."""


class Seen(NamedTuple):
    """A sentence with named values, and what it is taken for."""

    sentence: str
    taken_for: str


OF_THE_TIER: Final = "an eviction on a spot node, nobody's fault on another"
OF_THE_COUNT: Final = "an error if the operator counts one, else an eviction on a spot tier, nobody's fault on another"
EVIDENCE: Final[Mapping[str, Seen]] = MappingProxyType(
    {
        "ClaimGoes": Seen("NodeClaim {claim} of node {node} is being deleted", OF_THE_TIER),
        "NodeGone": Seen("node {node} is gone", OF_THE_TIER),
        "NodeGoes": Seen("node {node} is being deleted", OF_THE_TIER),
        "Announced": Seen("node {node} has condition PreemptionScheduled", OF_THE_TIER),
        "Tainted": Seen("node {node} has taint {taint}", OF_THE_TIER),
        "ShutDown": Seen("node {node} was shut down", OF_THE_TIER),
        "OnDemand": Seen("{seen}, and it is on-demand", "nobody's fault"),
        "MadeRoom": Seen("pod {pod} made room for a pod of higher priority", "nobody's fault"),
        "Chosen": Seen("Karpenter takes node {node} away: {why}", "nobody's fault"),
        "Disrupted": Seen(
            "pod {pod}: {reason}",
            "an eviction if its spot node goes within 3 minutes, else nobody's fault",
        ),
        "CutShort": Seen("{seen}, and it ended with exit code 0 as if its work were done", "an eviction"),
        "OutOfMemory": Seen("pod {pod}: OOMKilled", "an error"),
        "Exited": Seen("pod {pod}: exit code {code}", "an error"),
        "Killed": Seen(
            "pod {pod}: exit code {code}, with nobody who asked for it",
            "an eviction if its spot node goes within 10 seconds, else an error",
        ),
        "PodGone": Seen("pod {pod} is gone", "what the operator's own counters say, after 10 seconds"),
        "Uncounted": Seen("nothing was seen of it but the operator's count", OF_THE_COUNT),
        "MadeAnew": Seen(
            "{pod} was made anew while nobody looked", "an eviction on a spot tier, nobody's fault on another"
        ),
        "EndedBefore": Seen("a pod had ended with exit code 0 before the job was taken up", "nobody's fault"),
        "ResumedUnseen": Seen("somebody had suspended and resumed it while nobody looked", "nobody's fault"),
    }
)
"""By word: what is seen of a loss, as the events Evicted and Error and the record tell it."""


class Evidence(NamedTuple):
    """What one lost pod tells: a finding, what was seen, and its node if that is spot and may yet be seen to go."""

    finding: Finding
    seen: str
    node: str = ""


def in_words(word: str, **values: object) -> str:
    """The sentence of a word of EVIDENCE.

    Raises:
        LookupError: there is no such word, or a value of its sentence is not given.
    """
    return phrase(EVIDENCE[word].sentence, **values)


def is_spot(node: Object) -> bool:
    """Whether a node can be reclaimed, by our label or by any cloud's."""
    carried = labels(node)
    if CAPACITY_LABEL in carried:
        return carried[CAPACITY_LABEL] == SPOT
    return any(carried.get(key) == value for key, value in SPOT_SELECTORS.items())


def fate(cache: Cache, name: str) -> str:
    """What is happening to a node, in words; empty for one that stays, or that Karpenter itself has chosen to take."""
    node, claim = cache.node(name), cache.claim_of(name)
    if choice(cache, name):
        return ""
    if claim is not None and is_leaving(claim):
        return in_words("ClaimGoes", claim=claim["metadata"]["name"], node=name)
    if node is None:
        return in_words("NodeGone", node=name)
    if is_leaving(node):
        return in_words("NodeGoes", node=name)
    if is_true(node, "PreemptionScheduled"):
        return in_words("Announced", node=name)
    taint = next((each["key"] for each in node["spec"].get("taints", []) if each["key"] in LOST_TAINTS), None)
    return in_words("Tainted", node=name, taint=taint) if taint else ""


def choice(cache: Cache, name: str) -> str:
    """Why Karpenter itself takes, or took, a node away (Underutilized, Drifted); empty where it does not."""
    claim = cache.claim_of(name) or cache.departed.claim_of(name)
    if claim is None or not is_true(claim, "DisruptionReason"):
        return ""
    return condition(claim, "DisruptionReason").get("reason", "by its own choice")


def evidence(cache: Cache, pod: Object, *, on_spot: bool, outlived: bool = False) -> Evidence:
    """What a lost pod tells.

    Args:
        cache: What is known of nodes and claims.
        pod: The pod as it is, or as it was last.
        on_spot: Whether its tier is spot, for a node that nobody saw.
        outlived: Whether its gang is whole on its node again: what the node does now tells nothing of this loss.
    """
    for look in _OF_THE_POD if outlived else _LOOKS:
        if found := look(cache, pod, on_spot):
            return found
    return Evidence("unexplained", in_words("PodGone", pod=_name(pod)), _spot_node(cache, pod, on_spot=on_spot))


def _preempted(_: Cache, pod: Object, __: bool) -> Evidence | None:  # noqa: FBT001 - one signature for all looks
    reason = condition(pod, "DisruptionTarget").get("reason", "")
    if is_disrupted(pod) and reason in SCHEDULERS:
        return Evidence("voluntary", in_words("MadeRoom", pod=_name(pod)))
    return None


def _chosen(cache: Cache, pod: Object, _: bool) -> Evidence | None:  # noqa: FBT001
    name = node_of(pod)
    why = choice(cache, name)
    return None if why in {"", EMPTY} else Evidence("voluntary", in_words("Chosen", node=name, why=why))


def _taken(cache: Cache, pod: Object, on_spot: bool) -> Evidence | None:  # noqa: FBT001
    name = node_of(pod)
    if not (seen := fate(cache, name)):
        return None
    if _spot_node(cache, pod, on_spot=on_spot):
        return Evidence("eviction", seen)
    return Evidence("voluntary", in_words("OnDemand", seen=seen))


def _shut_down(cache: Cache, pod: Object, on_spot: bool) -> Evidence | None:  # noqa: FBT001
    """GKE's spot nodes shut down by themselves and come back under the same name: only the pod says so."""
    if pod["status"].get("reason") not in {"NodeShutdown", "Terminated"}:
        return None
    spot = _spot_node(cache, pod, on_spot=on_spot)
    return Evidence("eviction" if spot else "voluntary", in_words("ShutDown", node=node_of(pod)))


def _disrupted(cache: Cache, pod: Object, on_spot: bool) -> Evidence | None:  # noqa: FBT001
    if not is_disrupted(pod):
        return None
    reason = condition(pod, "DisruptionTarget").get("reason", "DisruptionTarget")
    seen = in_words("Disrupted", pod=_name(pod), reason=reason)
    node = _spot_node(cache, pod, on_spot=on_spot)
    if node and is_cut_short(pod):
        # the gang hangs for ever, whoever took the pod away (tests/recordings/jobset-exit-zero.json)
        return Evidence("eviction", in_words("CutShort", seen=seen))
    return Evidence("undecided" if node else "voluntary", seen, node)


def _failed(cache: Cache, pod: Object, on_spot: bool) -> Evidence | None:  # noqa: FBT001
    for each in pod["status"].get("ended", []):
        code = each.get("exitCode", 0)
        if each.get("reason") == OUT_OF_MEMORY:
            return Evidence("error", in_words("OutOfMemory", pod=_name(pod)))
        if code and code not in SIGNALS:
            return Evidence("error", in_words("Exited", pod=_name(pod), code=code))
        if code and not is_leaving(pod):
            # nobody deleted it: killed from within, or with a node that is about to show it
            node = _spot_node(cache, pod, on_spot=on_spot)
            return Evidence("killed", in_words("Killed", pod=_name(pod), code=code), node)
    return None


_LOOKS: Final[tuple[Callable[[Cache, Object, bool], Evidence | None], ...]] = (
    _preempted,
    _chosen,
    _taken,
    _shut_down,
    _disrupted,
    _failed,
)
"""In this order; the first that has something to say."""
_OF_THE_POD: Final = tuple(look for look in _LOOKS if look not in {_chosen, _taken})


def strongest(found: Iterable[Evidence]) -> Evidence | None:
    """What decides; of equals the first."""
    return max(found, key=lambda each: RANK[each.finding], default=None)


def settled(finding: Finding, waited: int, *, by_counter: Cause) -> Cause:
    """What an interruption is taken for after so many seconds.

    Args:
        finding: The strongest evidence.
        waited: Seconds since it began.
        by_counter: What it is where no pod told anything: by the operator's own counters, and by the tier.
    """
    if finding == "unexplained":
        return by_counter if waited >= LOOK_SECONDS else "undecided"
    if finding == "killed":
        return "error" if waited >= LOOK_SECONDS else "undecided"
    if finding == "undecided":
        return "voluntary" if waited >= DRAIN_SECONDS else "undecided"
    return finding


def _spot_node(cache: Cache, pod: Object, *, on_spot: bool) -> str:
    """The pod's node if it is spot; of a node that nobody saw the tier tells."""
    name = node_of(pod)
    node = cache.node(name) or cache.departed.node_named(name)
    return name if (on_spot if node is None else is_spot(node)) else ""


def _name(pod: Object) -> str:
    return pod["metadata"]["name"]
