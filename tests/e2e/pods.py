"""Pods as a test writes them, and what a real API server makes of them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spotproof.kube.client import Kube
from spotproof.vocabulary import LOST_NODE_TAINTS

Object = dict[str, Any]


def pod_of(name: str, namespace: str, spec: Mapping[str, Any], labels: Mapping[str, str] | None = None) -> Object:
    """A pod around a spec that may lack what a scheduler does not read: an image."""
    containers = {
        key: [{"image": "none", **each} for each in spec[key]]
        for key in ("containers", "initContainers")
        if key in spec
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels or {})},
        "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, **spec, **containers},
    }


def tolerations_of(pod: Mapping[str, Any]) -> list[Object]:
    """A stored pod's tolerations without those of lost nodes, which Kubernetes adds to every pod."""
    return [each for each in pod["spec"].get("tolerations", []) if each.get("key") not in LOST_NODE_TAINTS]


def added(kube: Kube, pod: Object) -> list[Object]:
    """The tolerations that the API server adds to a pod as it is made; none is."""
    carried = pod["spec"].get("tolerations", [])
    return [each for each in tolerations_of(kube.create(pod, dry_run=True).object) if each not in carried]


def in_order(tolerations: Iterable[Mapping[str, Any]]) -> list[str]:
    """Tolerations for a comparison: which of several policies is asked first is the API server's own affair."""
    return sorted(json.dumps(each, sort_keys=True) for each in tolerations)
