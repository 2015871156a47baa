"""What breaks one policy each on a real stack, by cloud. A policy without one might judge shapes that nobody makes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spotproof.preview.model import Resource

Mutation = Callable[[Resource], Resource | None]


def without(token: str) -> Mutation:
    """The stack without every resource whose type ends so."""
    return lambda resource: None if resource.type.endswith(token) else resource


def changed(token: str, change: Callable[[Any], Any]) -> Mutation:
    """The inputs of every resource whose type ends so, changed."""
    return lambda one: replace(one, inputs=change(dict(one.inputs))) if one.type.endswith(token) else one


def key_removed(token: str, key: str) -> Mutation:
    def removed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: removed(item) for name, item in value.items() if name != key}
        return [removed(item) for item in value] if isinstance(value, list) else value

    return changed(token, removed)


def key_set(token: str, key: str, *, to: Any) -> Mutation:
    """The key with another value wherever it stands already."""

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: to if name == key else put(item) for name, item in value.items()}
        return [put(item) for item in value] if isinstance(value, list) else value

    return changed(token, put)


def text_replaced_key(token: str, old: str, new: str) -> Mutation:
    """Another key for the same value."""

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {new if name == old else name: renamed(item) for name, item in value.items()}
        return [renamed(item) for item in value] if isinstance(value, list) else value

    return changed(token, renamed)


def top_level(token: str, **fields: Any) -> Mutation:
    """Inputs of the resource itself, set."""
    return changed(token, lambda inputs: {**inputs, **fields})


def turned_into(token: str, kind: str, inputs: Any, **options: Any) -> Mutation:
    """An object of the stack as another one that stands in the same place."""
    return lambda one: replace(one, type=kind, inputs=inputs, **options) if one.type.endswith(token) else one


def text_replaced(token: str, old: str, new: str) -> Mutation:
    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: replaced(item) for name, item in value.items()}
        if isinstance(value, list):
            return [replaced(item) for item in value]
        return value.replace(old, new) if isinstance(value, str) else value

    return changed(token, replaced)


def options(**options: Any) -> Mutation:
    return lambda resource: replace(resource, **options)


def spot_forever(inputs: Any) -> Any:
    spec = inputs["spec"]
    return {**inputs, "spec": {**spec, "tiers": [{**spec["tiers"][0], "maxFailures": -1}]}}


def first_tier_larger(inputs: Any) -> Any:
    first, *rest = inputs["spec"]["tiers"]
    first = {**first, "accelerator": {"type": "another", "count": 1}}
    return {**inputs, "spec": {**inputs["spec"], "tiers": [first, *rest]}}


def spec_with(**fields: Any) -> Callable[[Any], Any]:
    return lambda inputs: {**inputs, "spec": {**inputs["spec"], **fields}}


def tiers_with(**fields: Any) -> Callable[[Any], Any]:
    """Every tier of a fallback policy, the same in these fields."""
    return lambda inputs: spec_with(tiers=[{**tier, **fields} for tier in inputs["spec"]["tiers"]])(inputs)


def unpriced_pace(inputs: Any) -> Any:
    return spec_with(deadline={"mode": "pace"})(tiers_with(usdPerNodeHour=None)(inputs))


def tiers_reversed(inputs: Any) -> Any:
    return spec_with(tiers=[*reversed(inputs["spec"]["tiers"])])(inputs)


def spot_at_a_tenth(inputs: Any) -> Any:
    *spot, last = inputs["spec"]["tiers"]
    cheap = {"usdPerNodeHour": 0.1 * last["usdPerNodeHour"], "priceSource": "a guess, assumed"}
    return spec_with(tiers=[*({**tier, **cheap} for tier in spot), last])(inputs)


def with_rule(key: str, rule: Any) -> Callable[[Any], Any]:
    """One lifecycle rule more."""
    return lambda inputs: {**inputs, key: [*inputs[key], rule]}


def blobs_deleted(inputs: Any) -> Any:
    rule = {
        "name": "all",
        "definition": {"actions": {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": 30}}}},
    }
    return {**inputs, "policy": with_rule("rules", rule)(inputs["policy"])}


# A stack installs the controller once there is an image of it; a policy's object stands in for its Deployment.
CONTROLLER: dict[str, Mutation] = {
    name: turned_into(
        ":FallbackPolicy",
        "kubernetes:apps/v1:Deployment",
        {
            "metadata": {"namespace": "spotproof-system"},
            "spec": {"template": {"spec": {"containers": [{"name": "controller", "image": "controller:1.2"}]}}},
        },
    )
    for name in ("system-images-are-by-digest", "system-pods-have-no-privileges")
}

AWS: dict[str, Mutation] = {
    **CONTROLLER,
    "spot-pools-are-tainted": key_removed(":NodePool", "taints"),
    "pools-are-labelled": key_removed(":NodePool", "spotproof.dev/capacity"),
    "node-labels-are-ours": text_replaced_key(":NodePool", "spotproof.dev/capacity", "karpenter.sh/capacity-type"),
    "labels-are-text": key_set(":NodePool", "spotproof.dev/capacity", to=True),
    "pools-are-limited": key_removed(":NodePool", "limits"),
    "training-pools-are-left-alone": key_removed(":NodePool", "expireAfter"),
    "spot-price-cap-is-kept": changed(":NodePool", spec_with(spotMaxPrice="12.50")),
    "fallback-ends-on-on-demand": changed(":FallbackPolicy", spec_with(tiers=[])),
    "fallback-waits-for-spot": changed(":FallbackPolicy", spot_forever),
    "tiers-wait-long-enough": key_removed(":FallbackPolicy", "pendingTimeout"),
    "tiers-are-interchangeable": changed(":FallbackPolicy", first_tier_larger),
    "tiers-are-different-nodes": changed(":FallbackPolicy", tiers_with(nodeSelector={"gpu": "a100"})),
    "tiers-are-cheapest-first": changed(":FallbackPolicy", tiers_reversed),
    "spot-tiers-pay": changed(":FallbackPolicy", tiers_with(usdPerNodeHour=10.0)),
    "attempts-save-their-work": key_set(":FallbackPolicy", "restart", to="3h"),
    "checkpoint-intervals-suit-the-market": key_set(":FallbackPolicy", "checkpointEvery", to="3h"),
    "guards-leave-room-for-a-start": changed(
        ":FallbackPolicy", spec_with(deadline={"mode": "guard", "restart": "1m", "margin": "1m"})
    ),
    "pace-knows-its-prices": changed(":FallbackPolicy", unpriced_pace),
    "assumed-discounts-are-modest": changed(":FallbackPolicy", spot_at_a_tenth),
    "node-images-are-pinned": key_removed(":EC2NodeClass", "amiSelectorTerms"),
    "node-disks-hold-images": key_removed(":EC2NodeClass", "blockDeviceMappings"),
    "node-metadata-is-guarded": changed(":EC2NodeClass", spec_with(metadataOptions={"httpTokens": "optional"})),
    "node-classes-have-time-to-go": options(custom_timeouts={}),
    "node-classes-outlive-their-nodes": options(dependencies=(), property_dependencies={}),
    "one-gpu-plugin": text_replaced(":Release", "nvidia-device-plugin", "another"),
    "operators-on-on-demand-nodes": key_removed(":Release", "nodeSelector"),
    "karpenter-interruptions-are-heard": key_removed(":Release", "interruptionQueue"),
    "interruption-rules-are-complete": text_replaced(":EventRule", "Capacity Reservation", ""),
    "interruption-queue-admits-events": text_replaced(":QueuePolicy", "events.amazonaws.com", "sns.amazonaws.com"),
    "karpenter-nodes-have-their-own-role": text_replaced(":AccessEntry", "EC2_LINUX", "STANDARD"),
    "spot-service-linked-role-exists": without(":SpotServiceLinkedRole"),
    "spot-service-linked-role-is-kept": text_replaced(":SpotServiceLinkedRole", "existing", "sometimes"),
    "iam-names-its-actions": text_replaced("policy:Policy", "sqs:ReceiveMessage", "sqs:*"),
    "iam-names-its-resources": text_replaced("policy:Policy", "ec2:DescribeImages", "ec2:TerminateInstances"),
    "roles-are-not-administrators": changed(
        ":RolePolicyAttachment", lambda inputs: {**inputs, "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}
    ),
    "live-checkpoints-are-kept": changed(
        ":BucketLifecycleConfiguration",
        with_rule("rules", {"id": "all", "status": "Enabled", "expiration": {"days": 30}}),
    ),
    "checkpoint-versions-expire": without(":BucketLifecycleConfiguration"),
    "checkpoint-buckets-are-private": without(":BucketPublicAccessBlock"),
    "checkpoint-buckets-are-encrypted": without(":BucketServerSideEncryptionConfiguration"),
    "checkpoint-buckets-refuse-plain-http": text_replaced(":BucketPolicy", "aws:SecureTransport", "aws:Other"),
    "checkpoint-buckets-are-versioned": without(":BucketVersioning"),
    "checkpoint-buckets-are-protected": options(protect=False),
    "kubernetes-providers-have-an-identifier": key_removed("pulumi:providers:kubernetes", "clusterIdentifier"),
}

GCP: dict[str, Mutation] = {
    **CONTROLLER,
    "spot-pools-are-tainted": key_removed("nodePool:NodePool", "taints"),
    "pools-are-labelled": key_removed("nodePool:NodePool", "spotproof.dev/capacity"),
    "node-labels-are-ours": text_replaced_key(
        "nodePool:NodePool", "spotproof.dev/capacity", "cloud.google.com/gke-provisioning"
    ),
    "labels-are-text": key_set("nodePool:NodePool", "spotproof.dev/capacity", to=True),
    "pools-are-limited": key_removed("nodePool:NodePool", "totalMaxNodeCount"),
    "training-pools-are-left-alone": text_replaced_key("nodePool:NodePool", "spot", "preemptible"),
    "node-upgrades-are-held-back": key_removed("cluster:Cluster", "maintenancePolicy"),
    "spot-price-cap-is-kept": text_replaced_key("nodePool:NodePool", "spotproof.dev/capacity", "spot-max-price"),
    "compute-classes-wait-for-their-crd": turned_into(
        ":FallbackPolicy", "kubernetes:cloud.google.com/v1:ComputeClass", {}
    ),
    "compute-class-selectors-stand-alone": turned_into(
        ":FallbackPolicy",
        "kubernetes:core/v1:Pod",
        {"spec": {"nodeSelector": {"cloud.google.com/compute-class": "a", "cloud.google.com/gke-spot": "true"}}},
    ),
    "node-disks-hold-images": key_set("nodePool:NodePool", "diskSizeGb", to=20),
    "node-metadata-is-guarded": text_replaced("nodePool:NodePool", "GKE_METADATA", "GCE_METADATA"),
    "nodes-have-their-own-account": key_removed("nodePool:NodePool", "serviceAccount"),
    "operators-on-on-demand-nodes": key_removed(":Release", "nodeSelector"),
    "roles-are-not-administrators": top_level("projects/iAMMember:IAMMember", role="roles/editor"),
    "iam-names-its-members": top_level("IamMember", member="allAuthenticatedUsers"),
    "checkpoint-buckets-are-private": text_replaced("bucket:Bucket", "enforced", "inherited"),
    "checkpoint-buckets-are-versioned": key_removed("bucket:Bucket", "versioning"),
    "live-checkpoints-are-kept": changed(
        "bucket:Bucket", with_rule("lifecycleRules", {"action": {"type": "Delete"}, "condition": {"age": 30}})
    ),
    "checkpoint-versions-expire": key_removed("bucket:Bucket", "lifecycleRules"),
    "soft-delete-is-chosen": key_removed("bucket:Bucket", "softDeletePolicy"),
    "hierarchical-namespaces-have-no-versions": top_level("bucket:Bucket", hierarchicalNamespace={"enabled": True}),
    "checkpoint-buckets-are-protected": options(protect=False),
    "gke-deletion-protection-is-said": key_removed("cluster:Cluster", "deletionProtection"),
    "kubernetes-providers-have-an-identifier": key_removed("pulumi:providers:kubernetes", "clusterIdentifier"),
}

AGENT_POOL: dict[str, object] = {"count": 1, "nodeLabels": {"spotproof.dev/pool": "a"}}

AZURE: dict[str, Mutation] = {
    **CONTROLLER,
    "spot-pools-are-tainted": key_removed("karpenter.sh/v1:NodePool", "taints"),
    "pools-are-labelled": key_removed("NodePool", "spotproof.dev/capacity"),
    "node-labels-are-ours": text_replaced_key("Pool", "spotproof.dev/capacity", "kubernetes.azure.com/priority"),
    "labels-are-text": key_set("Pool", "spotproof.dev/capacity", to=True),
    "pools-are-limited": key_removed("NodePool", "limits"),
    "training-pools-are-left-alone": key_removed("NodePool", "expireAfter"),
    # Stacks of ours leave nodes to auto-provisioning; its pools stand in for agent pools.
    "spot-nodes-come-back": turned_into(
        "karpenter.sh/v1:NodePool",
        "azure-native:containerservice:AgentPool",
        {**AGENT_POOL, "scaleSetPriority": "Spot"},
    ),
    "node-upgrades-are-held-back": turned_into(
        "karpenter.sh/v1:NodePool", "azure-native:containerservice:AgentPool", AGENT_POOL
    ),
    "spot-price-cap-is-kept": top_level(":AKSNodeClass", spec={"spotMaxPrice": 12.5}),
    "node-auto-provisioning-stands-alone": changed(
        ":ManagedCluster",
        lambda inputs: {
            **inputs,
            "agentPoolProfiles": [{**pool, "enableAutoScaling": True} for pool in inputs["agentPoolProfiles"]],
        },
    ),
    "aks-node-classes-are-spelled": top_level(":AKSNodeClass", spec={"gpu": {"mode": "driver"}}),
    "node-disks-hold-images": key_set(":AKSNodeClass", "osDiskSizeGB", to=20),
    "node-classes-have-time-to-go": options(custom_timeouts={}),
    "node-classes-outlive-their-nodes": options(dependencies=(), property_dependencies={}),
    "one-gpu-plugin": text_replaced(":Release", "nvidia-device-plugin", "another"),
    "operators-on-on-demand-nodes": key_removed(":Release", "nodeSelector"),
    "roles-are-not-administrators": top_level(
        ":RoleAssignment",
        scope="/subscriptions/s",
        roleDefinitionId="/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c",
        principalType="ServicePrincipal",
    ),
    "federated-credentials-are-made-in-turn": turned_into(
        ":FederatedIdentityCredential",
        "azure-native:managedidentity:FederatedIdentityCredential",
        {"resourceName": "one", "resourceGroupName": "g"},
        property_dependencies={},
    ),
    "pods-of-workload-identity-carry-the-label": turned_into(
        ":FallbackPolicy",
        "kubernetes:core/v1:Pod",
        {"metadata": {"namespace": "research"}, "spec": {"serviceAccountName": "trainer"}},
    ),
    "checkpoint-buckets-are-private": key_set(":StorageAccount", "allowSharedKeyAccess", to=True),
    "checkpoint-buckets-refuse-plain-http": key_removed(":StorageAccount", "minimumTlsVersion"),
    "checkpoint-buckets-are-versioned": key_removed(":BlobServiceProperties", "isVersioningEnabled"),
    "live-checkpoints-are-kept": changed(":ManagementPolicy", blobs_deleted),
    "checkpoint-versions-expire": without(":ManagementPolicy"),
    "hierarchical-namespaces-have-no-versions": top_level(":StorageAccount", isHnsEnabled=True),
    "checkpoint-buckets-are-protected": options(protect=False),
    "kubernetes-providers-have-an-identifier": key_removed("pulumi:providers:kubernetes", "clusterIdentifier"),
}

MUTATIONS = {"aws": AWS, "gcp": GCP, "azure": AZURE}
