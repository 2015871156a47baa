"""GCP: GKE and what training needs around it. Every component takes plain values and can stand alone.

Names are loaded when they are asked for: pricing a foreign program needs one module of these, not all components.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spotproof.clouds.gcp.access import Access, AccessArgs
    from spotproof.clouds.gcp.checkpoints import CheckpointBucket, CheckpointBucketArgs
    from spotproof.clouds.gcp.cluster import GkeCluster, GkeClusterArgs
    from spotproof.clouds.gcp.environment import GkeEnvironment, GkeEnvironmentArgs
    from spotproof.clouds.gcp.logs import ContainerLogs, ContainerLogsArgs
    from spotproof.clouds.gcp.network import Network, NetworkArgs
    from spotproof.clouds.gcp.node_identity import NodeIdentity, NodeIdentityArgs
    from spotproof.clouds.gcp.nodes import SystemNodes, SystemNodesArgs
    from spotproof.clouds.gcp.pools import NodePoolArgs, OnDemandNodePool, SpotNodePool
    from spotproof.clouds.gcp.workspace_identity import WorkspaceIdentity, WorkspaceIdentityArgs

_HOME = {
    "Access": "access",
    "AccessArgs": "access",
    "CheckpointBucket": "checkpoints",
    "CheckpointBucketArgs": "checkpoints",
    "ContainerLogs": "logs",
    "ContainerLogsArgs": "logs",
    "GkeCluster": "cluster",
    "GkeClusterArgs": "cluster",
    "GkeEnvironment": "environment",
    "GkeEnvironmentArgs": "environment",
    "Network": "network",
    "NetworkArgs": "network",
    "NodeIdentity": "node_identity",
    "NodeIdentityArgs": "node_identity",
    "NodePoolArgs": "pools",
    "OnDemandNodePool": "pools",
    "SpotNodePool": "pools",
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
    "GkeCluster",
    "GkeClusterArgs",
    "GkeEnvironment",
    "GkeEnvironmentArgs",
    "Network",
    "NetworkArgs",
    "NodeIdentity",
    "NodeIdentityArgs",
    "NodePoolArgs",
    "OnDemandNodePool",
    "SpotNodePool",
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
