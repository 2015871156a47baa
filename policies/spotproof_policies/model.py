"""What a policy is: plain data and one plain function. Nothing here knows Pulumi.

A check reads properties through `reading`, which accepts plain dictionaries as well as the guarded
views of `pulumi_policy`. Touching a value that is not known yet ends the policy for that resource with
a note instead of a verdict: known things are read first, and policies are split finely.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["mandatory", "advisory"]
Severity: TypeAlias = Literal["low", "medium", "high", "critical"]
Props: TypeAlias = Mapping[str, Any]
Config: TypeAlias = Mapping[str, Any]
"""The policy's own settings, complete: the defaults of its schema are filled in."""


def _always(_key: str) -> bool:
    return True


@dataclass(frozen=True)
class Resource:
    """One resource as a policy sees it: what the program wrote, and the options Pulumi shows."""

    type: str
    name: str
    urn: str
    props: Props
    protect: bool = False
    parent: str = ""
    """URN of the parent, empty at the root."""
    delete_seconds: float = 0.0
    """The custom timeout for deletion; 0 when the program leaves it to the provider."""
    dependencies: tuple[str, ...] = ()
    """URNs; filled for stack policies only, since the engine sends none with a single resource."""
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Property -> URNs that its value comes from; among `dependencies` too, which also hold what is only waited for."""
    is_known: Callable[[str], bool] = _always
    """Whether a property's own value is known, asked without touching it. For single resources only."""


@dataclass(frozen=True)
class Stack:
    """All resources together, once every one of them is registered."""

    resources: tuple[Resource, ...]

    def of(self, *types: str) -> tuple[Resource, ...]:
        """The resources of these types, in the order of registration."""
        return tuple(resource for resource in self.resources if resource.type in types)

    def children(self, parent: Resource, child_type: str) -> tuple[Resource, ...]:
        """The direct children of one type."""
        return tuple(child for child in self.of(child_type) if child.parent == parent.urn)

    @cached_property
    def _direct(self) -> dict[str, tuple[str, ...]]:
        return {resource.urn: resource.dependencies for resource in self.resources}

    def depends_on(self, later: Resource, earlier: Resource) -> bool:
        """Whether `later` is made after `earlier` and deleted before it, directly or through others."""
        seen: set[str] = set()
        to_visit = [later.urn]
        while to_visit:
            urn = to_visit.pop()
            if urn == earlier.urn:
                return True
            if urn not in seen:
                seen.add(urn)
                to_visit.extend(self._direct.get(urn, ()))
        return False


@dataclass(frozen=True)
class Finding:
    """One sentence about one resource of a stack."""

    resource: Resource
    sentence: str


ResourceCheck: TypeAlias = Callable[[Resource, Config], Iterator[str]]
StackCheck: TypeAlias = Callable[[Stack, Config], Iterator[Finding]]


@dataclass(frozen=True)
class EachResource:
    """The policy judges resources of these types one by one, before they are made."""

    types: tuple[str, ...]
    check: ResourceCheck


@dataclass(frozen=True)
class WholeStack:
    """The policy judges how resources fit together, or that one is missing.

    It sees outputs. A component shows there only what it registered as outputs, never its inputs.
    """

    reads: tuple[str, ...]
    """The types whose properties it reads. Of all others it sees name, parent and dependencies only."""
    check: StackCheck
    about: tuple[str, ...] = ()
    """The types of which a stack must have one for it to have anything to say; empty: it is always asked."""


@dataclass(frozen=True)
class Policy:
    """One rule: its name is its folder with hyphens; the rest is what a reader of a violation needs."""

    name: str
    description: str
    """One sentence that states the rule, as it reads when the rule is kept."""
    level: Level
    severity: Severity
    remedy: str
    """What to write instead, with the settings key as our user writes it, or the field in a foreign program."""
    url: str
    judges: EachResource | WholeStack
    config_schema: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """JSON schema of each property; every one has a default."""

    @property
    def folder(self) -> str:
        """The folder that holds the policy."""
        return self.name.replace("-", "_")

    @property
    def defaults(self) -> dict[str, Any]:
        """The configuration when nobody writes one."""
        return {key: schema["default"] for key, schema in self.config_schema.items()}
