"""A whole environment on AKS."""

from collections.abc import Sequence
from typing import Any, TypedDict, cast

import pulumi
import pulumi_azure_native as azure

from spotproof.clouds.arguments import EnvironmentArgs, environment_of
from spotproof.clouds.azure.access import Access
from spotproof.clouds.azure.agent_pools import AgentPoolArgs, OnDemandAgentPool, SpotAgentPool
from spotproof.clouds.azure.checkpoints import CheckpointContainers
from spotproof.clouds.azure.cluster import AksCluster
from spotproof.clouds.azure.logs import ContainerLogs
from spotproof.clouds.azure.names import Names, checkpoint_store, cluster_name
from spotproof.clouds.azure.network import Network
from spotproof.clouds.azure.placing import SYSTEM
from spotproof.clouds.azure.pools import NodePoolArgs, OnDemandNodePool, SpotNodePool
from spotproof.clouds.azure.workspace_identity import WorkspaceIdentity
from spotproof.clouds.contract import Cluster, Scheduling
from spotproof.clouds.exports import common_exports
from spotproof.clouds.rendered import FallbackPolicies, WorkspaceObjects
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.manifests.rbac import subject
from spotproof.manifests.scheduling import placement
from spotproof.prices import Prices, load_prices
from spotproof.settings import Environment, Pool
from spotproof.settings.azure import Azure
from spotproof.settings.azure.pool_checks import AUTO_PROVISIONING, CLASSIC, uses_cluster_autoscaler
from spotproof.vocabulary import AKS_SPOT_TAINT

CLIENT_ID = "azure.workload.identity/client-id"
"""Annotation of a service account: which identity its pods become."""


class AksEnvironmentArgs(EnvironmentArgs):
    """Settings of an environment."""


class Place(TypedDict):
    """What nearly every component here takes."""

    cluster_name: str
    subscription_id: str
    location: str
    resource_group_name: str


class AksEnvironment(pulumi.ComponentResource):
    """Resource group, network, cluster, pools, checkpoints, workspaces and people, from settings.

    Destroyed in this order: workspaces with their jobs, pools, node classes (which wait for the machines), cluster,
    network, resource group. What the settings protect stays: `checkpoints.protect: false` and
    `controlPlane.deletionProtection: false`, `up`, then `destroy`.

    `settings` has the settings, complete and checked; `cluster` is what operators need.

    Raises:
        SettingsError: `environment` is a mapping that has problems; the text has all of them.
    """

    def __init__(self, name: str, args: AksEnvironmentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        self.settings = env = environment_of(args)
        here = env.provided_by(Azure)
        props = {"location": here.location, "subscriptionId": here.subscription_id, "cluster": cluster_name(name)}
        super().__init__("spotproof:azure:AksEnvironment", name, props, opts)
        # The subscription is a setting: nothing lands where somebody happens to be logged in.
        provider = azure.Provider(
            f"{name}-azure",
            subscription_id=here.subscription_id,
            tenant_id=here.tenant_id,
            location=here.location,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.cluster = _Assembly(name, env, args.get("prices") or load_prices(), self, provider).build()
        # the plugin's mode is for policies: over the whole stack they see a component's outputs, never its inputs
        self.register_outputs({**self.cluster.exports, "gpuPlugin": env.operators.gpu_plugin.mode})


class _Assembly:
    """The parts of one environment, put together; apart from the component, whose own attributes are the SDK's."""

    def __init__(
        self, name: str, env: Environment, prices: Prices, parent: pulumi.Resource, provider: azure.Provider
    ) -> None:
        self.name, self.env, self.prices, self.parent = name, env, prices, parent
        self.providers: list[pulumi.ProviderResource] = [provider]
        self.here = env.provided_by(Azure)
        self.names = Names(cluster_name(name), self.here.subscription_id, self.here.location)
        self.place = Place(
            cluster_name=self.names.cluster,
            subscription_id=self.names.subscription_id,
            location=self.names.location,
            resource_group_name=self.names.resource_group,
        )
        self.tags = dict(env.tags)

    def build(self) -> Cluster:
        """Everything, in the order of need; what must go first on destroy waits here for what must go later."""
        name, env = self.name, self.env
        group = self._resource_group()
        network = Network(
            f"{name}-network", {**self.place, "cidr": env.network.cidr, "tags": self.tags}, self._opts(group)
        )
        checkpoints = self._checkpoints(group, network)
        cluster = self._cluster(group, network)
        self.providers.append(cluster.kubernetes_provider)
        pools = self._pools(cluster, network)
        ContainerLogs(f"{name}-container-logs", {**self.place, "tags": self.tags}, self._opts(cluster))
        self._people(cluster)
        placing = {pool.name: self._scheduling(pool) for pool in env.pools}
        inside = pulumi.ResourceOptions(deleted_with=cluster.resource)
        FallbackPolicies(f"{name}-fallback", env, placing, pulumi.ResourceOptions.merge(self._opts(cluster), inside))
        self._workspaces(checkpoints, cluster, pools)
        store = checkpoint_store(name, env)
        return Cluster(
            kubernetes_provider=cluster.kubernetes_provider,
            pools=placing,
            system_scheduling=SYSTEM,
            checkpoints=store,
            workspaces={one.namespace: one.service_account for one in env.workspaces},
            provides=frozenset(),
            ready=[cluster],
            lifetime=cluster.resource,
            exports=self._exports(store),
        )

    def _opts(self, *waits_for: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self.parent, providers=list(self.providers), depends_on=list(waits_for))

    def _resource_group(self) -> azure.resources.ResourceGroup:
        """Azure deletes a group with all that is in it, so it is protected as long as anything in it is."""
        protect = self.env.checkpoints.protect or self.env.control_plane.deletion_protection
        opts = pulumi.ResourceOptions(parent=self.parent, provider=self.providers[0], protect=protect)
        return azure.resources.ResourceGroup(
            f"{self.name}-group",
            resource_group_name=self.names.resource_group,
            location=self.names.location,
            tags=self.tags or None,
            opts=opts,
        )

    def _checkpoints(self, group: pulumi.Resource, network: Network) -> CheckpointContainers:
        settings, env = self.env.checkpoints, self.env
        return CheckpointContainers(
            f"{self.name}-checkpoints",
            {
                "tags": self.tags,
                "account_name": self.names.account,
                "resource_group_name": self.names.resource_group,
                "location": self.names.location,
                "containers": [one.namespace for one in env.workspaces],
                "zone_redundant": bool(env.zones),
                "subnet_ids": [network.subnet_id],
                "access_cidrs": list(env.control_plane.public_access_cidrs),
                "protect": settings.protect,
                "versioning": settings.versioning,
                "retain_days": settings.retain_days,
            },
            # the firewall names the subnet, which must be there with its service endpoint
            self._opts(group, network),
        )

    def _cluster(self, group: pulumi.Resource, network: Network) -> AksCluster:
        env, settings = self.env, self.env.control_plane
        classic = uses_cluster_autoscaler(env)
        minutes = int(env.pools[0].consolidate_after.total_seconds()) // 60
        return AksCluster(
            f"{self.name}-control-plane",
            {
                **self.place,
                "tags": self.tags,
                "tenant_id": self.here.tenant_id,
                "kubernetes_version": env.kubernetes_version,
                "zones": list(env.zones),
                "subnet_id": network.subnet_id,
                "outbound_ip": network.outbound_ip,
                "public_access_cidrs": list(settings.public_access_cidrs),
                "admin_group_ids": list(env.access.admins),
                "deletion_protection": settings.deletion_protection,
                "log_retention_days": env.logs.retain_days,
                "autoscaler": CLASSIC if classic else AUTO_PROVISIONING,
                "empty_node_minutes": minutes,
            },
            self._opts(group, network),
        )

    def _pools(self, cluster: AksCluster, network: Network) -> list[pulumi.Resource]:
        classic = uses_cluster_autoscaler(self.env)
        make = self._agent_pool if classic else self._node_pool
        return [make(pool, network.subnet_id, self._opts(cluster)) for pool in self.env.pools]

    def _node_pool(self, pool: Pool, subnet_id: str, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        args = cast(
            "NodePoolArgs",
            {
                **self._pool_args(pool, subnet_id),
                "instance_types": list(pool.instance_types),
                "consolidate_after_seconds": int(pool.consolidate_after.total_seconds()),
            },
        )
        return (SpotNodePool if pool.is_spot else OnDemandNodePool)(f"{self.name}-{pool.name}", args, opts)

    def _agent_pool(self, pool: Pool, subnet_id: str, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        args = cast(
            "AgentPoolArgs",
            {
                **self._pool_args(pool, subnet_id),
                "vm_size": pool.instance_types[0],
                "cluster_name": self.names.cluster,
                "resource_group_name": self.names.resource_group,
                **({} if pool.spot_max_price is None else {"spot_max_price": pool.spot_max_price}),
            },
        )
        return (SpotAgentPool if pool.is_spot else OnDemandAgentPool)(f"{self.name}-{pool.name}", args, opts)

    def _pool_args(self, pool: Pool, subnet_id: str) -> dict[str, Any]:
        accelerator = pool.accelerator
        return {
            "tags": self.tags,
            "pool_name": pool.name,
            "max_nodes": pool.max_nodes,
            "subnet_id": subnet_id,
            "zones": list(self.env.zones_of(pool)),
            "disk_gib": pool.disk_gib,
            **({"accelerator_type": accelerator.type, "accelerator_count": accelerator.count} if accelerator else {}),
        }

    def _people(self, cluster: AksCluster) -> None:
        members = [who for one in self.env.workspaces for who in one.members]
        groups = sorted({*self.env.access.admins, *members})
        Access(f"{self.name}-access", {**self.place, "groups": groups}, self._opts(cluster))

    def _workspaces(
        self, checkpoints: CheckpointContainers, cluster: AksCluster, pools: Sequence[pulumi.Resource]
    ) -> None:
        for one in self.env.workspaces:
            identity = WorkspaceIdentity(
                f"{self.name}-{one.namespace}-identity",
                {
                    **self.place,
                    "tags": self.tags,
                    "oidc_issuer_url": cluster.oidc_issuer_url,
                    "namespace": one.namespace,
                    "service_accounts": [one.service_account],
                    "account_name": checkpoints.account_name,
                    "container_name": one.namespace,
                },
                self._opts(cluster, checkpoints),
            )
            members = [subject("Group", who) for who in one.members]
            WorkspaceObjects(
                f"{self.name}-{one.namespace}",
                one,
                members,
                {CLIENT_ID: identity.client_id},
                controller=self.env.operators.fallback.is_there,
                opts=self._opts(cluster, identity, *pools),
            )

    def _scheduling(self, pool: Pool) -> Scheduling:
        placing = placement(pool, AKS_SPOT_TAINT)
        return Scheduling(
            node_selector=placing.node_selector,
            tolerations=placing.tolerations,
            accelerator=pool.accelerator,
            price=self.prices.pool(self.env.provider, pool),
        )

    def _exports(self, store: CheckpointStore) -> dict[str, pulumi.Input[object]]:
        group, cluster = self.names.resource_group, self.names.cluster
        fetch = f"az aks get-credentials --subscription {self.names.subscription_id} -g {group} -n {cluster}"
        return {
            "clusterName": cluster,
            "resourceGroup": group,
            "configureKubectl": f"{fetch} && kubelogin convert-kubeconfig -l azurecli",
            **common_exports(self.env, store),
        }


def build(name: str, environment: Environment, prices: Prices) -> Cluster:
    """The environment of a stack, for `clouds.registry`."""
    return AksEnvironment(name, {"environment": environment, "prices": prices}).cluster
