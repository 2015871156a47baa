"""What is the same inside every cluster: fallback policies, admission, workspaces."""

from collections.abc import Mapping, Sequence
from typing import Final

import pulumi

from spotproof.clouds.contract import Scheduling
from spotproof.clouds.objects import apply, object_name
from spotproof.clouds.options import after, child_of
from spotproof.manifests import admission, fallback_policy
from spotproof.manifests.rbac import Subject
from spotproof.manifests.workspaces import workspace
from spotproof.settings import Environment
from spotproof.settings.environment import Workspace

POLICIES: Final = "spotproof:kubernetes:FallbackPolicies"
WORKSPACE: Final = "spotproof:kubernetes:Workspace"


class FallbackPolicies(pulumi.ComponentResource):
    """The FallbackPolicy kind, its roles, the environment's policies, and the tolerations pods get on admission.

    The engine hands `deleted_with` down to the children: give the cluster, and none of them is deleted one by one.
    """

    def __init__(
        self,
        name: str,
        environment: Environment,
        pools: Mapping[str, Scheduling],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(POLICIES, name, {"policies": [one.name for one in environment.fallback_policies]}, opts)
        child = child_of(self, opts)
        kind = fallback_policy.crd()
        made = apply(object_name(name, kind), kind, child)
        for manifest in [*fallback_policy.aggregate_roles(), *admission.spot_tolerations(environment)]:
            apply(object_name(name, manifest), manifest, child)
        settings = {pool.name: pool for pool in environment.pools}
        for policy in environment.fallback_policies:
            tiers = fallback_policy.resolve_tiers(
                policy, pools=settings, scheduling=pools, price=lambda pool: pools[pool.name].price
            )
            manifest = fallback_policy.fallback_policy(policy, tiers=tiers)
            apply(object_name(name, manifest), manifest, after(child, made))
        self.register_outputs({})


class WorkspaceObjects(pulumi.ComponentResource):
    """A workspace's namespace, service account and role bindings.

    On destroy the namespace goes first, jobs and all, while the operators whose finalizers they carry still run: give
    pools and nodes as `depends_on`. `members` are who may work there, as the cloud's people reach Kubernetes;
    `annotations` bind the service account's identity where the cloud does it so, and may be known late. `controller`:
    whether a fallback controller, of this stack or of somebody else's, moves jobs on this cluster.
    """

    def __init__(  # noqa: PLR0913 - what a workspace is made of
        self,
        name: str,
        settings: Workspace,
        members: Sequence[Subject] = (),
        annotations: Mapping[str, pulumi.Input[str]] | None = None,
        *,
        controller: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(WORKSPACE, name, {"namespace": settings.namespace}, opts)
        child = child_of(self, opts)
        namespace, *rest = workspace(settings, members, annotations=annotations, controller=controller)
        home = apply(object_name(name, namespace), namespace, child)
        for manifest in rest:
            apply(object_name(name, manifest), manifest, after(child, home))
        self.register_outputs({})
