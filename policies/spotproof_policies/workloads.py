"""Finds the pods of a workload: typed Kubernetes objects and the job objects of operators."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spotproof_policies.model import Props, Resource
from spotproof_policies.reading import at, rows, table, text


@dataclass(frozen=True)
class PodTemplate:
    """What the pods of a workload will be. `path` is where `pod` stands, for sentences; it has no dot at its end."""

    path: str
    pod: Mapping[str, Any]

    @property
    def labels(self) -> Mapping[str, Any]:
        """Labels of the pods."""
        return table(at(self.pod, "metadata", "labels"))

    @property
    def spec(self) -> Mapping[str, Any]:
        """Their pod spec."""
        return table(at(self.pod, "spec"))

    @property
    def node_selector(self) -> Mapping[str, Any]:
        """The labels of the nodes they may land on."""
        return table(at(self.spec, "nodeSelector"))

    def where(self, path: str) -> str:
        """A path inside the pod, as it stands in the resource."""
        return ".".join(part for part in (self.path, path) if part)


def _itself(props: Props) -> Iterator[PodTemplate]:
    yield PodTemplate("", props)


def _template(*path: str) -> Callable[[Props], Iterator[PodTemplate]]:
    def read(props: Props) -> Iterator[PodTemplate]:
        yield PodTemplate(".".join(path), table(at(props, *path)))

    return read


def _job_set(props: Props) -> Iterator[PodTemplate]:
    inside = ("template", "spec", "template")
    for index, job in enumerate(rows(at(props, "spec", "replicatedJobs"))):
        yield PodTemplate(f"spec.replicatedJobs[{index}].{'.'.join(inside)}", table(at(job, *inside)))


def _ray(*above: str) -> Callable[[Props], Iterator[PodTemplate]]:
    def read(props: Props) -> Iterator[PodTemplate]:
        cluster, written = at(props, *above), ".".join(above)
        head = ("headGroupSpec", "template")
        yield PodTemplate(f"{written}.{'.'.join(head)}", table(at(cluster, *head)))
        for index, group in enumerate(rows(at(cluster, "workerGroupSpecs"))):
            yield PodTemplate(f"{written}.workerGroupSpecs[{index}].template", table(at(group, "template")))

    return read


WORKLOADS: Final[dict[str, Callable[[Props], Iterator[PodTemplate]]]] = {
    "kubernetes:core/v1:Pod": _itself,
    "kubernetes:apps/v1:Deployment": _template("spec", "template"),
    "kubernetes:apps/v1:StatefulSet": _template("spec", "template"),
    "kubernetes:apps/v1:DaemonSet": _template("spec", "template"),
    "kubernetes:batch/v1:Job": _template("spec", "template"),
    "kubernetes:batch/v1:CronJob": _template("spec", "jobTemplate", "spec", "template"),
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet": _job_set,
    "kubernetes:ray.io/v1:RayJob": _ray("spec", "rayClusterSpec"),
    "kubernetes:ray.io/v1:RayCluster": _ray("spec"),
}
"""Resource type -> the pod templates in it."""

WORKLOAD_TYPES: Final = tuple(WORKLOADS)

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_templates(resource: Resource) -> Iterator[PodTemplate]:
    """Every pod template of a resource whose type is in `WORKLOAD_TYPES`."""
    return WORKLOADS[resource.type](resource.props)


def required_expressions(template: PodTemplate) -> Iterator[Mapping[str, Any]]:
    """The expressions of its required node affinity."""
    for term in rows(at(template.spec, "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")):
        yield from (table(expression) for expression in rows(at(term, "matchExpressions")))


def selected_keys(template: PodTemplate) -> frozenset[str]:
    """Node labels that decide where the pods may land, by selector or required affinity."""
    by_affinity = {text(at(expression, "key")) for expression in required_expressions(template)}
    return frozenset({*set(template.node_selector), *by_affinity})
