"""What a preview is made of: values, resources, findings, violations; plain frozen records."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, Protocol, TypeAlias

from spotproof.settings.machines import Quota

Mode: TypeAlias = Literal["unknown", "known"]
MODES: Final[tuple[Mode, ...]] = ("unknown", "known")
Severity: TypeAlias = Literal["error", "warning"]
Location: TypeAlias = tuple[str, int]
"""A file (absolute path) and a line in it."""

NOTE: Final = "note"
"""Level of what says that a policy could not judge a value that is not known yet. It is never a violation."""
STACK_TYPE: Final = "pulumi:pulumi:Stack"
PROVIDER_TYPE_PREFIX: Final = "pulumi:providers:"
REDACTED: Final = "[secret]"
# A secret such as "1" or "no" would blank half of every report, and telling it gives nothing away. The Pulumi CLI
# draws the line at the same length (sdk/go/common/util/logging, CreateFilter).
SHORTEST_REDACTED: Final = 3
ENCRYPTED: Final = "secret-that-only-pulumi-can-decrypt"
"""Stands for a value encrypted in a stack file: a preview has no key and needs none."""


class Unknown(Enum):
    """The one value that is not known before `pulumi up`."""

    UNKNOWN = "<unknown>"


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(frozen=True)
class Secret:
    """A value marked secret. The plain value is here because policies judge it; it is never shown."""

    value: object = field(repr=False)


@dataclass(frozen=True)
class Asset:
    """A file or an archive: `kind` is "asset" or "archive", `source` its `path`, `text`, `uri` or `assets`."""

    kind: Literal["asset", "archive"]
    source: Mapping[str, object]


@dataclass(frozen=True)
class Reference:
    """Another resource as a value; `id` is None for a component."""

    urn: str
    id: object = None


@dataclass(frozen=True)
class Resource:
    """One resource as it was registered with the engine.

    `inputs` and `outputs` hold None, bool, int, float, str, list, dict with wire (camelCase) keys, and the values of
    this module; an integral number is an int. `outputs` is what a component registered, or in known mode what was
    invented. `provider` is "urn::id", or "" for the default provider; `parent` is "" for the stack alone.
    """

    urn: str
    type: str
    name: str
    custom: bool
    parent: str
    provider: str
    inputs: Mapping[str, object]
    dependencies: tuple[str, ...] = ()
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    protect: bool = False
    retain_on_delete: bool = False
    remote: bool = False
    read: bool = False
    id: object = UNKNOWN
    aliases: tuple[str, ...] = ()
    version: str = ""
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    delete_before_replace: bool = False
    custom_timeouts: Mapping[str, str] = field(default_factory=dict)
    deleted_with: str = ""
    import_id: str = ""
    providers: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, object] = field(default_factory=dict)
    location: Location | None = None


@dataclass(frozen=True)
class Message:
    """What the program said through `pulumi.log`: severity is "info", "warning" or "error"."""

    severity: str
    urn: str
    text: str


@dataclass(frozen=True)
class Capture:
    """Everything one run of a program registered, resources sorted by URN."""

    project: str
    stack: str
    mode: Mode
    resources: tuple[Resource, ...]
    outputs: Mapping[str, object] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    invokes: tuple[str, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Every text that was marked secret, so that `redact` can take it out of what is shown."""

    def redact(self, text: str) -> str:
        """Return `text` without any secret value of this run."""
        return redact(text, self.secrets)


def redact(text: str, secrets: frozenset[str]) -> str:
    """Return `text` with every one of `secrets` that is long enough to matter replaced by "[secret]"."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_REDACTED:
            text = text.replace(secret, REDACTED)
            # As `repr` and JSON write a key of several lines.
            text = text.replace(json.dumps(secret)[1:-1], REDACTED)
    return text


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with one input; `path` is as in `spec.template[0].name`."""

    urn: str
    path: str
    message: str
    severity: Severity = "error"
    modes: tuple[Mode, ...] = ()


@dataclass(frozen=True)
class Violation:
    """One sentence of one policy; `level` is "mandatory" or "advisory", `remedy` may be empty."""

    policy: str
    level: str
    severity: str
    urn: str
    message: str
    remedy: str = ""
    modes: tuple[Mode, ...] = ()


class Cost(Protocol):
    """What the reports need of a cost estimate."""

    def as_json(self) -> object:
        """Return plain JSON values."""
        ...

    def lines(self, width: int) -> list[str]:
        """Return lines for people, none longer than `width`."""
        ...


@dataclass(frozen=True)
class Preview:
    """One judged stack. `capture` is the unknown mode's if that was run; `messages` are deduplicated."""

    project: str
    stack: str
    modes: tuple[Mode, ...]
    capture: Capture
    lint: tuple[Finding, ...] = ()
    policies: tuple[Violation, ...] = ()
    cost: Cost | None = None
    quotas: tuple[Quota, ...] = ()
    """What the stack's settings can use up of the account's limits; none for a program that has no settings of ours."""

    @property
    def failed(self) -> bool:
        """Whether anything found here must stop a deployment."""
        return any(f.severity == "error" for f in self.lint) or any(v.level == "mandatory" for v in self.policies)
