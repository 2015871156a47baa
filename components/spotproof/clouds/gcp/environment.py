"""A whole environment on GKE."""

from collections.abc import Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_gcp as gcp

from spotproof.clouds.arguments import EnvironmentArgs, environment_of
from spotproof.clouds.contract import GPU_PLUGIN, Cluster, Scheduling
from spotproof.clouds.exports import common_exports
from spotproof.clouds.gcp import placing
from spotproof.clouds.gcp.access import Access, subjects
from spotproof.clouds.gcp.checkpoints import CheckpointBucket
from spotproof.clouds.gcp.cluster import GkeCluster
from spotproof.clouds.gcp.logs import ContainerLogs
from spotproof.clouds.gcp.names import checkpoint_store, cluster_name, names_of
from spotproof.clouds.gcp.network import Network
from spotproof.clouds.gcp.node_identity import NodeIdentity
from spotproof.clouds.gcp.nodes import SystemNodes
from spotproof.clouds.gcp.pools import OnDemandNodePool, SpotNodePool, pool_args
from spotproof.clouds.gcp.workspace_identity import WorkspaceIdentity
from spotproof.clouds.rendered import FallbackPolicies, WorkspaceObjects
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.prices import Prices, load_prices
from spotproof.settings import Environment, Pool
from spotproof.settings.gcp import Gcp


class GkeEnvironmentArgs(EnvironmentArgs):
    """Settings of an environment on GKE."""


class Place(TypedDict):
    """What nearly every component here takes."""

    cluster_name: str
    project: str
    region: str


class GkeEnvironment(pulumi.ComponentResource):
    """Network, cluster, nodes, pools, checkpoints, workspaces, logs and people, from settings.

    Destroyed in this order: workspaces with their jobs, pools, system nodes, cluster, network. What the settings
    protect stays: `checkpoints.protect: false` and `controlPlane.deletionProtection: false`, `up`, then `destroy`.

    `settings` has the settings, complete and checked; `cluster` is what operators need.

    Raises:
        SettingsError: `environment` is a mapping that has problems; the text has all of them.
    """

    def __init__(self, name: str, args: GkeEnvironmentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        self.settings = env = environment_of(args)
        here = env.provided_by(Gcp)
        props = {"region": here.region, "project": here.project, "cluster": cluster_name(name)}
        super().__init__("spotproof:gcp:GkeEnvironment", name, props, opts)
        # The project is a setting: nothing lands where somebody's gcloud happens to point.
        provider = gcp.Provider(
            f"{name}-gcp",
            project=here.project,
            region=here.region,
            default_labels=dict(env.tags) if env.tags else None,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.cluster = _Assembly(name, env, args.get("prices") or load_prices(), self, provider).build()
        # GKE runs the device plugin; policies over the whole stack see a component's outputs, never its inputs
        self.register_outputs({**self.cluster.exports, "gpuPlugin": "existing"})


class _Assembly:
    """The parts of one environment, put together; apart from the component, whose own attributes are the SDK's."""

    def __init__(
        self, name: str, env: Environment, prices: Prices, parent: pulumi.Resource, provider: gcp.Provider
    ) -> None:
        self.name, self.env, self.prices, self.parent = name, env, prices, parent
        self.providers: list[pulumi.ProviderResource] = [provider]
        self.here = env.provided_by(Gcp)
        self.names = names_of(name, self.here)
        self.place = Place(cluster_name=self.names.cluster, project=self.names.project, region=self.names.region)

    def build(self) -> Cluster:
        """Everything, in the order of need; what must go first on destroy waits here for what must go later."""
        name, env = self.name, self.env
        bucket = self._bucket()
        network = Network(f"{name}-network", {**self.place, "cidr": env.network.cidr}, self._opts())
        identity = NodeIdentity(f"{name}-nodes", {**self.place}, self._opts())
        logs = ContainerLogs(f"{name}-logs", {**self.place, "retain_days": env.logs.retain_days}, self._opts())
        control_plane = self._control_plane(network, identity, [logs])
        self.providers.append(control_plane.kubernetes_provider)
        nodes = SystemNodes(
            f"{name}-system",
            {
                "cluster_name": self.names.cluster,
                "region": self.names.region,
                "zones": list(env.zones),
                "service_account": identity.email,
                "tags": dict(env.tags),
            },
            self._opts(control_plane),
        )
        # GKE's own controllers run on nodes that stay, while pools are drained too
        pools = self._pools(identity, [control_plane, nodes])
        inside = pulumi.ResourceOptions(deleted_with=control_plane.resource)
        self._people(control_plane, inside)
        placed = {pool.name: self._scheduling(pool) for pool in env.pools}
        FallbackPolicies(
            f"{name}-fallback", env, placed, pulumi.ResourceOptions.merge(self._opts(control_plane), inside)
        )
        self._workspaces(bucket, control_plane, [nodes, *pools])
        store = checkpoint_store(name, env)
        return Cluster(
            kubernetes_provider=control_plane.kubernetes_provider,
            pools=placed,
            system_scheduling=placing.SYSTEM,
            checkpoints=store,
            workspaces={one.namespace: one.service_account for one in env.workspaces},
            provides=frozenset({GPU_PLUGIN}),
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

    def _control_plane(
        self, network: Network, identity: NodeIdentity, waits_for: Sequence[pulumi.Resource]
    ) -> GkeCluster:
        env = self.env
        return GkeCluster(
            f"{self.name}-control-plane",
            {
                **self.place,
                "zones": list(env.zones),
                "kubernetes_version": env.kubernetes_version,
                "release_channel": self.here.release_channel,
                "network": network.network_id,
                "subnetwork": network.subnetwork_id,
                "service_account": identity.email,
                "public_access_cidrs": list(env.control_plane.public_access_cidrs),
                "security_group": self.here.security_group,
                "deletion_protection": env.control_plane.deletion_protection,
                "tags": dict(env.tags),
            },
            self._opts(network, *identity.ready, *waits_for),
        )

    def _pools(self, identity: NodeIdentity, waits_for: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        common: dict[str, Any] = {
            "cluster_name": self.names.cluster,
            "region": self.names.region,
            "service_account": identity.email,
            "tags": dict(self.env.tags),
        }
        return [
            (SpotNodePool if pool.is_spot else OnDemandNodePool)(
                f"{self.name}-{pool.name}",
                pool_args(pool, self.env.zones_of(pool), common),
                self._opts(*waits_for),
            )
            for pool in self.env.pools
        ]

    def _people(self, control_plane: GkeCluster, inside: pulumi.ResourceOptions) -> None:
        env = self.env
        Access(
            f"{self.name}-access",
            {
                **self.place,
                "admins": list(env.access.admins),
                "members": sorted({person for one in env.workspaces for person in one.members}),
            },
            pulumi.ResourceOptions.merge(self._opts(control_plane), inside),
        )

    def _workspaces(
        self, bucket: CheckpointBucket, control_plane: GkeCluster, waits_for: Sequence[pulumi.Resource]
    ) -> None:
        for one in self.env.workspaces:
            WorkspaceIdentity(
                f"{self.name}-{one.namespace}-identity",
                {
                    **self.place,
                    "project_number": self.names.project_number,
                    "namespace": one.namespace,
                    "service_account": one.service_account,
                    "bucket_name": bucket.resource.name,
                },
                self._opts(control_plane),
            )
            WorkspaceObjects(
                f"{self.name}-{one.namespace}",
                one,
                subjects(one.members),
                controller=self.env.operators.fallback.is_there,
                opts=self._opts(*waits_for),
            )

    def _scheduling(self, pool: Pool) -> Scheduling:
        where = placing.on(pool)
        return Scheduling(
            node_selector=where.node_selector,
            tolerations=where.tolerations,
            accelerator=pool.accelerator,
            price=self.prices.pool(self.env.provider, pool),
        )

    def _exports(self, store: CheckpointStore) -> dict[str, pulumi.Input[object]]:
        names = self.names
        return {
            "clusterName": names.cluster,
            "configureKubectl": f"gcloud container clusters get-credentials {names.cluster} "
            f"--location {names.region} --project {names.project} --dns-endpoint",
            **common_exports(self.env, store),
        }


def build(name: str, environment: Environment, prices: Prices) -> Cluster:
    """The environment of a stack, for `clouds.registry`."""
    return GkeEnvironment(name, {"environment": environment, "prices": prices}).cluster
