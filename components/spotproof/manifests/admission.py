"""Tolerations for pods that select spot, or ask for GPUs, without carrying them.

Manifests written for a plain EKS or AKS cluster select spot and tolerate nothing, because nothing is
tainted there. Here it is, and so the API server adds what they lack as it creates their pods: in
workspaces only, in CEL, with no webhook to keep alive.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from spotproof.manifests.metadata import metadata
from spotproof.manifests.scheduling import pool_tolerations
from spotproof.settings.environment import Environment
from spotproof.settings.pools import Pool
from spotproof.vocabulary import (
    GPU_RESOURCE,
    GPU_TOLERATION,
    POOL_LABEL,
    SPOT_SELECTORS,
    SPOT_TOLERATIONS,
    WORKSPACE_LABEL,
    Manifest,
    Toleration,
)

STABLE_SINCE: Final = (1, 36)
"""The first Kubernetes version that serves admissionregistration.k8s.io/v1 MutatingAdmissionPolicy without a gate."""

KINDS: Final = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")

SPOT_POLICY: Final = "spotproof-spot-tolerations"
GPU_POLICY: Final = "spotproof-gpu-toleration"

# A pod has no entry to select by, or one of several operators; only these two name what it runs on.
SELECTS_SPOT: Final = """\
object.spec.?nodeSelector.orValue({}).exists(key,
  key in variables.spot && object.spec.nodeSelector[key] in variables.spot[key])
|| object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])
  .exists(term, term.?matchExpressions.orValue([]).exists(each,
    each.operator == 'In' && each.key in variables.spot
    && each.values.exists(value, value in variables.spot[each.key])))"""

REQUESTS_GPU: Final = f"""\
[object.spec.containers, object.spec.?initContainers.orValue([])].exists(containers,
  containers.exists(container,
    '{GPU_RESOURCE}' in container.?resources.?requests.orValue({{}})
    || '{GPU_RESOURCE}' in container.?resources.?limits.orValue({{}})))"""

# The same two places, for a pool that is known by other labels than its name: all of them must be asked for.
SELECTS_POOL: Final = """\
variables.labels.all(key, key in object.spec.?nodeSelector.orValue({})
  && object.spec.nodeSelector[key] == variables.labels[key])
|| object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])
  .exists(term, variables.labels.all(key, term.?matchExpressions.orValue([]).exists(each,
    each.operator == 'In' && each.key == key && variables.labels[key] in each.values)))"""

# As the scheduler reads tolerations: no key with Exists is every key, no effect is every effect, no operator is Equal.
MISSING: Final = """\
variables.wanted.filter(wanted, !object.spec.?tolerations.orValue([]).exists(carried,
  carried.?key.orValue('') in ['', wanted.key]
  && (carried.?operator.orValue('Equal') == 'Exists'
    || (wanted.operator == 'Equal' && carried.?value.orValue('') == wanted.value))
  && carried.?effect.orValue('') in ['', wanted.effect]))"""

# One cannot append to a list that is not there.
PATCH: Final = """\
!variables.applies || size(variables.missing) == 0 ? [] :
(has(object.spec.tolerations) ? [] : [JSONPatch{op: 'add', path: '/spec/tolerations', value: []}])
+ variables.missing.map(each, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: each})"""


def is_served(kubernetes_version: str) -> bool:
    """Whether this version of Kubernetes (`1.36`, or as a server says it `v1.36.3`) takes the policies."""
    major, minor, *_ = kubernetes_version.removeprefix("v").split(".")
    return (int(major), int(minor)) >= STABLE_SINCE


def spot_tolerations(env: Environment) -> list[Manifest]:
    """The admission policies with their bindings; none below Kubernetes 1.36, where pods must bring their own.

    A pod selects spot by any key that is in use for it (`vocabulary.SPOT_SELECTORS`) or by the name of a spot pool,
    in its nodeSelector or in a required node affinity. It gets the constant set of all clouds, like a rendered job.
    A pod that requests GPUs gets that toleration, on either capacity. A pool with labels or taints of its own, which
    nodes of somebody else's have, has a policy of its own for its tolerations.
    """
    if not is_served(env.kubernetes_version):
        return []
    spot = {key: [value] for key, value in SPOT_SELECTORS.items()}
    if named := [pool.name for pool in env.spot_pools if pool.node_labels is None]:
        spot[POOL_LABEL] = named
    return [
        _policy(SPOT_POLICY, SPOT_TOLERATIONS, [_variable("spot", _literal(spot)), _variable("applies", SELECTS_SPOT)]),
        _binding(SPOT_POLICY),
        _policy(GPU_POLICY, (GPU_TOLERATION,), [_variable("applies", REQUESTS_GPU)]),
        _binding(GPU_POLICY),
        *(manifest for pool in env.pools for manifest in _of_a_pool(pool, env)),
    ]


def _of_a_pool(pool: Pool, env: Environment) -> list[Manifest]:
    """What the two general policies do not know: labels and taints that only this pool has."""
    wanted = pool_tolerations(pool, env.provider.spot_taint)
    if not wanted or (pool.node_labels is None and pool.taints is None):
        return []
    name = f"spotproof-pool-{pool.name}"
    labels = _variable("labels", _literal(pool.selector))
    return [_policy(name, wanted, [labels, _variable("applies", SELECTS_POOL)]), _binding(name)]


def _policy(name: str, wanted: Sequence[Toleration], variables: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": KINDS[0],
        "metadata": metadata(name),
        "spec": {
            # An error here leaves a pod without tolerations, which its own event then names; `Fail` would keep every
            # pod out of the workspaces, those that need nothing too. This is a help, not a guard.
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {"matchExpressions": [{"key": WORKSPACE_LABEL, "operator": "Exists"}]},
                "objectSelector": {},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                        "scope": "Namespaced",
                    }
                ],
            },
            "variables": [
                *variables,
                _variable("wanted", _literal(wanted)),
                _variable("missing", MISSING),
            ],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": PATCH}}],
        },
    }


def _binding(policy: str) -> Manifest:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": KINDS[1],
        "metadata": metadata(policy),
        "spec": {"policyName": policy},
    }


def _variable(name: str, expression: str) -> Manifest:
    return {"name": name, "expression": expression}


def _literal(value: Mapping[str, object] | Sequence[object]) -> str:
    """A CEL literal of text, lists and maps, which JSON is; one entry a line, so that a diff shows one."""
    if isinstance(value, Mapping):
        return "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in value.items()) + "\n}"
    return "[\n" + ",\n".join(f"  {json.dumps(each)}" for each in value) + "\n]"
