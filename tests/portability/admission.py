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
    added = [*_from_policies(pod, env), *_from_the_cloud(pod, env)]
    carried = list(pod.get("tolerations") or [])
    return {**pod, "tolerations": [*carried, *(one for one in added if one not in carried)]}


def _from_policies(pod: Pod, env: Environment) -> Iterator[Mapping[str, str]]:
    for manifest in admission.spot_tolerations(env):
        spec: Any = manifest["spec"]
        if manifest["kind"] != "MutatingAdmissionPolicy":
            continue
        variables = {each["name"]: each["expression"] for each in spec["variables"]}
        spot = json.loads(variables["spot"]) if "spot" in variables else None
        applies = GPU_RESOURCE in requests(pod) if spot is None else _selects(pod, spot)
        if applies:
            yield from json.loads(variables["wanted"])


def _selects(pod: Pod, spot: Mapping[str, list[str]]) -> bool:
    selector: Mapping[str, str] = pod.get("nodeSelector") or {}
    affinity: Any = pod.get("affinity") or {}
    required = affinity.get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    expressions = [each for term in required.get("nodeSelectorTerms", []) for each in term.get("matchExpressions", [])]
    return any(value in spot.get(key, []) for key, value in selector.items()) or any(
        each["operator"] == "In" and set(each["values"]) & set(spot.get(each["key"], [])) for each in expressions
    )


def _from_the_cloud(pod: Pod, env: Environment) -> Iterator[Mapping[str, str]]:
    if env.provider.cloud in BROUGHT_BY_THE_CLOUD and GPU_RESOURCE in requests(pod):
        yield GPU_TOLERATION
