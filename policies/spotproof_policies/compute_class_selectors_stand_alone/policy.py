"""Pods that choose a compute class leave spot or not to the class."""

from collections.abc import Iterator
from typing import Final

from spotproof.vocabulary import GKE_PROVISIONING_LABEL, GKE_SPOT_LABEL
from spotproof_policies.gke_pools import COMPUTE_CLASS_LABEL
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.workloads import WORKLOAD_TYPES, pod_templates, selected_keys

_SPOT: Final = (GKE_SPOT_LABEL, GKE_PROVISIONING_LABEL)


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every pod template that selects a compute class and spot beside it."""
    for template in pod_templates(resource):
        keys = selected_keys(template)
        beside = [key for key in _SPOT if key in keys] if COMPUTE_CLASS_LABEL in keys else []
        for key in beside:
            yield (
                f"Its pods ask for {COMPUTE_CLASS_LABEL} and for {key}, so the class can never fall through to its "
                "on-demand priorities and the pods stay pending in a stockout. Remove "
                f"{key} from {template.where('spec')}; the class's priorities say spot."
            )


POLICY = Policy(
    name="compute-class-selectors-stand-alone",
    description="Pods that select a compute class do not select spot beside it.",
    level="mandatory",
    severity="high",
    remedy="Select the compute class alone; write spot: true and spot: false as two priorities of the class.",
    url="https://cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes",
    judges=EachResource(WORKLOAD_TYPES, check),
)
