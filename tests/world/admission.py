"""What is refused at a write: JobSet's webhook, as far as a move meets it."""

from collections.abc import Mapping
from typing import Any, Final

from spotproof.controller.kinds import JOBSET, Kind, Object
from spotproof.kube.client import Refused

MUTABLE: Final = ("nodeSelector", "tolerations", "schedulingGates")
MUTABLE_METADATA: Final = ("labels", "annotations")
"""What of a JobSet's pod templates may change while it is suspended, before or after the write (jobset_webhook.go)."""


def admit(kind: Kind, old: Object | None, new: Object) -> None:
    """Let a write pass.

    Raises:
        Refused: 422, as the webhook answers.
    """
    if kind != JOBSET or old is None or new["spec"] is old["spec"]:
        return
    suspended = bool(old["spec"].get("suspend") or new["spec"].get("suspend"))
    was, is_now = (_fixed(each["spec"], suspended=suspended) for each in (old, new))
    if was != is_now:
        raise Refused(422, "spec.replicatedJobs: Invalid value: field is immutable", "Invalid")


def _fixed(spec: Mapping[str, Any], *, suspended: bool) -> Mapping[str, Any]:
    rest = {key: value for key, value in spec.items() if key != "suspend"}
    if not suspended:
        return rest
    return {**rest, "replicatedJobs": [_of_role(each) for each in rest["replicatedJobs"]]}


def _of_role(role: Mapping[str, Any]) -> Mapping[str, Any]:
    job = role["template"]["spec"]
    template = job["template"]
    pod = {
        "metadata": {key: value for key, value in template.get("metadata", {}).items() if key not in MUTABLE_METADATA},
        "spec": {key: value for key, value in template["spec"].items() if key not in MUTABLE},
    }
    return {**role, "template": {**role["template"], "spec": {**job, "template": pod}}}
