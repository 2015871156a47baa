"""What is read of the objects of a watch, as types: the decoder passes over all else without making it.

Of a pod's 6 kB of JSON that is a tenth, and to decode all of it took as long as everything that is done with it
afterwards (69 us). What a projection reads and a shape lacks is lost: a test holds the two together on every recorded
object. Values have any type here, so that nothing a server sends is refused for its own.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, get_type_hints


class Owner(TypedDict, total=False):
    """Of ownerReferences."""

    kind: Any
    name: Any
    uid: Any


class Metadata(TypedDict, total=False):
    """Of every object."""

    name: Any
    namespace: Any
    uid: Any
    resourceVersion: Any
    generation: Any
    creationTimestamp: Any
    deletionTimestamp: Any
    deletionGracePeriodSeconds: Any
    labels: Any
    annotations: Any
    ownerReferences: list[Owner] | None


class Condition(TypedDict, total=False):
    """Of a status."""

    type: Any
    status: Any
    reason: Any
    message: Any
    lastTransitionTime: Any


class Ended(TypedDict, total=False):
    """How a container ended."""

    exitCode: Any
    reason: Any
    finishedAt: Any


class ContainerState(TypedDict, total=False):
    """Of a container: only the one that is over is read."""

    terminated: Ended


class ContainerStatus(TypedDict, total=False):
    """Of a container of a pod."""

    name: Any
    state: ContainerState


class PodSpec(TypedDict, total=False):
    """Where it is, and where it may be."""

    nodeName: Any
    nodeSelector: Any


class PodStatus(TypedDict, total=False):
    """How it is, and how it ended."""

    phase: Any
    reason: Any
    conditions: list[Condition]
    containerStatuses: list[ContainerStatus]


class Pod(TypedDict, total=False):
    """Pod."""

    metadata: Metadata
    spec: PodSpec
    status: PodStatus


class Taint(TypedDict, total=False):
    """Of a node."""

    key: Any
    value: Any
    effect: Any


class NodeSpec(TypedDict, total=False):
    """Who may come."""

    taints: list[Taint]


class WithConditions(TypedDict, total=False):
    """A status of which the conditions are read."""

    conditions: list[Condition]


class Node(TypedDict, total=False):
    """Node."""

    metadata: Metadata
    spec: NodeSpec
    status: WithConditions


class ClaimStatus(WithConditions, total=False):
    """Which node it became."""

    nodeName: Any


class NodeClaim(TypedDict, total=False):
    """NodeClaim, of Karpenter."""

    metadata: Metadata
    status: ClaimStatus


class PodTemplateSpec(TypedDict, total=False):
    """Of a Job's pods."""

    spec: PodSpec


class JobSpec(TypedDict, total=False):
    """How much of it there is to be."""

    suspend: Any
    completions: Any
    template: PodTemplateSpec


class JobStatus(WithConditions, total=False):
    """Its counters."""

    active: Any
    terminating: Any
    succeeded: Any


class Job(TypedDict, total=False):
    """Job."""

    metadata: Metadata
    spec: JobSpec
    status: JobStatus


class RayCluster(TypedDict, total=False):
    """RayCluster, of KubeRay."""

    metadata: Metadata
    status: WithConditions


class OnlyMetadata(TypedDict, total=False):
    """A kind of which nothing else is read."""

    metadata: Metadata


def carrying(labels: Iterable[str], shape: type) -> type:
    """A shape of whose labels only these are made: a pod of a JobSet has 25, of which 3 are read."""
    made = _shape("Labels", dict.fromkeys(labels, Any))
    metadata = _shape("Metadata", {**get_type_hints(Metadata), "labels": made})
    return _shape(shape.__name__, {**get_type_hints(shape), "metadata": metadata})


def _shape(name: str, fields: Mapping[str, Any]) -> type:
    make: Any = TypedDict  # its fields are known only now
    return make(name, fields, total=False)
