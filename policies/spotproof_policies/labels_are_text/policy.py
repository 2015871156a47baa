"""Labels, and what selects by them, are text: "true" and not true."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.pools import POOL_TYPES, pools_in
from spotproof_policies.reading import at, rows, text
from spotproof_policies.workloads import WORKLOAD_TYPES, pod_templates, required_expressions


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every label value that is no text, on pools, on pods and where pods select nodes."""
    if resource.type in POOL_TYPES:
        for pool in pools_in(resource):
            yield from _labels(pool.labels, f"{pool.written.subject} has in {pool.written.labels}")
        return
    for template in pod_templates(resource):
        yield from _labels(template.node_selector, f"Its pods have in {template.where('spec.nodeSelector')}")
        yield from _labels(template.labels, f"Its pods have in {template.where('metadata.labels')}")
        for expression in required_expressions(template):
            yield from _values(expression)


def _labels(labels: Mapping[str, Any], where: str) -> Iterator[str]:
    for key in sorted(set(labels)):
        value = labels[key]
        if not isinstance(value, str):
            yield (
                f"{where} the label `{key}` whose value is {_kind(value)}, so the object is refused, or what "
                'compares strings never matches it. Write it in quotes, for example "true".'
            )


def _values(expression: Mapping[str, Any]) -> Iterator[str]:
    for value in rows(at(expression, "values")):
        if not isinstance(value, str):
            yield (
                f"The node affinity on `{text(at(expression, 'key'))}` compares with {_kind(value)}, so the object is "
                'refused, or no node ever matches. Write it in quotes, for example "true".'
            )


def _kind(value: Any) -> str:
    return "a boolean" if isinstance(value, bool) else "not a string"


POLICY = Policy(
    name="labels-are-text",
    description="Values of node labels, pod labels and node selectors are strings.",
    level="mandatory",
    severity="high",
    remedy='Write label values in quotes: "true", "1".',
    url="https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/",
    judges=EachResource((*POOL_TYPES, *WORKLOAD_TYPES), check),
)
