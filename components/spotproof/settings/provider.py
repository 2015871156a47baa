"""Which clouds there are, and what each one's settings need: its default pools and its own checks.

Adding a cloud is one settings class, one line in PROVIDERS, and its folder under clouds/.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from spotproof.settings import aws_checks, aws_defaults
from spotproof.settings.aws import Aws
from spotproof.settings.base import Settings
from spotproof.settings.environment import Environment
from spotproof.settings.errors import Problem


@dataclass(frozen=True)
class Provider:
    """What settings know of one cloud.

    `complete` fills what a file may leave out (default pools, accelerators of known instance types);
    `check` finds what this cloud would refuse, `warn` what it would take and nobody wants.
    """

    model: type[Settings]
    complete: Callable[[dict[str, object]], dict[str, object]]
    check: Callable[[Environment], Iterator[Problem]]
    warn: Callable[[Environment], Iterator[Problem]]


PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "aws": Provider(Aws, aws_defaults.complete, aws_checks.check, aws_checks.warnings),
    }
)

NOT_YET: Final[Mapping[str, str]] = MappingProxyType(
    {
        "azure": "AKS with node auto-provisioning",
        "gcp": "GKE with its own node pools",
        "existing": "a cluster somebody else made",
    }
)
