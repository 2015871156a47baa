"""The storage account that training resumes from, with a container for each workspace."""

import ipaddress
from collections.abc import Iterable
from typing import Any, Final, NotRequired, TypedDict

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.azure.names import blob_endpoint
from spotproof.clouds.options import after, child_of

SOFT_DELETE_DAYS: Final = 7
"""Of retain_days at most this many are soft delete's, which keeps even an earlier version that somebody deletes."""
MAX_SOFT_DELETE_DAYS: Final = 365
"""What the service takes."""
SINGLE_ADDRESSES: Final = 31
"""Azure's firewall takes /31 and /32 as addresses, not as ranges."""


class CheckpointContainersArgs(TypedDict):
    """A storage account, its containers, and what becomes of what is deleted from them."""

    account_name: str
    """Name of the storage account: 3 to 24 lower-case letters and digits, unique in the world."""
    resource_group_name: str
    """The resource group, which exists."""
    location: str
    """The Azure region."""
    containers: list[str]
    """Names of the containers, each of 3 to 63 lower-case letters, digits and single hyphens."""
    zone_redundant: NotRequired[bool]
    """Keep copies in three zones, where the region has them. Default false: three copies in one place. Changing it
    moves the data, which Azure does in the background."""
    subnet_ids: NotRequired[list[str]]
    """Subnets with a service endpoint for Microsoft.Storage; nothing else reaches the account then, but for
    access_cidrs. Default none: any network, with a token of Entra ID."""
    access_cidrs: NotRequired[list[str]]
    """Public IPv4 ranges from which people look at checkpoints; they mean something beside subnet_ids only."""
    protect: NotRequired[bool]
    """Refuse to delete account and containers. Default true. False: a destroy deletes them, checkpoints and all."""
    versioning: NotRequired[bool]
    """Keep what is overwritten or deleted. Default true."""
    retain_days: NotRequired[int]
    """Days it is kept. Default 30."""
    tags: NotRequired[dict[str, str]]
    """Tags of the account."""


class CheckpointContainers(pulumi.ComponentResource):
    """A private, encrypted, versioned store that answers over TLS 1.2 only, and to tokens of Entra ID only.

    It has no keys that could be shared, and no anonymous access. One container a workspace, because a container is the
    narrowest scope of a role: who may write to it is WorkspaceIdentity's business.

    An earlier version goes some days before retain_days are over; soft delete keeps it for the rest. Versioning needs a
    flat namespace, and is worth more than the atomic rename of a hierarchical one.

    A protected store goes in two steps: `protect: false` and `up`, then `destroy`.
    """

    account_name: str
    uri: str
    """Where the account answers, known at preview."""

    def __init__(self, name: str, args: CheckpointContainersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        protect, versioning = args.get("protect", True), args.get("versioning", True)
        days = int(args.get("retain_days", 30))
        super().__init__(
            "spotproof:azure:CheckpointContainers",
            name,
            {"protect": protect, "versioning": versioning, "retainDays": days},
            opts,
        )
        self.account_name, self.uri = args["account_name"], blob_endpoint(args["account_name"])
        here: dict[str, Any] = {"account_name": self.account_name, "resource_group_name": args["resource_group_name"]}
        child = child_of(self, opts)
        kept = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect))
        account = _account(name, args, kept)
        child = after(child, account)
        service = _keep_deleted(name, here, days, child, versioning=versioning)
        for container in args["containers"]:
            azure.storage.BlobContainer(
                f"{name}-{container}",
                container_name=container,
                public_access=azure.storage.PublicAccess.NONE,
                opts=after(kept, account, service),
                **here,
            )
        # policies over the whole stack see a component's outputs, never its inputs
        self.register_outputs({"uri": self.uri, "protect": protect, "versioning": versioning, "retainDays": days})


def _account(name: str, args: CheckpointContainersArgs, opts: pulumi.ResourceOptions) -> azure.storage.StorageAccount:
    """No shared keys, no anonymous access, no plain HTTP, no copies to other tenants, no way in but what is listed."""
    return azure.storage.StorageAccount(
        f"{name}-account",
        account_name=args["account_name"],
        resource_group_name=args["resource_group_name"],
        location=args["location"],
        kind="StorageV2",
        sku={"name": "Standard_ZRS" if args.get("zone_redundant") else "Standard_LRS"},
        access_tier=azure.storage.AccessTier.HOT,
        allow_shared_key_access=False,
        default_to_o_auth_authentication=True,
        allow_blob_public_access=False,
        allow_cross_tenant_replication=False,
        enable_https_traffic_only=True,
        minimum_tls_version="TLS1_2",
        is_hns_enabled=False,
        is_local_user_enabled=False,
        is_sftp_enabled=False,
        encryption={
            # not with a key of ours: a key that is lost takes every checkpoint along
            "key_source": "Microsoft.Storage",
            "services": {"blob": {"enabled": True, "key_type": "Account"}},
        },
        public_network_access="Enabled",
        network_rule_set=_rules(args.get("subnet_ids", []), args.get("access_cidrs", [])),
        tags=args.get("tags") or None,
        opts=opts,
    )


def _rules(subnets: list[str], cidrs: list[str]) -> azure.storage.NetworkRuleSetArgs:
    allow = azure.storage.DefaultAction.ALLOW if not subnets else azure.storage.DefaultAction.DENY
    return azure.storage.NetworkRuleSetArgs(
        default_action=allow,
        # the rules that end earlier versions come from Azure's own service, and would be turned away too
        bypass="AzureServices",
        virtual_network_rules=[
            azure.storage.VirtualNetworkRuleArgs(virtual_network_resource_id=one) for one in subnets
        ],
        ip_rules=[azure.storage.IPRuleArgs(i_p_address_or_range=one) for one in addresses(cidrs)],
    )


def addresses(cidrs: Iterable[str]) -> list[str]:
    """Ranges as Azure's storage firewall takes them: one or two addresses are written without a prefix."""
    networks = [ipaddress.IPv4Network(cidr) for cidr in cidrs]
    return [
        text
        for network in networks
        for text in ([str(one) for one in network] if network.prefixlen >= SINGLE_ADDRESSES else [str(network)])
    ]


def _keep_deleted(
    name: str, here: dict[str, Any], days: int, child: pulumi.ResourceOptions, *, versioning: bool
) -> pulumi.Resource:
    """Versions for the first days, soft delete for the last, so that together they are what was asked for."""
    soft = max(1, min(SOFT_DELETE_DAYS, days // 2))
    service = azure.storage.BlobServiceProperties(
        f"{name}-blobs",
        blob_services_name="default",
        is_versioning_enabled=versioning,
        delete_retention_policy={"enabled": True, "days": soft} if versioning else {"enabled": False},
        container_delete_retention_policy={"enabled": True, "days": min(days, MAX_SOFT_DELETE_DAYS)},
        opts=child,
        **here,
    )
    if versioning:
        # A deleted blob becomes a version, which soft delete never expires: without this rule it is kept for ever.
        azure.storage.ManagementPolicy(
            f"{name}-lifecycle",
            management_policy_name="default",
            policy={
                "rules": [
                    {
                        "name": "old-versions",
                        "type": "Lifecycle",
                        "enabled": True,
                        "definition": {
                            "filters": {"blob_types": ["blockBlob"]},
                            "actions": {"version": {"delete": {"days_after_creation_greater_than": days - soft}}},
                        },
                    }
                ]
            },
            opts=after(child, service),
            **here,
        )
    return service
