"""What section E of the cloud facts warns of, planted in the AWS program or its stack file."""

from typing import Final

from tests.stacks.planting import Mistake, beside

STACK: Final = "stacks/Pulumi.aws-dev.yaml"
AWS: Final = "components/spotproof/clouds/aws"
MANIFESTS: Final = "components/spotproof/manifests"


SYSTEM_POD: Final = """
from pulumi_kubernetes.core.v1 import Pod

context = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
closed = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
Pod(
    "beside",
    metadata={"name": "beside", "namespace": "spotproof-system"},
    spec={"securityContext": context, "containers": [{"name": "main", "image": IMAGE, "securityContext": closed}]},
    opts=pulumi.ResourceOptions(provider=cluster.kubernetes_provider),
)
"""
"""A pod in the controller's namespace, as its policies want it but for what is planted."""
BY_DIGEST: Final = f'"ghcr.io/example/beside@sha256:{"0123456789abcdef" * 4}"'

MISTAKES: Final = (
    Mistake(
        "No spot service-linked role: EC2 refuses spot, Karpenter quietly buys on-demand",
        f"{AWS}/environment.py",
        'if env.spot_pools or env.spot_service_linked_role != "existing":',
        "if env.spot_pools == 0:",
        "spot-service-linked-role-exists",
    ),
    Mistake(
        "The role created without a thought of other stacks: the second one fails, the first one's end deletes it",
        "infra/__main__.py",
        "import pulumi\n",
        "import pulumi\nimport pulumi_aws as aws\n\n"
        'aws.iam.ServiceLinkedRole("spot", aws_service_name="spot.amazonaws.com")\n',
        "spot-service-linked-role-is-kept",
    ),
    Mistake(
        "interruptionQueue given as a URL",
        f"{AWS}/karpenter.py",
        '"interruptionQueue": queue_name}',
        '"interruptionQueue": f"https://sqs.us-west-2.amazonaws.com/123456789012/{queue_name}"}',
        "karpenter-interruptions-are-heard",
    ),
    Mistake(
        "interruptionQueue given as an ARN",
        f"{AWS}/karpenter.py",
        '"interruptionQueue": queue_name}',
        '"interruptionQueue": names.queue_arn}',
        "karpenter-interruptions-are-heard",
    ),
    Mistake(
        "No rule for interrupted capacity reservations",
        f"{AWS}/interruption.py",
        '"capacity-reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),',
        "",
        "interruption-rules-are-complete",
    ),
    Mistake(
        "A queue policy without the rules' service principal",
        f"{AWS}/interruption.py",
        '["events.amazonaws.com"]',
        '["sqs.amazonaws.com"]',
        "interruption-queue-admits-events",
    ),
    Mistake(
        "Karpenter's nodes share the role of the managed node group",
        f"{AWS}/karpenter.py",
        "self.node_role_name = nodes.name",
        'self.node_role_name = names.role("system-node")',
        "karpenter-nodes-have-their-own-role",
    ),
    Mistake(
        "An access entry of type STANDARD for nodes",
        f"{AWS}/nodes.py",
        'type="EC2_LINUX"',
        'type="STANDARD"',
        "karpenter-nodes-have-their-own-role",
    ),
    Mistake(
        "An image that is not pinned, in the settings",
        STACK,
        'accountId: "123456789012"}',
        'accountId: "123456789012", amiAlias: al2023@latest}',
        "settings",
    ),
    Mistake(
        "An image that is not pinned, in the program",
        f"{MANIFESTS}/ec2_node_class.py",
        '{"alias": ami_alias}',
        '{"alias": "al2023@latest"}',
        "node-images-are-pinned",
    ),
    Mistake(
        "Nodes that expire after 720 hours",
        f"{MANIFESTS}/karpenter.py",
        '"expireAfter": "Never"',
        '"expireAfter": "720h"',
        "training-pools-are-left-alone",
    ),
    Mistake(
        "Instance metadata, and with it the node's role, within reach of every pod",
        f"{MANIFESTS}/ec2_node_class.py",
        '"httpTokens": "required"',
        '"httpTokens": "optional"',
        "node-metadata-is-guarded",
    ),
    Mistake("A root disk of 20 GiB, in the settings", STACK, "maxNodes: 4}", "maxNodes: 4, diskGib: 20}", "settings"),
    Mistake(
        "A root disk of 20 GiB, in the program",
        f"{MANIFESTS}/ec2_node_class.py",
        'f"{size_gib}Gi"',
        '"20Gi"',
        "node-disks-hold-images",
    ),
    Mistake(
        "A pool that does not wait for its node class: on destroy the controller goes before the machines",
        f"{AWS}/pools.py",
        "pulumi.ResourceOptions(parent=self, depends_on=[self.node_class])",
        "pulumi.ResourceOptions(parent=self)",
        "node-classes-outlive-their-nodes",
    ),
    Mistake(
        "Node classes that do not wait for the controller's release",
        f"{AWS}/environment.py",
        "waits_for: list[pulumi.Resource] = [karpenter, tag]",
        "waits_for: list[pulumi.Resource] = [tag]",
        "node-classes-outlive-their-nodes",
    ),
    Mistake(
        "A node class whose deletion is given up after five minutes",
        f"{AWS}/pools.py",
        'DELETE_TIMEOUT: Final = "45m"',
        'DELETE_TIMEOUT: Final = "5m"',
        "node-classes-have-time-to-go",
    ),
    Mistake(
        "Bottlerocket with a second device plugin",
        STACK,
        'accountId: "123456789012"}',
        'accountId: "123456789012", amiAlias: bottlerocket@1.60.0}',
        "settings",
    ),
    Mistake(
        "AL2023 without a device plugin, in the settings",
        STACK,
        "    tags:",
        "    operators: {gpuPlugin: {mode: off}}\n    tags:",
        "settings",
    ),
    Mistake(
        "AL2023 without a device plugin, in the program",
        "components/spotproof/operators/registry.py",
        '"gpuPlugin": Entry(lambda all_: all_.gpu_plugin, gpu_plugin.install, contract.GPU_PLUGIN),',
        "",
        "one-gpu-plugin",
    ),
    Mistake(
        "A node label in a reserved domain",
        f"{MANIFESTS}/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity, "karpenter.sh/team": "x"}',
        "node-labels-are-ours",
    ),
    Mistake(
        "A capacity label that is a boolean",
        f"{MANIFESTS}/scheduling.py",
        "return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}",
        'return {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity == "spot"}',
        "labels-are-text",
    ),
    Mistake(
        "A spot price cap where nothing keeps it, in the settings",
        STACK,
        "maxNodes: 4}",
        "maxNodes: 4, spotMaxPrice: 0.2}",
        "settings",
    ),
    Mistake(
        "A spot price cap where nothing keeps it, in the program",
        f"{MANIFESTS}/karpenter.py",
        '"limits": _limits(pool, machines),',
        '"limits": _limits(pool, machines), "spotMaxPrice": "0.2",',
        "spot-price-cap-is-kept",
    ),
    Mistake(
        "Tiers whose nodes carry the same labels: a job would move to where it is",
        f"{MANIFESTS}/fallback_policy.py",
        "node_selector=dict(scheduling.node_selector)",
        'node_selector={"team": "research"}',
        "tiers-are-different-nodes",
    ),
    Mistake(
        "Checkpoints so far apart that an attempt on spot seldom comes to one (advice)",
        STACK,
        "deadline: pace",
        "deadline: {mode: pace, restart: 1h, checkpointEvery: 2h}",
        "attempts-save-their-work",
        status=0,
    ),
    Mistake(
        "A guard that keeps less time than a start takes (advice)",
        STACK,
        "deadline: pace",
        "deadline: {mode: guard, restart: 3m, margin: 1m}",
        "guards-leave-room-for-a-start",
        status=0,
    ),
    Mistake(
        "A lifecycle rule that deletes current checkpoints",
        f"{AWS}/checkpoints.py",
        '"expiration": {"expired_object_delete_marker": True}',
        '"expiration": {"days": days}',
        "live-checkpoints-are-kept",
    ),
    Mistake(
        "Earlier versions of checkpoints that go before retainDays",
        f"{AWS}/checkpoints.py",
        '"noncurrent_version_expiration": {"noncurrent_days": days}',
        '"noncurrent_version_expiration": {"noncurrent_days": 1}',
        "checkpoint-versions-expire",
    ),
    Mistake(
        "A misspelt input of a resource",
        f"{AWS}/nodes.py",
        '"max_unavailable": 1',
        '"max_unavailabel": 1',
        "lint",
    ),
    beside(
        "An image by tag in the controller's namespace, which would run with its rights",
        SYSTEM_POD.replace("IMAGE", '"ghcr.io/example/beside:1.2"'),
        "system-images-are-by-digest",
        "aws-dev",
    ),
    beside(
        "A pod in the controller's namespace that may become root",
        SYSTEM_POD.replace("IMAGE", BY_DIGEST).replace('"runAsNonRoot": True', '"runAsNonRoot": False'),
        "system-pods-have-no-privileges",
        "aws-dev",
    ),
)
