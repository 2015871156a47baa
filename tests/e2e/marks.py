"""Whether a change of an admission policy is in effect: the API server reads it some time after it has taken it.

The version is told by a rule of the tests' own at the end of the policy: it refuses one name, by a message of its own.
"""

import copy
from collections.abc import Mapping
from typing import Any, Final

from spotproof.kube.client import Kube, Refused

EFFECT_SECONDS: Final = 60
_CONTAINER: Final[Mapping[str, object]] = {"name": "none", "image": "none"}
_POD: Final[Mapping[str, object]] = {"spec": {"restartPolicy": "Never", "containers": [_CONTAINER]}}
_HEAD: Final[Mapping[str, object]] = {"rayStartParams": {}, "template": _POD}

MARKED: Final[tuple[Mapping[str, Any], ...]] = (
    {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": [{"name": "none", "template": {"spec": {"template": _POD}}}]},
    },
    {"apiVersion": "ray.io/v1", "kind": "RayJob", "spec": {"rayClusterSpec": {"headGroupSpec": _HEAD}}},
    {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": _POD}},
)
"""The least of every kind that a policy looks at."""


def _said(mark: str) -> str:
    return f"the rules of {mark} are in effect"


def with_mark(policy: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """A ValidatingAdmissionPolicy with a rule that says whose version it is."""
    marked = copy.deepcopy(dict(policy))
    rule = {"expression": f"object.metadata.name != 'mark-{mark}'", "message": _said(mark), "reason": "Invalid"}
    marked["spec"]["validations"].append(rule)
    return marked


def wait_for_mark(kube: Kube, job: Mapping[str, Any], namespace: str, mark: str) -> None:
    """Wait until this version judges jobs of this kind in the namespace."""
    marked = {**job, "metadata": {"name": f"mark-{mark}", "namespace": namespace}}
    kube.wait(lambda: _refused(kube, marked, _said(mark)), _said(mark), EFFECT_SECONDS)


def _refused(kube: Kube, job: dict[str, Any], message: str) -> bool:
    try:
        kube.create(job, dry_run=True)
    except Refused as refused:
        if message in refused.message:
            return True
        raise
    return False
