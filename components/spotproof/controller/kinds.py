"""Kinds of object by the names that a request has for them, and the labels that lead from one to another."""

from typing import Any, Final, NamedTuple

from spotproof.vocabulary import API_VERSION

Object = dict[str, Any]


class Kind(NamedTuple):
    """A kind of object, as a request names it."""

    api_version: str
    kind: str


POD: Final = Kind("v1", "Pod")
NODE: Final = Kind("v1", "Node")
NAMESPACE: Final = Kind("v1", "Namespace")
JOB: Final = Kind("batch/v1", "Job")
JOBSET: Final = Kind("jobset.x-k8s.io/v1alpha2", "JobSet")
RAYJOB: Final = Kind("ray.io/v1", "RayJob")
RAY_CLUSTER: Final = Kind("ray.io/v1", "RayCluster")
NODE_CLAIM: Final = Kind("karpenter.sh/v1", "NodeClaim")
POLICY: Final = Kind(API_VERSION, "FallbackPolicy")
RUN: Final = Kind(API_VERSION, "TrainingRun")
EVENT: Final = Kind("events.k8s.io/v1", "Event")
LEASE: Final = Kind("coordination.k8s.io/v1", "Lease")

JOBSET_NAME: Final = "jobset.sigs.k8s.io/jobset-name"
"""Label of child Jobs and pods of a JobSet."""
RAY_CLUSTER_NAME: Final = "ray.io/cluster"
"""Label of the pods of a Ray cluster, heads and workers."""
