"""A whole environment on a cluster that somebody else made."""

from collections.abc import Sequence
from typing import Final, NotRequired

import pulumi
import pulumi_kubernetes as k8s

from spotproof.clouds.arguments import EnvironmentArgs, environment_of
from spotproof.clouds.contract import Cluster, Scheduling
from spotproof.clouds.existing.names import checkpoint_store, cluster_identifier
from spotproof.clouds.exports import common_exports
from spotproof.clouds.rendered import FallbackPolicies, WorkspaceObjects
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.manifests.rbac import Subject, subject
from spotproof.manifests.scheduling import Placement, placement
from spotproof.prices import Prices, load_prices
from spotproof.settings import Environment, Pool
from spotproof.settings.existing import Existing
from spotproof.settings.existing.checks import PERSON, spot_mark
from spotproof.vocabulary import SPOT_SELECTORS

TWO_KUBECONFIGS: Final = (
    "provider.kubeconfig is there beside a kubeconfig given as text (the key spotproof:kubeconfig, or the component's "
    "argument); one of the two would silently win. Keep one: `pulumi config rm spotproof:kubeconfig` takes out the key."
)


class ExistingEnvironmentArgs(EnvironmentArgs):
    """Settings of an environment."""

    kubeconfig: NotRequired[pulumi.Input[str]]
    """A whole kubeconfig, as text. Default: the encrypted key `spotproof:kubeconfig`, `provider.kubeconfig`, or what
    kubectl would read."""


class ExistingEnvironment(pulumi.ComponentResource):
    """Fallback policies, admission policies and workspaces on a cluster somebody else made, from settings.

    Workspaces are made by `operators.install`, after the operators: on destroy they go first, jobs and all, while the
    operators whose finalizers the jobs carry still run. The cluster, its nodes and the store stay.

    `settings` has the settings, complete and checked; `cluster` is what operators need.

    Raises:
        SettingsError: `environment` is a mapping that has problems; the text has all of them.
        pulumi.RunError: two kubeconfigs are given.
    """

    def __init__(self, name: str, args: ExistingEnvironmentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        self.settings = env = environment_of(args)
        here = env.provided_by(Existing)
        super().__init__("spotproof:existing:ExistingEnvironment", name, {"cluster": here.name}, opts)
        provider = k8s.Provider(
            f"{name}-kubernetes",
            kubeconfig=_kubeconfig(here, args.get("kubeconfig")),
            context=here.context,
            cluster_identifier=cluster_identifier(here),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.cluster = _Assembly(name, env, args.get("prices") or load_prices(), self, provider).build()
        # the plugin's mode is for policies: over the whole stack they see a component's outputs, never its inputs
        self.register_outputs({**self.cluster.exports, "gpuPlugin": env.operators.gpu_plugin.mode})


def _kubeconfig(existing: Existing, given: pulumi.Input[str] | None) -> pulumi.Input[str]:
    """Contents, secret, or path; empty text is what kubectl would read, by the provider's own process.

    Never None: the SDK would put $KUBECONFIG of this machine in its place, as one path where it may list several.
    """
    key = pulumi.Config("spotproof").get_secret("kubeconfig")
    text = key if given is None else pulumi.Output.secret(given)
    if text is not None and existing.kubeconfig is not None:
        raise pulumi.RunError(TWO_KUBECONFIGS)
    return text if text is not None else existing.kubeconfig or ""


class _Assembly:
    """The parts of one environment, put together; apart from the component, whose own attributes are the SDK's."""

    def __init__(
        self, name: str, env: Environment, prices: Prices, parent: pulumi.Resource, provider: k8s.Provider
    ) -> None:
        self.name, self.env, self.prices, self.parent, self.provider = name, env, prices, parent, provider

    def build(self) -> Cluster:
        """Everything but the workspaces, which wait for the operators."""
        placing = {pool.name: self._scheduling(pool) for pool in self.env.pools}
        FallbackPolicies(f"{self.name}-fallback", self.env, placing, self._opts())
        store = checkpoint_store(self.name, self.env)
        return Cluster(
            kubernetes_provider=self.provider,
            pools=placing,
            system_scheduling=off_spot(self.env),
            checkpoints=store,
            workspaces={one.namespace: one.service_account for one in self.env.workspaces},
            provides=frozenset(),
            ready=[],
            lifetime=None,
            exports=self._exports(store),
            make_workspaces=self._workspaces,
        )

    def _opts(self, *waits_for: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self.parent, providers=[self.provider], depends_on=list(waits_for))

    def _workspaces(self, operators: Sequence[pulumi.Resource]) -> None:
        annotations = dict(self.env.checkpoints.service_account_annotations)
        for one in self.env.workspaces:
            members = [person(member) for member in one.members]
            WorkspaceObjects(
                f"{self.name}-{one.namespace}",
                one,
                members,
                annotations,
                controller=self.env.operators.fallback.is_there,
                opts=self._opts(*operators),
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
        here = self.env.provided_by(Existing)
        return {
            "clusterName": here.name,
            "configureKubectl": f"kubectl config use-context {here.context}",
            **common_exports(self.env, store),
        }


def off_spot(env: Environment) -> Placement:
    """Where operators go on nodes of somebody else's: anywhere but on spot, by every label that is known to mean it.

    No node is for them alone, and a selector could not say what a node must not be.
    """
    values = {label: [value] for label, value in SPOT_SELECTORS.items()}
    for label, value in filter(None, (spot_mark(pool, env) for pool in env.spot_pools)):
        if value not in values.setdefault(label, []):
            values[label].append(value)
    return Placement({}, (), {label: tuple(found) for label, found in values.items()})


def person(member: str) -> Subject:
    """Somebody of `workspaces[].members`, as RBAC names people.

    Raises:
        ValueError: the text names nobody; validated settings have none such.
    """
    found = PERSON.fullmatch(member)
    if found is None:
        raise ValueError(f"{member} is neither a user: nor a group:")
    return subject("User" if found["kind"] == "user" else "Group", found["name"])


def build(name: str, environment: Environment, prices: Prices) -> Cluster:
    """The environment of a stack, for `clouds.registry`."""
    return ExistingEnvironment(name, {"environment": environment, "prices": prices}).cluster
