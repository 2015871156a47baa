"""Objects that tests of several modules need, and looks that they share."""

from collections.abc import Mapping, Sequence
from typing import Any

from spotproof.kube.client import Kube

Object = dict[str, Any]
ANNOTATION = "rehearsal.spotproof.dev/"


def node(name: str, labels: Mapping[str, str] | None = None, taints: Sequence[Object] = (), gpus: int = 0) -> Object:
    """A static node of 8 CPUs and 64 GiB, to be made by `create`: apply would drop its status."""
    size = {"cpu": "8", "memory": "64Gi", "pods": "110", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": list(taints)},
        "status": {"allocatable": size, "capacity": size},
    }


def pod_spec(**more: Any) -> Object:
    """One container that would do nothing."""
    return {"containers": [{"name": "main", "image": "none"}], "terminationGracePeriodSeconds": 30, **more}


def pod(name: str, namespace: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Object:
    """A pod; `annotations` are rehearsal's own, without their prefix."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": knobs(annotations or {})},
        "spec": pod_spec(**spec),
    }


def knobs(annotations: Mapping[str, str]) -> dict[str, str]:
    """Rehearsal's annotations under their whole names."""
    return {f"{ANNOTATION}{key}": value for key, value in annotations.items()}


def in_phase(kube: Kube, namespace: str, phase: str, labels: str = "") -> list[Object]:
    """The namespace's pods of a phase."""
    return [each for each in kube.list("v1", "Pod", namespace, labels=labels) if each["status"]["phase"] == phase]


def condition(thing: Object, name: str) -> Object:
    """A condition of an object's status, or nothing."""
    return next((each for each in thing.get("status", {}).get("conditions", []) if each["type"] == name), {})
