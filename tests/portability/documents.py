"""Jobs as people write them: the AIchor document's fragments in a whole file, and Determined's choice of a pool."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from spotproof.vocabulary import Capacity

Json = dict[str, Any]

GKE_TOLERATION: Final = {
    "key": "cloud.google.com/gke-spot",
    "operator": "Equal",
    "value": "true",
    "effect": "NoSchedule",
}


@dataclass(frozen=True)
class Document:
    """How a job chooses its nodes, in the document's own words.

    `capacity` is what its author means; a pod that lands on the other one is on the wrong capacity.
    """

    words: str
    selectors: Mapping[str, str]
    tolerations: tuple[Mapping[str, str], ...]
    capacity: Capacity


DOCUMENTS: Final = (
    Document("EKS, AKS: `karpenter.sh/capacity-type: spot`", {"karpenter.sh/capacity-type": "spot"}, (), "spot"),
    Document(
        "EKS, AKS, the default: `karpenter.sh/capacity-type: on-demand`",
        {"karpenter.sh/capacity-type": "on-demand"},
        (),
        "on-demand",
    ),
    Document(
        "GKE: `gke-spot`, `gke-provisioning` and the toleration",
        {"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-provisioning": "spot"},
        (GKE_TOLERATION,),
        "spot",
    ),
)
"""The AIchor document, "Requesting a spot instance with dataplane"."""

OPERATORS: Final[tuple[Literal["jobset", "kuberay"], ...]] = ("jobset", "kuberay")


def experiment(operator: str, *, gpus: int, choice: Mapping[str, Any]) -> Json:
    """A whole experiment file around a fragment; `choice` goes where the document has extraSelectors."""
    accelerators = {"accelerators": {"gpu": {"count": gpus}}} if gpus else {}
    worker = {"count": 2, "resources": {"cpus": 1, "ramRatio": 2, **accelerators, **choice}}
    head = {"Head": {"count": 1, "resources": {"cpus": 1, "ramRatio": 2}}} if operator == "kuberay" else {}
    return {
        "spec": {
            "operator": operator,
            "image": "registry.example.org/train:1",
            "command": "python train.py",
            "types": {**head, "Worker": worker},
            "restartPolicy": {"backoffLimit": 5},
        }
    }


def raw_pod(document: Document, *, gpus: int) -> Json:
    """The worker's pod as an operator makes it that adds nothing of its own."""
    resources = {"cpu": "1", "memory": "2Gi", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    return {
        "containers": [{"name": "worker", "resources": {"requests": resources, "limits": resources}}],
        "nodeSelector": dict(document.selectors),
        "tolerations": [dict(one) for one in document.tolerations],
    }


def pods_of(job: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """Every pod template of a JobSet or RayJob, by its role."""
    spec = job["spec"]
    if job["kind"] == "JobSet":
        for replicated in spec["replicatedJobs"]:
            yield replicated["name"], replicated["template"]["spec"]["template"]["spec"]
        return
    cluster = spec["rayClusterSpec"]
    yield "head", cluster["headGroupSpec"]["template"]["spec"]
    for group in cluster["workerGroupSpecs"]:
        yield group["groupName"], group["template"]["spec"]
    if "submitterPodTemplate" in spec:
        yield "submitter", spec["submitterPodTemplate"]["spec"]
