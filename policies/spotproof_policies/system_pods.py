"""Finds the pods of spotproof's own namespace, and the containers in them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from spotproof.vocabulary import SYSTEM_NAMESPACE
from spotproof_policies.model import Resource
from spotproof_policies.reading import at, rows, table
from spotproof_policies.workloads import PodTemplate, pod_templates

SYSTEM_TYPES: Final = (
    "kubernetes:core/v1:Pod",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:apps/v1:StatefulSet",
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:batch/v1:Job",
    "kubernetes:batch/v1:CronJob",
)
"""Workloads as they stand in that namespace; jobs of operators belong to workspaces."""


def system_pods(resource: Resource) -> Iterator[PodTemplate]:
    """The pod templates of a workload in the namespace; of one elsewhere none."""
    if at(resource.props, "metadata", "namespace") == SYSTEM_NAMESPACE:
        yield from pod_templates(resource)


def containers(template: PodTemplate) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every container with where it stands, those of the start too."""
    for key in ("initContainers", "containers"):
        for index, container in enumerate(rows(at(template.spec, key))):
            yield template.where(f"spec.{key}[{index}]"), table(container)
