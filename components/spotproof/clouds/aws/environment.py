"""A whole environment on EKS."""

from collections.abc import Sequence
from typing import Any, TypedDict, cast

import pulumi
import pulumi_aws as aws

from spotproof.clouds.arguments import EnvironmentArgs, environment_of
from spotproof.clouds.aws.access import Access
from spotproof.clouds.aws.checkpoints import CheckpointBucket
from spotproof.clouds.aws.cluster import EksCluster
from spotproof.clouds.aws.karpenter import Karpenter
from spotproof.clouds.aws.logs import ContainerLogs
from spotproof.clouds.aws.names import Names, checkpoint_store, cluster_name
from spotproof.clouds.aws.network import DISCOVERY_TAG, Network
from spotproof.clouds.aws.nodes import SystemNodes
from spotproof.clouds.aws.placing import SYSTEM
from spotproof.clouds.aws.pools import NodePoolArgs, OnDemandNodePool, SpotNodePool
from spotproof.clouds.aws.service_linked_role import SpotServiceLinkedRole
from spotproof.clouds.aws.workspace_identity import WorkspaceIdentity
from spotproof.clouds.contract import GPU_PLUGIN, Cluster, Scheduling
from spotproof.clouds.exports import common_exports
from spotproof.clouds.rendered import FallbackPolicies, WorkspaceObjects
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.manifests.rbac import subject
from spotproof.manifests.scheduling import placement
from spotproof.manifests.workspaces import members_group
from spotproof.prices import Prices, load_prices
from spotproof.settings import Environment, Pool
from spotproof.settings.aws import Aws


class EksEnvironmentArgs(EnvironmentArgs):
    """Settings of an environment."""


class Place(TypedDict):
    """What nearly every component here takes."""

    cluster_name: str
    account_id: str
    region: str


class EksEnvironment(pulumi.ComponentResource):
    """Network, cluster, nodes, Karpenter, pools, checkpoints, workspaces and people, from settings.

    Destroyed in this order: workspaces with their jobs, pools, node classes (which wait for the machines), Karpenter,
    system nodes, cluster, network. What the settings protect stays: `checkpoints.protect: false` and
    `controlPlane.deletionProtection: false`, `up`, then `destroy`.

    `settings` has the settings, complete and checked; `cluster` is what operators need.

    Raises:
        SettingsError: `environment` is a mapping that has problems; the text has all of them.
    """

    def __init__(self, name: str, args: EksEnvironmentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        self.settings = env = environment_of(args)
        here = env.provided_by(Aws)
        props = {"region": here.region, "accountId": here.account_id, "cluster": cluster_name(name)}
        super().__init__("spotproof:aws:EksEnvironment", name, props, opts)
        # The account is a setting, and the provider refuses any other: nothing lands where somebody happens to be
        # logged in.
        provider = aws.Provider(
            f"{name}-aws",
            region=here.region,
            allowed_account_ids=[here.account_id],
            default_tags={"tags": dict(env.tags)} if env.tags else None,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.cluster = _Assembly(name, env, args.get("prices") or load_prices(), self, provider).build()
        # the plugin's mode is for policies: over the whole stack they see a component's outputs, never its inputs
        self.register_outputs({**self.cluster.exports, "gpuPlugin": env.operators.gpu_plugin.mode})


class _Assembly:
    """The parts of one environment, put together; apart from the component, whose own attributes are the SDK's."""

    def __init__(
        self, name: str, env: Environment, prices: Prices, parent: pulumi.Resource, provider: aws.Provider
    ) -> None:
        self.name, self.env, self.prices, self.parent = name, env, prices, parent
        self.providers: list[pulumi.ProviderResource] = [provider]
        self.here = env.provided_by(Aws)
        self.names = Names(cluster_name(name), self.here.account_id, self.here.region)
        self.place = Place(cluster_name=self.names.cluster, account_id=self.names.account_id, region=self.names.region)

    def build(self) -> Cluster:
        """Everything, in the order of need; what must go first on destroy waits here for what must go later."""
        name, env = self.name, self.env
        bucket = self._bucket()
        subnet_ids, network = self._network()
        control_plane = self._control_plane(subnet_ids)
        self.providers.append(control_plane.kubernetes_provider)
        nodes = SystemNodes(
            f"{name}-system",
            {
                **self.place,
                "subnet_ids": subnet_ids,
                "placed_in": list(env.network.existing.subnet_ids if env.network.existing else env.zones),
                "kubernetes_version": env.kubernetes_version,
                "tags": dict(env.tags),
            },
            self._opts(control_plane, *network),
        )
        karpenter = Karpenter(
            f"{name}-karpenter",
            {**self.place, "image_registry": env.image_registry or ""},
            self._opts(control_plane, nodes, *network),
        )
        pools = self._pools(control_plane, karpenter)
        ContainerLogs(
            f"{name}-container-logs",
            {**self.place, "retain_days": env.logs.retain_days},
            self._opts(nodes),
        )
        self._people(control_plane)
        placing = {pool.name: self._scheduling(pool) for pool in env.pools}
        inside = pulumi.ResourceOptions(deleted_with=control_plane.resource)
        FallbackPolicies(
            f"{name}-fallback", env, placing, pulumi.ResourceOptions.merge(self._opts(control_plane), inside)
        )
        self._workspaces(bucket, control_plane, [nodes, *pools])
        store = checkpoint_store(name, env)
        return Cluster(
            kubernetes_provider=control_plane.kubernetes_provider,
            pools=placing,
            system_scheduling=SYSTEM,
            checkpoints=store,
            workspaces={one.namespace: one.service_account for one in env.workspaces},
            provides=frozenset({GPU_PLUGIN} if self.here.ami_alias.startswith("bottlerocket@") else ()),
            ready=[nodes],
            lifetime=control_plane.resource,
            exports=self._exports(store),
        )

    def _opts(self, *waits_for: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self.parent, providers=list(self.providers), depends_on=list(waits_for))

    def _bucket(self) -> CheckpointBucket:
        checkpoints = self.env.checkpoints
        return CheckpointBucket(
            f"{self.name}-checkpoints",
            {
                "bucket_name": self.names.bucket,
                "region": self.names.region,
                "protect": checkpoints.protect,
                "versioning": checkpoints.versioning,
                "retain_days": checkpoints.retain_days,
            },
            self._opts(),
        )

    def _network(self) -> tuple[pulumi.Input[list[str]], list[pulumi.Resource]]:
        """Subnets, and what must outlive everything that is in them."""
        settings = self.env.network
        if settings.existing is not None:
            return list(settings.existing.subnet_ids), []
        network = Network(
            f"{self.name}-network",
            {
                "cluster_name": self.names.cluster,
                "region": self.names.region,
                "cidr": settings.cidr,
                "zones": list(self.env.zones),
                "nat_per_zone": settings.nat_gateways == "per-zone",
            },
            self._opts(),
        )
        return pulumi.Output.all(*network.private_subnet_ids), [network]

    def _control_plane(self, subnet_ids: pulumi.Input[list[str]]) -> EksCluster:
        settings = self.env.control_plane
        return EksCluster(
            f"{self.name}-control-plane",
            {
                **self.place,
                "kubernetes_version": self.env.kubernetes_version,
                "subnet_ids": subnet_ids,
                "public_access_cidrs": list(settings.public_access_cidrs),
                "private_access_cidr": self._vpc_cidr(),
                "deletion_protection": settings.deletion_protection,
                "extended_support": settings.support == "extended",
                "log_retention_days": self.env.logs.retain_days,
            },
            self._opts(),
        )

    def _vpc_cidr(self) -> pulumi.Input[str]:
        """The range of the VPC. Of one that exists it is looked up, which also finds an id that is wrong."""
        existing = self.env.network.existing
        if existing is None:
            return self.env.network.cidr
        provider = pulumi.InvokeOutputOptions(provider=self.providers[0])
        return aws.ec2.get_vpc_output(id=existing.vpc_id, opts=provider).cidr_block

    def _pools(self, control_plane: EksCluster, karpenter: Karpenter) -> list[pulumi.Resource]:
        env, discovery = self.env, {DISCOVERY_TAG: self.names.cluster}
        # The group is made by EKS and has no id before; a tag of ours makes it findable by a selector that is known.
        tag = aws.ec2.Tag(
            f"{self.name}-nodes-group",
            resource_id=control_plane.security_group_id,
            key=DISCOVERY_TAG,
            value=self.names.cluster,
            opts=self._opts(),
        )
        existing = env.network.existing
        common: dict[str, Any] = {
            "zones": list(env.zones),
            "node_role_name": karpenter.node_role_name,
            "subnet_terms": [{"id": one} for one in existing.subnet_ids] if existing else [{"tags": discovery}],
            "security_group_terms": [{"tags": discovery}],
            "ami_alias": self.here.ami_alias,
            "tags": dict(env.tags),
            "wait_for_ebs_driver": True,
        }
        waits_for: list[pulumi.Resource] = [karpenter, tag]
        if env.spot_pools or env.spot_service_linked_role != "existing":
            waits_for.append(self._spot_role())
        return [
            (SpotNodePool if pool.is_spot else OnDemandNodePool)(
                f"{self.name}-{pool.name}", _pool_args(pool, common), self._opts(*waits_for)
            )
            for pool in env.pools
        ]

    def _spot_role(self) -> SpotServiceLinkedRole:
        return SpotServiceLinkedRole(
            f"{self.name}-spot",
            {
                "mode": self.env.spot_service_linked_role,
                "account_id": self.names.account_id,
                "region": self.names.region,
            },
            self._opts(),
        )

    def _people(self, control_plane: EksCluster) -> None:
        env = self.env
        Access(
            f"{self.name}-access",
            {
                **self.place,
                "admins": list(env.access.admins),
                "members": {one.namespace: list(one.members) for one in env.workspaces},
                "groups": {one.namespace: members_group(one.namespace) for one in env.workspaces},
            },
            self._opts(control_plane),
        )

    def _workspaces(
        self, bucket: CheckpointBucket, control_plane: EksCluster, waits_for: Sequence[pulumi.Resource]
    ) -> None:
        for one in self.env.workspaces:
            WorkspaceIdentity(
                f"{self.name}-{one.namespace}-identity",
                {
                    **self.place,
                    "namespace": one.namespace,
                    "service_account": one.service_account,
                    "bucket_name": bucket.bucket_name,
                },
                self._opts(control_plane),
            )
            members = [subject("Group", members_group(one.namespace))]
            WorkspaceObjects(
                f"{self.name}-{one.namespace}",
                one,
                members,
                controller=self.env.operators.fallback.is_there,
                opts=self._opts(*waits_for),
            )

    def _scheduling(self, pool: Pool) -> Scheduling:
        placing = placement(pool)
        return Scheduling(
            node_selector=placing.node_selector,
            tolerations=placing.tolerations,
            accelerator=pool.accelerator,
            price=self.prices.pool(self.env.provider, pool),
        )

    def _exports(self, store: CheckpointStore) -> dict[str, pulumi.Input[object]]:
        return {
            "clusterName": self.names.cluster,
            "configureKubectl": f"aws eks update-kubeconfig --region {self.names.region} --name {self.names.cluster}",
            **common_exports(self.env, store),
        }


def build(name: str, environment: Environment, prices: Prices) -> Cluster:
    """The environment of a stack, for `clouds.registry`."""
    return EksEnvironment(name, {"environment": environment, "prices": prices}).cluster


def _pool_args(pool: Pool, common: dict[str, Any]) -> NodePoolArgs:
    accelerator = pool.accelerator
    own: dict[str, Any] = {
        "pool_name": pool.name,
        "instance_types": list(pool.instance_types),
        "max_nodes": pool.max_nodes,
        "disk_gib": pool.disk_gib,
        "consolidate_after_seconds": int(pool.consolidate_after.total_seconds()),
    }
    if pool.zones:
        own["zones"] = list(pool.zones)
    if accelerator:
        own |= {"accelerator_type": accelerator.type, "accelerator_count": accelerator.count}
    return cast("NodePoolArgs", {**common, **own})
