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
        """Whether this is that difference."""
        return difference.field == self.field and self.type == difference.urn.split("::")[2].rpartition("$")[2]


KNOWN: Final[tuple[Known, ...]] = ()


def known_in(stack: str) -> list[Known]:
    """The lines about one stack."""
    return [entry for entry in KNOWN if stack in entry.stacks]
