"""Azure: AKS and what training needs around it. Every component takes plain values and can stand alone.

Names are loaded when they are asked for: pricing a foreign program needs one module of these, not all components.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spotproof.clouds.azure.access import Access, AccessArgs
    from spotproof.clouds.azure.agent_pools import AgentPoolArgs, OnDemandAgentPool, SpotAgentPool
    from spotproof.clouds.azure.checkpoints import CheckpointContainers, CheckpointContainersArgs
    from spotproof.clouds.azure.cluster import AksCluster, AksClusterArgs
    from spotproof.clouds.azure.environment import AksEnvironment, AksEnvironmentArgs
    from spotproof.clouds.azure.logs import ContainerLogs, ContainerLogsArgs
    from spotproof.clouds.azure.network import Network, NetworkArgs
    from spotproof.clouds.azure.pools import NodePoolArgs, OnDemandNodePool, SpotNodePool
    from spotproof.clouds.azure.workspace_identity import WorkspaceIdentity, WorkspaceIdentityArgs

_HOME = {
    "Access": "access",
    "AccessArgs": "access",
    "AgentPoolArgs": "agent_pools",
    "AksCluster": "cluster",
    "AksClusterArgs": "cluster",
    "AksEnvironment": "environment",
    "AksEnvironmentArgs": "environment",
    "CheckpointContainers": "checkpoints",
    "CheckpointContainersArgs": "checkpoints",
    "ContainerLogs": "logs",
    "ContainerLogsArgs": "logs",
    "Network": "network",
    "NetworkArgs": "network",
    "NodePoolArgs": "pools",
    "OnDemandAgentPool": "agent_pools",
    "OnDemandNodePool": "pools",
    "SpotAgentPool": "agent_pools",
    "SpotNodePool": "pools",
    "WorkspaceIdentity": "workspace_identity",
    "WorkspaceIdentityArgs": "workspace_identity",
}

__all__ = [
    "Access",
    "AccessArgs",
    "AgentPoolArgs",
    "AksCluster",
    "AksClusterArgs",
    "AksEnvironment",
    "AksEnvironmentArgs",
    "CheckpointContainers",
    "CheckpointContainersArgs",
    "ContainerLogs",
    "ContainerLogsArgs",
    "Network",
    "NetworkArgs",
    "NodePoolArgs",
    "OnDemandAgentPool",
    "OnDemandNodePool",
    "SpotAgentPool",
    "SpotNodePool",
    "WorkspaceIdentity",
    "WorkspaceIdentityArgs",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
