"""Every name and id of an environment, computed from what the settings say, within every limit of Azure.

Nothing here asks Azure: scopes of role assignments are plain text at the first preview, and policies can judge them.
"""

import re
from dataclasses import dataclass
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from spotproof.clouds.naming import digest, shortened, slug
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.settings import Environment
from spotproof.settings.azure import Azure

CLUSTER_LIMIT: Final = 50
"""AKS takes 63; 50 leaves room for a word behind it in the names of what belongs to the cluster, and fits the DNS
prefix, which has 54."""
GROUP_LIMIT: Final = 90
NODE_GROUP_LIMIT: Final = 80
"""AKS refuses a longer node resource group, though Azure takes 90."""
NETWORK_LIMIT: Final = 64
WORKSPACE_LIMIT: Final = 63
RULE_LIMIT: Final = 64
IDENTITY_LIMIT: Final = 128
CREDENTIAL_LIMIT: Final = 120
ACCOUNT_LIMIT: Final = 24
AGENT_POOL_LIMIT: Final = 12

SYSTEM_POOL: Final = "system"
SUBNET: Final = "nodes"

_ACCOUNT_HASH: Final = 12
"""Account names are unique in the world, and nothing but the hash tells two subscriptions' apart."""


def cluster_name(stack: str) -> str:
    """The AKS cluster of a stack: `spotproof-<stack>`."""
    return shortened(f"spotproof-{slug(stack)}", CLUSTER_LIMIT)


def agent_pool(pool: str) -> str:
    """The name AKS knows one of its own node pools by: at most 12 lower-case letters and digits, a letter first.

    A pool of that form keeps its name. Others get a hash, and so can those that only look hashed.
    """
    if re.fullmatch(r"[a-z][a-z0-9]{0,11}", pool) and pool != SYSTEM_POOL and not re.search(r"[0-9a-f]{6}$", pool):
        return pool
    plain = re.sub(r"[^a-z0-9]", "", pool).lstrip("0123456789") or "p"
    mark = digest(pool, 6)
    return f"{plain[: AGENT_POOL_LIMIT - len(mark)]}{mark}"


@dataclass(frozen=True)
class Names:
    """Names of one cluster in one subscription and region; `group` is the resource group, where it is not ours."""

    cluster: str
    subscription_id: str
    location: str
    group: str = ""

    @property
    def resource_group(self) -> str:
        """The resource group of everything; the region is in its name, as one stack name may exist in two regions."""
        return self.group or shortened(f"{self.cluster}-{self.location}", GROUP_LIMIT)

    @property
    def node_resource_group(self) -> str:
        """The second group, which AKS makes and keeps its machines in."""
        return shortened(f"{self.cluster}-{self.location}-nodes", NODE_GROUP_LIMIT)

    @property
    def group_id(self) -> str:
        """The id of the resource group."""
        return f"/subscriptions/{self.subscription_id}/resourceGroups/{self.resource_group}"

    def id(self, kind: str, name: str) -> str:
        """The id of something in the resource group, as kind `Microsoft.Network/virtualNetworks`."""
        return f"{self.group_id}/providers/{kind}/{name}"

    @property
    def cluster_id(self) -> str:
        """The AKS cluster."""
        return self.id("Microsoft.ContainerService/managedClusters", self.cluster)

    @property
    def network(self) -> str:
        """The virtual network."""
        return shortened(self.cluster, NETWORK_LIMIT)

    @property
    def network_id(self) -> str:
        """The id of the virtual network."""
        return self.id("Microsoft.Network/virtualNetworks", self.network)

    @property
    def subnet_id(self) -> str:
        """The subnet of the nodes."""
        return f"{self.network_id}/subnets/{SUBNET}"

    def part(self, word: str) -> str:
        """A part of the network or the cluster, as its NAT gateway."""
        return shortened(f"{self.cluster}-{word}", NETWORK_LIMIT)

    def identity(self, word: str) -> str:
        """A user-assigned identity."""
        return shortened(f"{self.cluster}-{word}", IDENTITY_LIMIT)

    def identity_id(self, word: str) -> str:
        """The id of `identity(word)`."""
        return self.id("Microsoft.ManagedIdentity/userAssignedIdentities", self.identity(word))

    def credential(self, namespace: str, service_account: str) -> str:
        """What lets a service account use an identity."""
        return shortened(f"{namespace}-{service_account}", CREDENTIAL_LIMIT)

    @property
    def log_workspace(self) -> str:
        """The Log Analytics workspace."""
        return shortened(f"{self.cluster}-logs", WORKSPACE_LIMIT)

    @property
    def log_workspace_id(self) -> str:
        """The id of the Log Analytics workspace."""
        return self.id("Microsoft.OperationalInsights/workspaces", self.log_workspace)

    @property
    def log_rule(self) -> str:
        """The rule that says which logs of containers are kept."""
        return shortened(f"{self.cluster}-logs", RULE_LIMIT)

    @property
    def log_rule_id(self) -> str:
        """The id of that rule."""
        return self.id("Microsoft.Insights/dataCollectionRules", self.log_rule)

    @property
    def account(self) -> str:
        """The storage account: 24 lower-case letters and digits, unique in the world."""
        mark = digest(f"{self.subscription_id}/{self.location}/{self.cluster}", _ACCOUNT_HASH)
        return f"{re.sub(r'[^a-z0-9]', '', self.cluster)[: ACCOUNT_LIMIT - _ACCOUNT_HASH]}{mark}"

    def container_id(self, account: str, container: str) -> str:
        """A container of a storage account: the narrowest scope of a role over blobs."""
        account_id = self.id("Microsoft.Storage/storageAccounts", account)
        return f"{account_id}/blobServices/default/containers/{container}"

    def role_definition(self, role: str) -> str:
        """A role of Azure's own, by its id, which is the same in every subscription."""
        return f"/subscriptions/{self.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/{role}"

    def assignment(self, scope: str, role: str, whom: str) -> str:
        """The name of a role assignment, which has to be a GUID: always the same, so that it is known beforehand."""
        return str(uuid5(NAMESPACE_URL, f"{scope}|{role}|{whom}"))


def blob_endpoint(account: str) -> str:
    """Where a storage account answers."""
    return f"https://{account}.blob.core.windows.net"


def container_uri(account: str, container: str) -> str:
    """A container as `abfss://<container>@<account>.dfs.core.windows.net`.

    Of all forms the only one that names the account too and is read by pyarrow (and by it Ray), by fsspec with adlfs,
    and by Spark: `az://<container>` leaves the account to the environment, and https is read by none of them. It needs
    no hierarchical namespace: pyarrow and adlfs find out by themselves, and use the blob endpoint.
    """
    return f"abfss://{container}@{account}.dfs.core.windows.net"


POD_LABELS: Final = {"azure.workload.identity/use": "true"}
"""On a pod, not on its service account: the webhook mounts the identity's token into pods that have it."""


POD_ENV: Final = {"AZURE_STORAGE_ANON": "false"}
"""adlfs asks as nobody unless it is told not to (fsspec/adlfs #348); then it signs in by the identity's token."""


def checkpoint_store(stack: str, environment: Environment) -> CheckpointStore:
    """Where training of a stack saves, from its settings alone."""
    azure = environment.provided_by(Azure)
    account = Names(cluster_name(stack), azure.subscription_id, azure.location).account
    return CheckpointStore(
        blob_endpoint(account), POD_LABELS, POD_ENV, workspace_uri=container_uri(account, "{namespace}")
    )
