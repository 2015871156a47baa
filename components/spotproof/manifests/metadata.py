"""The metadata every object of ours carries."""

from collections.abc import Mapping
from typing import Final

PART_OF: Final = {"app.kubernetes.io/part-of": "spotproof"}
"""Not `managed-by`: that one tells which tool applies an object, and here it is not the one that made it."""


def metadata(
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Name, namespace, labels and annotations as Kubernetes has them; what is empty is left out."""
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "labels": {**PART_OF, **(labels or {})},
        **({"annotations": dict(annotations)} if annotations else {}),
    }
