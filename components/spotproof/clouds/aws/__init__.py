"""AWS: EKS, Karpenter and what training needs around them. Every component takes plain values and can stand alone.

Names are loaded when they are asked for: pricing a foreign program needs one module of these, not all components.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOME = {
    "Access": "access",
    "AccessArgs": "access",
    "CheckpointBucket": "checkpoints",
    "CheckpointBucketArgs": "checkpoints",
    "ContainerLogs": "logs",
    "ContainerLogsArgs": "logs",
    "EksCluster": "cluster",
    "EksClusterArgs": "cluster",
    "EksEnvironment": "environment",
    "EksEnvironmentArgs": "environment",
    "InterruptionQueue": "interruption",
    "InterruptionQueueArgs": "interruption",
    "Karpenter": "karpenter",
    "KarpenterArgs": "karpenter",
    "Network": "network",
    "NetworkArgs": "network",
    "NodePoolArgs": "pools",
    "OnDemandNodePool": "pools",
    "SpotNodePool": "pools",
    "SpotServiceLinkedRole": "service_linked_role",
    "SpotServiceLinkedRoleArgs": "service_linked_role",
    "SystemNodes": "nodes",
    "SystemNodesArgs": "nodes",
    "WorkspaceIdentity": "workspace_identity",
    "WorkspaceIdentityArgs": "workspace_identity",
}

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


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
