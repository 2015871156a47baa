"""A ComputeClass is made once GKE has installed its definition, up to an hour after the cluster."""

from collections.abc import Iterator
from typing import Final

from spotproof_policies.gke_pools import GKE_CLUSTER
from spotproof_policies.model import Config, Finding, Policy, Resource, Stack, WholeStack

COMPUTE_CLASS: Final = "kubernetes:cloud.google.com/v1:ComputeClass"
_WAITING: Final = ("command:", "time:", "kubernetes:batch/v1:Job")
"""Beginnings of types that can wait for a definition. A cluster or a node pool is ready long before."""


def check(stack: Stack, _config: Config) -> Iterator[Finding]:
    """Yield every ComputeClass that is applied as soon as its new cluster answers; reads no property."""
    clusters = stack.of(GKE_CLUSTER)
    if not clusters:
        return
    waiting = [one for one in stack.resources if one.type.startswith(_WAITING) and _after_any(stack, one, clusters)]
    for compute_class in stack.of(COMPUTE_CLASS):
        if not any(stack.depends_on(compute_class, one) for one in waiting):
            yield Finding(
                compute_class,
                "This ComputeClass is applied as soon as the new cluster answers, and GKE may install its definition "
                "an hour later, so the first update fails with `no matches for kind`. Let it depend on a command that "
                "waits (kubectl wait --for=condition=established crd/computeclasses.cloud.google.com) and depends on "
                "the cluster, or make it in a second program.",
            )


def _after_any(stack: Stack, one: Resource, clusters: tuple[Resource, ...]) -> bool:
    return any(stack.depends_on(one, cluster) for cluster in clusters)


POLICY = Policy(
    name="compute-classes-wait-for-their-crd",
    description="A ComputeClass in the program that makes its cluster waits for the definition that GKE installs.",
    level="mandatory",
    severity="medium",
    remedy="Depend on something that waits for the definition, or make compute classes in a second program.",
    url="https://cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes",
    judges=WholeStack((), check, about=(COMPUTE_CLASS,)),
)
