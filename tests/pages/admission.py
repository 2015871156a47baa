"""What the API server refuses before the controller sees it: the part of docs/messages.md that is CEL."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from spotproof.manifests import claim_admission, fallback_policy, progress_admission, training_run
from spotproof.manifests.job_admission import job_admission
from spotproof.settings import clock, load_stack, read_stack_file

ROOT: Final = Path(__file__).resolve().parents[2]
STACK: Final = "aws-dev"
"""Whose spot taint the rules on tolerations name; another cloud's have its own."""


def policies() -> Iterator[tuple[str, str, str, str]]:
    """Every rule of the admission policies: its policy, what is looked at, what it does, its message."""
    file = ROOT / "stacks" / f"Pulumi.{STACK}.yaml"
    env = load_stack(read_stack_file(file), today=clock.today(), source=file.name)
    made: list[Any] = [
        *job_admission(env),
        *progress_admission.progress_admission(),
        *claim_admission.claim_admission(),
    ]
    does = {
        each["spec"]["policyName"]: each["spec"]["validationActions"][0]
        for each in made
        if "policyName" in each["spec"]
    }
    for each in made:
        if each["kind"] == "ValidatingAdmissionPolicy":
            (rule,) = each["spec"]["matchConstraints"]["resourceRules"]
            looked_at = f"{', '.join(rule['operations'])} of {rule['resources'][0]}"
            name = each["metadata"]["name"]
            for validation in each["spec"]["validations"]:
                yield name, looked_at, {"Deny": "refused", "Warn": "warned"}[does[name]], validation["message"]


def of_kinds() -> Iterator[tuple[str, str, str]]:
    """Every rule of our own kinds: the kind, the field, its message."""
    for crd in (fallback_policy.crd(), training_run.crd()):
        made: Any = crd
        for version in made["spec"]["versions"]:
            for field, message in _rules(version["schema"]["openAPIV3Schema"], ""):
                yield made["spec"]["names"]["kind"], field or "the object", message


def _rules(schema: Mapping[str, Any], field: str) -> Iterator[tuple[str, str]]:
    for rule in schema.get("x-kubernetes-validations", []):
        yield field, rule["message"]
    for name, below in schema.get("properties", {}).items():
        yield from _rules(below, f"{field}.{name}" if field else name)
    if isinstance(items := schema.get("items"), Mapping):
        yield from _rules(items, f"{field}[]")
