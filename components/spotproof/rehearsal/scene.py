"""Everything a rehearsal sets up before its job is submitted: a stack's pools, kinds, policies and workspace."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests import admission, fallback_policy, training_run
from spotproof.manifests.checkpoints import CheckpointStore
from spotproof.manifests.gang import Job
from spotproof.manifests.jobs import render
from spotproof.manifests.metadata import metadata
from spotproof.manifests.scheduling import placement
from spotproof.manifests.workspaces import workspace
from spotproof.prices import Prices
from spotproof.rehearsal.default_job import NothingToTake
from spotproof.rehearsal.haste import hastened
from spotproof.rehearsal.pools import RehearsedPools, rehearsed
from spotproof.settings import Environment
from spotproof.settings.environment import Workspace
from spotproof.settings.experiment.checks import Case
from spotproof.settings.pools import Pool
from spotproof.vocabulary import Manifest

SPARE: Final = Workspace(namespace="rehearsal")
"""The workspace of a stack that has none."""
DISK_GIB: Final = 10


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One stack and one job, as they are put onto a local control plane."""

    stack: str
    environment: Environment
    pools: RehearsedPools
    kinds: tuple[Manifest, ...]
    """CustomResourceDefinitions, which must be served before the rest is applied."""
    objects: tuple[Manifest, ...]
    job: dict[str, Any]
    starts_on: tuple[Pool, ...]
    """Pools on which the job's pods are at first, each once."""
    policy: ResolvedPolicy | None = None
    """The fallback policy that the job names, with the times that its file says."""
    is_managed: bool = False
    """Whether the fallback controller acts."""

    @property
    def needs_ray(self) -> bool:
        """Whether the job is KubeRay's; JobSet's otherwise."""
        return self.job["kind"] == "RayJob"

    @property
    def name(self) -> str:
        """The job's name."""
        return str(self.job["metadata"]["name"])

    @property
    def fallbacks(self) -> tuple[Pool, ...]:
        """On-demand tiers that the policy can take the job to."""
        tiers = self.policy.tiers if self.policy else ()
        found = (self.environment.pool(tier.pool) for tier in tiers)
        return tuple(pool for pool in found if not pool.is_spot)

    @property
    def returns(self) -> bool:
        """Whether the policy brings the job back to a cheaper tier."""
        return self.policy is not None and self.policy.return_ is not None

    def on(self, kubernetes_version: str) -> "Scene":
        """The scene as a control plane of this version takes it: an older one than the stack's lacks kinds."""
        if admission.is_served(kubernetes_version):
            return self
        return replace(self, objects=tuple(each for each in self.objects if each["kind"] not in admission.KINDS))


def scene(  # noqa: PLR0913  # what a rehearsal is made of
    stack: str, case: Case, home: Workspace, store: CheckpointStore, prices: Prices, *, controller: bool = True
) -> Scene:
    """Set a rehearsal up.

    Args:
        stack: The stack's name.
        case: The job, in its environment.
        home: The workspace it runs in.
        store: Where it saves.
        prices: Prices of nodes, for the resolved policies and for what Karpenter chooses.
        controller: Whether the fallback controller acts; policies then have the times of a rehearsal.

    Raises:
        NothingToTake: no pod of the job is on spot.
    """
    env = case.env
    starts_on = tuple({landing.pool.name: landing.pool for landing in case.landed}.values())
    if not any(pool.is_spot for pool in starts_on):
        raise NothingToTake(
            f"the job starts on {' and '.join(pool.name for pool in starts_on)}, which is on-demand, so there is "
            "nothing to take away; write a fallbackPolicy or a pool on spot into the experiment"
        )
    written = list(policies(env, prices))
    named = case.experiment.spec.fallback_policy
    return Scene(
        stack=stack,
        environment=env,
        pools=rehearsed(env, prices),
        kinds=(fallback_policy.crd(), *([training_run.crd()] if controller else [])),
        objects=(
            *fallback_policy.aggregate_roles(),
            *admission.spot_tolerations(env),
            *(_in_seconds(each) if controller else each for each in written),
            *(each for one in _workspaces(env, home) for each in workspace(one, controller=controller)),
            *_claim(store, home.namespace),
        ),
        job=render(Job(_managed(case) if controller else case, home, store)),
        starts_on=starts_on,
        policy=next((policy for each in written if (policy := fallback_policy.read_policy(each)).name == named), None),
        is_managed=controller,
    )


def policies(env: Environment, prices: Prices) -> Iterator[Manifest]:
    """The stack's fallback policies, with every tier resolved."""
    pools = {pool.name: pool for pool in env.pools}
    where = {name: placement(pool, env.provider.spot_taint) for name, pool in pools.items()}
    for policy in env.fallback_policies:
        tiers = fallback_policy.resolve_tiers(
            policy, pools=pools, scheduling=where, price=lambda pool: prices.pool(env.provider, pool)
        )
        yield fallback_policy.fallback_policy(policy, tiers=tiers)


def _managed(case: Case) -> Case:
    """The job as it is rendered where a controller counts for it, which the stack may not have."""
    operators = case.env.operators
    fallback = operators.fallback.model_copy(update={"mode": "install"})
    env = case.env.model_copy(update={"operators": operators.model_copy(update={"fallback": fallback})})
    return replace(case, env=env)


def _in_seconds(written: Manifest) -> Manifest:
    policy = hastened(fallback_policy.read_policy(written))
    return fallback_policy.fallback_policy(policy, tiers=policy.tiers)


def _workspaces(env: Environment, home: Workspace) -> list[Workspace]:
    return list({each.namespace: each for each in (*env.workspaces, home)}.values())


def _claim(store: CheckpointStore, namespace: str) -> Iterator[Manifest]:
    """The claim a job mounts where its store is one, with a volume that is bound to it: nothing is ever mounted."""
    if store.volume_claim is None:
        return
    size, mode = {"storage": f"{DISK_GIB}Gi"}, ["ReadWriteMany"]
    name = f"{namespace}-{store.volume_claim}"
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": metadata(name),
        "spec": {
            "capacity": size,
            "accessModes": mode,
            "storageClassName": "",
            "hostPath": {"path": "/rehearsal"},
            "claimRef": {"name": store.volume_claim, "namespace": namespace},
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(store.volume_claim, namespace=namespace),
        "spec": {"accessModes": mode, "storageClassName": "", "volumeName": name, "resources": {"requests": size}},
    }
