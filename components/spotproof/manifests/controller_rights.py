"""What the fallback controller may do, where, and what for: its roles are made from this, and so is their page.

Nothing here reads a Secret. What stops or deletes somebody's job or pod by name is a right in workspaces alone, where
the admission policies hold too: outside of them a job could be suspended and not be brought back. One right ends pods
by way of their node: NodeClaims are of no namespace, so it may delete them in the whole cluster, and the admission
policy of claim_admission.py refuses those of pools that are not ours. A pod of somebody else's on a pool of ours would
go too: the controller itself looks first that nothing is there but probes and DaemonSets.
"""

from typing import Final, NamedTuple

from spotproof.manifests.rbac import READ, Rule, account, binding, cluster_binding, cluster_role, role
from spotproof.vocabulary import API_GROUP, SYSTEM_NAMESPACE, Manifest

NAME: Final = "spotproof-controller"
"""Of the Deployment, its service account, its roles and its lease."""
USER: Final = f"system:serviceaccount:{SYSTEM_NAMESPACE}:{NAME}"
"""As the API server calls the service account."""
JOBSET: Final = "jobset.x-k8s.io"
RAY: Final = "ray.io"


class Right(NamedTuple):
    """Verbs on resources of one API group, and why; `names` where they are on single objects."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str
    names: tuple[str, ...] = ()

    def rule(self) -> Rule:
        """As a role has it."""
        written = {"apiGroups": [self.group], "resources": [*self.resources], "verbs": [*self.verbs]}
        return {**written, "resourceNames": [*self.names]} if self.names else written


IN_THE_CLUSTER: Final = (
    Right("", ("namespaces",), READ, "which namespaces are workspaces, and which are paused"),
    Right("", ("nodes", "pods"), READ, "where pods are, what they wait for, and how they and their nodes ended"),
    Right("batch", ("jobs",), READ, "the child Jobs of JobSets, which are gone before a job moves on"),
    Right(JOBSET, ("jobsets",), READ, "the jobs that name a fallback policy"),
    Right(RAY, ("rayclusters", "rayjobs"), READ, "the jobs that name a fallback policy, and whose pods are theirs"),
    Right(
        "karpenter.sh",
        ("nodeclaims",),
        (*READ, "delete"),
        "whether a node was reclaimed or Karpenter's own choice; to give back the node of a probe that nobody uses",
    ),
    Right(API_GROUP, ("fallbackpolicies",), READ, "the policies"),
    Right(API_GROUP, ("fallbackpolicies/status",), ("patch",), "to say on a policy whether it can be carried out"),
    Right(
        API_GROUP,
        ("trainingruns",),
        (*READ, "create", "patch", "delete"),
        "one for each job: what it has lived through",
    ),
    Right(API_GROUP, ("trainingruns/status",), ("patch",), "to write that down"),
    Right("events.k8s.io", ("events",), ("create",), "to tell the job's owner"),
)
IN_A_WORKSPACE: Final = (
    Right(JOBSET, ("jobsets",), ("patch",), "to suspend a job, to select another tier, to resume it"),
    Right(RAY, ("rayjobs",), ("patch",), "the same"),
    Right("batch", ("jobs",), ("delete",), "child Jobs of a suspended JobSet, which are made anew for the next tier"),
    Right("", ("pods/status",), ("patch",), "to say of a pod whose node is gone that it has failed"),
    Right("", ("pods",), ("delete",), "to delete that pod"),
)
AT_HOME: Final = (
    Right("", ("pods",), ("create", "delete"), "probes, which ask whether a tier has room"),
    Right("coordination.k8s.io", ("leases",), ("create",), "one of the replicas leads; RBAC knows no name at creation"),
    Right("coordination.k8s.io", ("leases",), ("get", "patch", "update"), "the same lease afterwards", (NAME,)),
)


def roles() -> list[Manifest]:
    """What it may do in the whole cluster and in its own namespace, bound to its service account."""
    who = account(NAME, SYSTEM_NAMESPACE)
    return [
        cluster_role(NAME, [each.rule() for each in IN_THE_CLUSTER]),
        cluster_binding(NAME, NAME, who),
        role(NAME, [each.rule() for each in AT_HOME], namespace=SYSTEM_NAMESPACE),
        binding(NAME, "Role", NAME, who, namespace=SYSTEM_NAMESPACE),
    ]


def workspace_roles(namespace: str) -> list[Manifest]:
    """What it may do in a workspace, and nowhere else."""
    return [
        role(NAME, [each.rule() for each in IN_A_WORKSPACE], namespace=namespace),
        binding(NAME, "Role", NAME, account(NAME, SYSTEM_NAMESPACE), namespace=namespace),
    ]
