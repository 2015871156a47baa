"""AWS: EKS, Karpenter and what training needs around them. Every component takes plain values and can stand alone."""

from spotproof.clouds.aws.access import Access, AccessArgs
from spotproof.clouds.aws.checkpoints import CheckpointBucket, CheckpointBucketArgs
from spotproof.clouds.aws.cluster import EksCluster, EksClusterArgs
from spotproof.clouds.aws.environment import EksEnvironment, EksEnvironmentArgs
from spotproof.clouds.aws.interruption import InterruptionQueue, InterruptionQueueArgs
from spotproof.clouds.aws.karpenter import Karpenter, KarpenterArgs
from spotproof.clouds.aws.logs import ContainerLogs, ContainerLogsArgs
from spotproof.clouds.aws.network import Network, NetworkArgs
from spotproof.clouds.aws.nodes import SystemNodes, SystemNodesArgs
from spotproof.clouds.aws.pools import NodePoolArgs, OnDemandNodePool, SpotNodePool
from spotproof.clouds.aws.service_linked_role import SpotServiceLinkedRole, SpotServiceLinkedRoleArgs
from spotproof.clouds.aws.workspace_identity import WorkspaceIdentity, WorkspaceIdentityArgs

__all__ = [
    "Access",
    "AccessArgs",
    "CheckpointBucket",
    "CheckpointBucketArgs",
    "ContainerLogs",
    "ContainerLogsArgs",
    "EksCluster",
    "EksClusterArgs",
    "EksEnvironment",
    "EksEnvironmentArgs",
    "InterruptionQueue",
    "InterruptionQueueArgs",
    "Karpenter",
    "KarpenterArgs",
    "Network",
    "NetworkArgs",
    "NodePoolArgs",
    "OnDemandNodePool",
    "SpotNodePool",
    "SpotServiceLinkedRole",
    "SpotServiceLinkedRoleArgs",
    "SystemNodes",
    "SystemNodesArgs",
    "WorkspaceIdentity",
    "WorkspaceIdentityArgs",
]
