"""What a job waits for, from the words of the scheduler, of an autoscaler or of the cloud. Pure.

One message often says several things. A refused purchase says more than a node that is full, and of the nodes that are
there the one that came furthest through the scheduler's filters says most: PATTERNS is in that order.
"""

import enum
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

SPOT_ROLE_COMMAND: Final = "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"


class Want(enum.Enum):
    """What is missing, in a word."""

    ROLE = "ServiceLinkedRole"
    QUOTA = "Quota"
    ADDRESSES = "Addresses"
    PRICE = "Price"
    CAPACITY = "Capacity"
    LIMITS = "Limits"
    GATE = "SchedulingGate"
    TOGETHER = "PodAffinity"
    VOLUME = "Volume"
    RESOURCES = "Resources"
    SIZE = "InstanceType"
    SELECTOR = "NodeSelector"
    TAINT = "Taint"
    NODE = "Node"


class Said(NamedTuple):
    """What is missing, and the end of a sentence that begins with `waits for`."""

    want: Want
    text: str


class Pattern(NamedTuple):
    """Words that are looked for, and what they mean.

    `text` may name the groups of `words`; a part in brackets is left out where its group is not in the message, and a
    group that is found several times is told as a list. `source` is where the words are from.
    """

    want: Want
    words: re.Pattern[str]
    text: str
    source: str


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


PATTERNS: Final = (
    Pattern(
        Want.ROLE,
        _words(r"ServiceLinkedRoleCreationNotPermitted"),
        f"the account's service-linked role for spot, which is missing: run `{SPOT_ROLE_COMMAND}`",
        "EC2 CreateFleet, as Karpenter for AWS passes it on; the whole of spot is then skipped for 3 min",
    ),
    Pattern(
        Want.QUOTA,
        _words(r"(?P<code>MaxSpotInstanceCountExceeded)"),
        "more quota for spot vCPUs in this account and region ({code})",
        "EC2 CreateFleet; the quotas are `All ... Spot Instance Requests`",
    ),
    Pattern(
        Want.QUOTA,
        _words(
            r"(?P<code>VcpuLimitExceeded)(?:: You have requested more vCPU capacity than your current vCPU limit "
            r"of (?P<limit>\d+))?"
        ),
        "more quota for vCPUs in this account and region ({code}[, the limit is {limit}])",
        "EC2 CreateFleet",
    ),
    Pattern(
        Want.QUOTA,
        _words(r"regional vCPU quota for spot", r"LowPriority(?:Cores)? ?[qQ]uota"),
        "more quota for spot vCPUs in this subscription and region (LowPriorityCores)",
        "Karpenter for Azure, pkg/providers/instance/offerings; Azure Compute OperationNotAllowed",
    ),
    Pattern(
        Want.QUOTA,
        _words(
            r"subscription level (?:on-demand|spot) vCPU quota for (?P<type>\S+) has been reached",
            r"regional on-demand vCPU quota limit",
            r"exceeding approved (?P<family>[\w. -]+?) [Cc]ores quota",
        ),
        "more quota for vCPUs in this subscription[, for {type}][, for {family}]",
        "Karpenter for Azure, pkg/providers/instance/offerings; Azure Compute OperationNotAllowed",
    ),
    Pattern(
        Want.QUOTA,
        _words(r"GCE quota exceeded", r"QUOTA_EXCEEDED", r"Quota '(?P<metric>\w+)' exceeded"),
        "more quota in this project[ ({metric})]",
        "GKE's cluster autoscaler, FailedScaleUp; Compute Engine QUOTA_EXCEEDED",
    ),
    Pattern(
        Want.ADDRESSES,
        _words(r"InsufficientFreeAddressesInSubnet", r"IP space exhausted", r"IP_SPACE_EXHAUSTED", r"SubnetIsFull"),
        "free addresses in the subnet of its nodes",
        "EC2 CreateFleet; GKE's cluster autoscaler, FailedScaleUp; Azure SubnetIsFull",
    ),
    Pattern(
        Want.PRICE,
        _words(r"SpotMaxPriceTooLow"),
        "a spot price below the cap of its pool",
        "EC2 CreateFleet",
    ),
    Pattern(
        Want.CAPACITY,
        _words(
            r"sufficient (?P<type>[\w.-]+) capacity in the Availability Zone you requested \((?P<zone>[\w-]+)\)",
            r"SKU is unavailable for instance type (?P<sku>\S+) in zone (?P<sku_zone>[\w-]+)",
            r"Node scale up in zones (?P<zones>[\w, -]+?) associated with this pod failed: GCE out of resources",
        ),
        "capacity: the cloud has none[ of {type}][ of {sku}][ in {zone}][ in {sku_zone}][ in {zones}]",
        "EC2 InsufficientInstanceCapacity; Karpenter for Azure; GKE's cluster autoscaler, FailedScaleUp",
    ),
    Pattern(
        Want.CAPACITY,
        _words(
            r"InsufficientInstanceCapacity",
            r"UnfulfillableCapacity",
            r"insufficient capacity",
            r"GCE out of resources",
            r"ZONE_RESOURCE_POOL_EXHAUSTED",
            r"unable to allocate resources",
            r"SKU is unavailable",
            r"SkuNotAvailable",
            r"AllocationFailed",
            r"Overconstrained(?:Zonal)?AllocationRequest",
            r"too few instances returned",
        ),
        "capacity: the cloud has none for it now",
        "Karpenter 1.14, InsufficientCapacityError; EC2, Compute Engine and Azure Compute by their own codes",
    ),
    Pattern(
        Want.CAPACITY,
        _words(
            r"filtered out all (?:compatible )?available instance types",
            r"no instance type has the required offering",
            r", had a required offering",
        ),
        "capacity: no instance type of its node pool can be had now",
        "Karpenter 1.14, scheduling/scheduler.go and nodeclaim.go: offerings refused in the last minutes are left out",
    ),
    Pattern(
        Want.LIMITS,
        _words(
            r"(?:exceed limits|limits have been exhausted) for nodepool"
            r"(?::? ?\"(?P<pool>[^\"]+)\"| \(NodePool=(?P<node_pool>[^),]+)[^)]*\))?"
        ),
        "room under the limits of its node pool[ {pool}][ {node_pool}]",
        "Karpenter 1.14, scheduling/scheduler.go: spec.limits, which are maxNodes of the pool",
    ),
    Pattern(
        Want.LIMITS,
        _words(r"max node group size reached", r"max cluster [\w, ]+ limit reached"),
        "room under the largest size of its node pool",
        "cluster autoscaler, NotTriggerScaleUp",
    ),
    Pattern(
        Want.CAPACITY,
        _words(r"in backoff after failed scale-up"),
        "capacity: the autoscaler has failed to get a node, and tries again soon",
        "cluster autoscaler, NotTriggerScaleUp",
    ),
    Pattern(
        Want.GATE,
        _words(r"non-empty scheduling gates", r"waiting for scheduling gates: \[(?P<gates>[^\]]+)\]"),
        "somebody to remove its scheduling gate[ {gates}]",
        "API server and scheduler 1.36, plugins/schedulinggates",
    ),
    Pattern(
        Want.TOGETHER,
        _words(
            r"node\(s\) didn't match pod (?:anti-)?affinity rules",
            r"node\(s\) didn't satisfy existing pods anti-affinity rules",
            r"node\(s\) didn't match pod topology spread constraints",
        ),
        "a node where the rest of its gang may be joined: those that have room are in another zone, or taken",
        "scheduler 1.36, plugins/interpodaffinity and podtopologyspread",
    ),
    Pattern(
        Want.VOLUME,
        _words(
            r"node\(s\) had no available volume zone",
            r"node\(s\) didn't match PersistentVolume's node affinity",
            r"node\(s\) had volume node affinity conflict",
            r"incompatible volume requirements",
        ),
        "a node in the zone of its volume",
        "scheduler 1.36, plugins/volumezone and volumebinding; Karpenter 1.14, scheduling/nodeclaim.go",
    ),
    Pattern(
        Want.VOLUME,
        _words(
            r"unbound immediate PersistentVolumeClaims",
            r"node\(s\) didn't find available persistent volumes to bind",
            r"bound to non-existent pv",
            r"persistentvolumeclaim \"(?P<claim>[^\"]+)\" not found",
        ),
        "its volume: the claim[ {claim}] is not bound",
        "scheduler 1.36, plugins/volumebinding",
    ),
    Pattern(
        Want.RESOURCES,
        _words(r"(?P<nodes>\d+) Insufficient (?P<resource>[\w./-]*\w)"),
        "free {resource}: what fits it otherwise is full",
        "scheduler 1.36, plugins/noderesources/fit.go",
    ),
    Pattern(
        Want.RESOURCES,
        _words(r"\d+ Too many pods"),
        "a node with room for one more pod",
        "scheduler 1.36, plugins/noderesources/fit.go",
    ),
    Pattern(
        Want.SIZE,
        _words(r"no instance type"),
        "an instance type that fits it: none of its node pool does",
        "Karpenter 1.14, scheduling/nodeclaim.go",
    ),
    Pattern(
        Want.SELECTOR,
        _words(r"node\(s\) didn't match Pod's node affinity/selector", r"incompatible requirements"),
        "a node with the labels it selects, and there is none",
        "scheduler 1.36, plugins/nodeaffinity; Karpenter 1.14, scheduling/nodeclaim.go",
    ),
    Pattern(
        Want.TAINT,
        _words(
            r"node\(s\) had untolerated taint\(s\)",
            r"node\(s\) had untolerated taint \{(?P<key>[^:}]+)",
            r"did not tolerate taint \(taint=(?P<taint>[^)]+)\)",
            r"did not tolerate (?P<plain>\S+=\S*:\w+)",
        ),
        "a node whose taints it tolerates, and there is none[: {key}][: {taint}][: {plain}]",
        "scheduler 1.35 and 1.36, plugins/tainttoleration; Karpenter 1.14, scheduling/taints.go",
    ),
    Pattern(
        Want.NODE,
        _words(r"node\(s\) were unschedulable", r"no nodes available to schedule pods"),
        "a node: none takes pods now",
        "scheduler 1.36, plugins/nodeunschedulable and scheduler.go",
    ),
)
"""In order: the first whose words are in a message says what is waited for."""

UNBOUGHT: Final = (
    "a node of {tier}, for which Karpenter makes no NodeClaim: its node pool is at its limits, or as its event on the "
    "pod says (`spotproof status` reads those)"
)
"""Said in place of the scheduler's words by the controller, which keeps no events of pods: what fits no node that is
there says nothing of one that is to be bought."""
ENDS: Final = (" no new claims to deallocate", " preemption: ", " still not schedulable, preemption: ")
"""Where the scheduler goes on to what preemption could do, with counts of its own."""
NODE_POOL: Final = re.compile(r"for nodepool(?::? ?\"([^\"]+)\"| \(NodePool=([^),]+))")
OPTIONAL: Final = re.compile(r"\[([^\]{]*)\{(\w+)\}([^\]]*)\]")


def said(message: str, pool: str = "") -> Said | None:
    """What one message says that a job waits for; None for one that says nothing of it.

    Args:
        message: Of a pod's condition PodScheduled, of an event of a pod or a NodeClaim, or of a NodeClaim's condition.
        pool: The node pool the job waits on: what Karpenter says of the limits of others is passed over.
    """
    found = _first(message, pool)
    if found is None:
        return None
    pattern, text = found
    return Said(pattern.want, _told(pattern, text))


def said_first(messages: Iterable[str], pool: str = "") -> Said | None:
    """What several messages of one job say: the one that says most, and of two alike the first."""
    found = [each for message in messages if (each := _first(message, pool))]
    if not found:
        return None
    pattern, text = min(found, key=lambda each: PATTERNS.index(each[0]))
    return Said(pattern.want, _told(pattern, text))


def of_pods(pods: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """What the scheduler says of pods that have no node, each message once."""
    conditions = (each for pod in pods for each in pod.get("status", {}).get("conditions") or ())
    messages = [
        each.get("message", "")
        for each in conditions
        if each.get("type") == "PodScheduled" and each.get("status") == "False"
    ]
    return tuple(dict.fromkeys(messages))


def of_claims(claims: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """What Karpenter says of NodeClaims that it could not launch, each message once."""
    conditions = (each for claim in claims for each in claim.get("status", {}).get("conditions") or ())
    messages = [
        each.get("message", "")
        for each in conditions
        if each.get("type") == "Launched" and each.get("status") in {"False", "Unknown"}
    ]
    return tuple(dict.fromkeys(messages))


def _first(message: str, pool: str) -> tuple[Pattern, str] | None:
    text = "; ".join(part for part in _cut(message).split("; ") if not _is_of_another(part, pool))
    return next(((pattern, text) for pattern in PATTERNS if pattern.words.search(text)), None)


def _cut(message: str) -> str:
    for end in ENDS:
        message = message.partition(end)[0]
    return message


def _is_of_another(part: str, pool: str) -> bool:
    """Karpenter looks at the limits of a node pool before it looks whether the pod could land there at all."""
    named = NODE_POOL.search(part)
    return bool(pool and named and pool not in named.groups())


def _told(pattern: Pattern, text: str) -> str:
    found: dict[str, dict[str, None]] = {}
    for match in pattern.words.finditer(text):
        for name, value in match.groupdict().items():
            if value:
                found.setdefault(name, {})[value] = None
    values = {name: " and ".join(each) for name, each in found.items()}
    kept = OPTIONAL.sub(lambda part: f"{part[1]}{values[part[2]]}{part[3]}" if part[2] in values else "", pattern.text)
    return kept.format_map(values)
