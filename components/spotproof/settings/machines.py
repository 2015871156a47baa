"""What one machine of a cloud offers, as far as its name or a table tells."""

from dataclasses import dataclass
from typing import Literal

from spotproof.vocabulary import Capacity


@dataclass(frozen=True)
class Machine:
    """One node's worth: virtual CPUs, memory in GiB, accelerators.

    None is not known; for `accelerator` it is none, unless `accelerators_known` is false.
    """

    vcpus: int | None
    memory_gib: float | None
    accelerator: str | None = None
    accelerator_count: int = 0
    accelerators_known: bool = True
    """False where it may have some that no table here has."""
    takes_accelerators: bool = False
    """Whether accelerators can be attached to a machine that has none of its own, as to GCP's N1."""
    architecture: Literal["amd64", "arm64"] = "amd64"


@dataclass(frozen=True)
class Quota:
    """A limit of the account that a stack can run into: how much of it all pools together can use up.

    `name` is the cloud's own, as its console has it; `where` is the region it counts in. `capacity` is None where spot
    and on-demand count alike, as for disks.
    """

    name: str
    needed: int
    unit: str
    where: str
    capacity: Capacity | None = None

    def __str__(self) -> str:
        """One line, as a person is told."""
        what = " ".join(word for word in (self.capacity, self.unit) if word)
        return f"this stack can use up to {self.needed:,} {what}: {self.name}, {self.where}"
