"""The only differences between our preview and the engine's, with the reason of each; a stale line fails its test."""

from dataclasses import dataclass
from typing import Final

from tests.engine.parity import Difference


@dataclass(frozen=True)
class Known:
    """A field of the resources of one type that is not the same, in the stacks named, and why."""

    type: str
    field: str
    stacks: tuple[str, ...]
    reason: str

    def covers(self, difference: Difference) -> bool:
        """Whether this is that difference: a value with the engine, unknown with us."""
        same = difference.field == self.field and self.type == difference.urn.split("::")[2].rpartition("$")[2]
        return same and difference.ours == "<unknown>" and difference.engine != "<unknown>"


_NO_CLOUD = (
    "the answer of a function of the cloud ({function}): the engine asks the provider at a preview too, ours asks "
    "nobody, so the value is unknown before `up`. No answer shapes a resource"
)

KNOWN: Final[tuple[Known, ...]] = (
    Known(
        "spotproof:aws:SpotServiceLinkedRole",
        "outputs.roleArn",
        ("aws-dev", "aws-prod"),
        _NO_CLOUD.format(function="aws:iam/getRoles:getRoles"),
    ),
    Known(
        "azure-native:authorization:RoleAssignment",
        "inputs.principalId",
        ("azure-dev", "azure-prod"),
        _NO_CLOUD.format(function="azure-native:authorization:getClientConfig"),
    ),
)


def known_in(stack: str) -> list[Known]:
    """The lines about one stack."""
    return [entry for entry in KNOWN if stack in entry.stacks]
