"""The TrainingRun kind: made from the classes that the controller writes its objects from."""

from typing import Any, Final

from spotproof.fallback.record import KIND, PLURAL, TrainingRunSpec, TrainingRunStatus
from spotproof.manifests.crd import AGE, Column, definition, keyed, top_level
from spotproof.manifests.structural import Schema, structural
from spotproof.vocabulary import Manifest

COLUMNS: Final = (
    Column("Policy", "string", ".spec.policy"),
    Column("Tier", "string", ".status.tier"),
    Column("Phase", "string", ".status.phase"),
    Column("Since", "date", ".status.since"),
    Column("Attempt", "integer", ".status.attempt"),
    Column("Evictions", "integer", ".status.evictions"),
    Column("Errors", "integer", ".status.errors"),
    Column("Waiting", "date", ".status.waitingSince"),
    Column("Reason", "string", ".status.reason"),
    AGE,
    Column("Job", "string", ".spec.job.kind", priority=1),
    Column("Message", "string", ".status.message", priority=1),
)
"""One line that tells the story of a job; `-o wide` adds the sentence."""

SAME_JOB: Final = {
    "rule": "self == oldSelf",
    "message": "a TrainingRun is of one job for ever; another job of the same name has one of its own",
}


def crd() -> Manifest:
    """The CustomResourceDefinition of TrainingRun."""
    return definition(kind=KIND, plural=PLURAL, scope="Namespaced", short_name="tr", schema=_schema(), columns=COLUMNS)


def _schema() -> Schema:
    spec = structural(TrainingRunSpec)
    spec["properties"]["job"]["x-kubernetes-validations"] = [dict(SAME_JOB)]
    status: Schema = _as_written(structural(TrainingRunStatus))
    fields = status["properties"]
    fields["tiers"] = keyed(fields["tiers"], "pool")
    fields["conditions"] = keyed(fields["conditions"], "type")
    return top_level(
        "What a job with a fallback policy has lived through, and where it stands. The controller makes one for each "
        "such job, with the job's name.",
        spec=spec,
        status=status,
    )


def _as_written(node: Any) -> Any:
    """A schema without defaults: what is stored is what the controller wrote, and its classes know what is left out."""
    if isinstance(node, list):
        return [_as_written(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _as_written(value) for key, value in node.items() if key != "default"}
    if "properties" in kept:
        kept["properties"] = {name: _as_written(value) for name, value in node["properties"].items()}
    return kept
