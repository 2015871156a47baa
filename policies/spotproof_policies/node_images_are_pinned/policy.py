"""Nodes run the machine image that was tested, until somebody changes it."""

from collections.abc import Iterator
from typing import Any

from spotproof_policies.karpenter_pools import EC2_NODE_CLASS
from spotproof_policies.model import Config, EachResource, Policy, Resource
from spotproof_policies.reading import at, rows, text

_WINDOWS = "windows"
_MOVING_PATHS = ("/recommended/", "/latest/")


def check(resource: Resource, _config: Config) -> Iterator[str]:
    """Yield every term by which AWS decides when the image changes."""
    terms = rows(at(resource.props, "spec", "amiSelectorTerms"))
    if not terms:
        yield (
            "This EC2NodeClass selects no machine image, so the API server refuses it. "
            "Write spec.amiSelectorTerms with one alias, for example al2023@v20261015."
        )
    for term in terms:
        moving = _moving(term)
        if moving:
            yield (
                f"The image `{moving}` moves, so nodes drift and are replaced under running jobs whenever a new one is "
                "published, with a driver nobody tried. Write a dated version, for example al2023@v20261015."
            )


def _moving(term: Any) -> str:
    """The part of a term that follows new releases, or an empty string."""
    alias = text(at(term, "alias"))
    family, _, version = alias.partition("@")
    # Karpenter accepts Windows aliases with @latest only.
    if alias and not family.startswith(_WINDOWS) and version in {"", "latest"}:
        return alias
    name = text(at(term, "name"))
    if "*" in name:
        return name
    parameter = text(at(term, "ssmParameter"))
    return parameter if any(path in f"{parameter}/" for path in _MOVING_PATHS) else ""


POLICY = Policy(
    name="node-images-are-pinned",
    description="Node classes pin their machine image to one version.",
    level="mandatory",
    severity="medium",
    remedy="Write a dated alias in spec.amiSelectorTerms; pools of the settings take theirs from one tested version.",
    url="https://karpenter.sh/docs/concepts/nodeclasses/",
    judges=EachResource((EC2_NODE_CLASS,), check),
)
