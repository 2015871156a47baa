"""What an API server does to a pod as it is created: our mutating policies, and GKE's own admission.

The policies' data (which selectors mean spot, which tolerations are given) is read from the rendered objects; their
CEL is played in Python here, and run as it is by a real API server in the end-to-end tests.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from spotproof.manifests import admission
from spotproof.settings import Environment
from spotproof.vocabulary import GPU_RESOURCE, GPU_TOLERATION
from tests.portability.scheduler import Pod, requests

BROUGHT_BY_THE_CLOUD = frozenset({"gcp"})
"""Clouds whose API server runs ExtendedResourceToleration (GKE does; EKS and AKS do not: AKS issue 1449)."""


def admitted(pod: Pod, env: Environment) -> Pod:
    """The pod as it is stored: with the tolerations that the cluster adds."""
    tolerations = list(pod.get("tolerations") or [])
    for one in (*_from_policies(pod, env), *from_the_cloud(pod, env)):
        if one not in tolerations:
            tolerations.append(one)
    return {**pod, "tolerations": tolerations}


def _from_policies(pod: Pod, env: Environment) -> Iterator[Mapping[str, str]]:
    for manifest in admission.spot_tolerations(env):
        spec: Any = manifest["spec"]
        if manifest["kind"] != "MutatingAdmissionPolicy":
            continue
        variables = {each["name"]: each["expression"] for each in spec["variables"]}
        if _applies(variables, pod):
            yield from json.loads(variables["wanted"])


def _applies(variables: Mapping[str, str], pod: Pod) -> bool:
    if "spot" in variables:
        return _selects_any(pod, json.loads(variables["spot"]))
    if "labels" in variables:
        return _selects_all(pod, json.loads(variables["labels"]))
    return GPU_RESOURCE in requests(pod)


def _selects_any(pod: Pod, spot: Mapping[str, list[str]]) -> bool:
    return any(values & set(spot.get(key, [])) for term in _terms(pod) for key, values in term)


def _selects_all(pod: Pod, labels: Mapping[str, str]) -> bool:
    return any(
        all(any(key == k and v in values for key, values in term) for k, v in labels.items()) for term in _terms(pod)
    )


def _terms(pod: Pod) -> Iterator[list[tuple[str, set[str]]]]:
    """The nodeSelector, then each required term: keys with the values that are asked for."""
    selector: Mapping[str, str] = pod.get("nodeSelector") or {}
    yield [(key, {value}) for key, value in selector.items()]
    affinity: Any = pod.get("affinity") or {}
    required = affinity.get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    for term in required.get("nodeSelectorTerms", []):
        yield [(e["key"], set(e["values"])) for e in term.get("matchExpressions", []) if e["operator"] == "In"]


def from_the_cloud(pod: Pod, env: Environment) -> Iterator[Mapping[str, str]]:
    """What the cloud's API server adds by itself."""
    if env.provider.cloud in BROUGHT_BY_THE_CLOUD and GPU_RESOURCE in requests(pod):
        yield GPU_TOLERATION
