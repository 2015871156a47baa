"""The words every part shares: label, taint and annotation keys, capacity names. Imports nothing.

One label key for every tier, with a value that differs: a job moves by changing one value, which
also avoids JobSet's stale-selector merge (kubernetes-sigs/jobset PR 1294).
"""

from typing import Final, Literal, TypeAlias

Capacity: TypeAlias = Literal["spot", "on-demand"]
Taint: TypeAlias = dict[str, str]
Toleration: TypeAlias = dict[str, str]
Manifest: TypeAlias = dict[str, object]

SPOT: Final = "spot"
ON_DEMAND: Final = "on-demand"

API_GROUP: Final = "spotproof.dev"
API_VERSION: Final = "spotproof.dev/v1alpha1"
SYSTEM_NAMESPACE: Final = "spotproof-system"
PROBE_IMAGE: Final = (
    "registry.k8s.io/pause:3.10.1@sha256:278fb9dbcca9518083ad1e11276933a2e96f23de604a3a08cc3c80002767d24c"
)
"""What the kubelet itself keeps a pod's sandbox with, so that it is on most nodes. A probe has its answer once it is on
a node, whether the image comes or not; its name is there for whoever admits images by registry or digest alone."""

POOL_LABEL: Final = "spotproof.dev/pool"
CAPACITY_LABEL: Final = "spotproof.dev/capacity"
SYSTEM_LABEL: Final = "spotproof.dev/system"
"""On the nodes that carry operators: on-demand, made by the cloud component, never by a pool."""
WORKSPACE_LABEL: Final = "spotproof.dev/workspace"
"""On a workspace's namespace; admission policies select namespaces by it."""
FALLBACK_POLICY_LABEL: Final = "spotproof.dev/fallback-policy"
RUN_LABEL: Final = "spotproof.dev/run"
"""On a rendered job and its pods: the run's name, which stays the same over restarts, moves and recreation."""
GANG_LABEL: Final = "spotproof.dev/gang"
"""On pods that land together: `tiers`, or `pool-<name>`. Zone affinity selects by it."""
MANUAL_LABEL: Final = "spotproof.dev/manual"
"""On a job, with `true`: the controller leaves it alone, whatever happens to it."""
PAUSED_LABEL: Final = "spotproof.dev/paused"
"""On a workspace's namespace, with `true`: nothing in it is moved. On spotproof-system: nothing in the cluster is."""
PROBE_LABEL: Final = "spotproof.dev/probe"
"""On a pod that only asks whether a pool has room; its value is the pool's name."""
PROBE_OF_ANNOTATION: Final = "spotproof.dev/probe-of"
"""On a probe: the job that asks, as `kind/namespace/name`."""
MOVE_ANNOTATION: Final = "spotproof.dev/move"
"""On a job that the controller has suspended: the id of the move it is suspended for. Written and removed by the same
patch as `suspend`, so that whose suspension it is can never be in doubt."""
DEADLINE_ANNOTATION: Final = "spotproof.dev/deadline"
"""On a job: when it must be ready, RFC 3339 with a zone, or a duration from its creation."""
WORK_ANNOTATION: Final = "spotproof.dev/work"
"""On a job: hours of useful running it needs on the policy's accelerators."""
PROGRESS_ANNOTATION: Final = "spotproof.dev/progress"
"""On a TrainingRun, by the trainer: seconds of work in its newest complete checkpoint."""
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
"""On a job, by its author: Kueue suspends and resumes it."""
BACKOFF_LIMIT_ANNOTATION: Final = "spotproof.dev/backoff-limit"
"""On a job with a fallback policy: how many software errors it may restart from, for the controller."""

CHECKPOINT_URI_ENV: Final = "CHECKPOINT_URI"
RUN_ENV: Final = "SPOTPROOF_RUN"
ATTEMPT_ENV: Final = "SPOTPROOF_ATTEMPT"
COORDINATOR_ENV: Final = "SPOTPROOF_COORDINATOR"
PODS_ENV: Final = "SPOTPROOF_PODS"
CHECKPOINT_SECONDS_ENV: Final = "SPOTPROOF_CHECKPOINT_SECONDS"
NOTICE_SECONDS_ENV: Final = "SPOTPROOF_NOTICE_SECONDS"
MAX_FAILURES_ENV: Final = "SPOTPROOF_MAX_FAILURES"
MAX_PREEMPTION_FAILURES_ENV: Final = "SPOTPROOF_MAX_PREEMPTION_FAILURES"

GPU_RESOURCE: Final = "nvidia.com/gpu"

KARPENTER_CAPACITY_LABEL: Final = "karpenter.sh/capacity-type"
EKS_CAPACITY_LABEL: Final = "eks.amazonaws.com/capacityType"
GKE_SPOT_LABEL: Final = "cloud.google.com/gke-spot"
GKE_PROVISIONING_LABEL: Final = "cloud.google.com/gke-provisioning"
AKS_PRIORITY_LABEL: Final = "kubernetes.azure.com/scalesetpriority"

SPOT_TAINT: Final[Taint] = {"key": CAPACITY_LABEL, "value": SPOT, "effect": "NoSchedule"}
"""The taint of a spot pool where the cloud has none of its own (EKS, existing clusters)."""
GKE_SPOT_TAINT: Final[Taint] = {"key": GKE_SPOT_LABEL, "value": "true", "effect": "NoSchedule"}
AKS_SPOT_TAINT: Final[Taint] = {"key": AKS_PRIORITY_LABEL, "value": SPOT, "effect": "NoSchedule"}
SPOT_TAINTS: Final = (SPOT_TAINT, GKE_SPOT_TAINT, AKS_SPOT_TAINT)

GPU_TAINT: Final[Taint] = {"key": GPU_RESOURCE, "value": "true", "effect": "NoSchedule"}

SPOT_TOLERATIONS: Final[tuple[Toleration, ...]] = tuple(
    {"key": taint["key"], "operator": "Equal", "value": taint["value"], "effect": taint["effect"]}
    for taint in SPOT_TAINTS
)
GPU_TOLERATION: Final[Toleration] = {"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}
"""`Exists`, because GKE writes the value `present` where the others write `true`."""
TOLERATIONS: Final = (*SPOT_TOLERATIONS, GPU_TOLERATION)
"""The constant set of every job template: moving a job changes its selector, never its tolerations."""

SPOT_SELECTORS: Final[dict[str, str]] = {
    CAPACITY_LABEL: SPOT,
    KARPENTER_CAPACITY_LABEL: SPOT,
    EKS_CAPACITY_LABEL: "SPOT",
    GKE_SPOT_LABEL: "true",
    GKE_PROVISIONING_LABEL: SPOT,
    AKS_PRIORITY_LABEL: SPOT,
}
"""Every node label by which people already select spot, and the value that means it."""

ON_DEMAND_SELECTORS: Final[dict[str, str]] = {
    CAPACITY_LABEL: ON_DEMAND,
    KARPENTER_CAPACITY_LABEL: ON_DEMAND,
    EKS_CAPACITY_LABEL: "ON_DEMAND",
    GKE_PROVISIONING_LABEL: "standard",
    AKS_PRIORITY_LABEL: "regular",
}
"""The same for on-demand. GKE puts its spot label on spot nodes alone, so it has no value that means on-demand."""

ZONE_LABEL: Final = "topology.kubernetes.io/zone"
TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
ZONE_LABELS: Final = (ZONE_LABEL, "failure-domain.beta.kubernetes.io/zone")
TYPE_LABELS: Final = (TYPE_LABEL, "beta.kubernetes.io/instance-type")
"""What every cloud writes on its nodes, by today's name and the one before it."""

LOST_NODE_TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""What the node controller puts on a node whose kubelet is silent; pods tolerate it for 300 s unless they say less."""

RESERVED_LABEL_DOMAINS: Final = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "cloud.google.com",
    "kubernetes.azure.com",
)
"""Label domains that node pools may not write: the API server or the cloud refuses or overwrites them."""
