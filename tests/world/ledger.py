"""What the world itself did to a gang, counted by whoever did it: what the controller's counts are held against.

Of an interruption that came alone, to a whole gang, seen by a controller that was up, the ledger knows what it is: it
counts once. Of one that came into another, or into a move, or while nobody looked, it knows the least and the most.
"""

from dataclasses import dataclass, field
from typing import Literal

Cause = Literal["eviction", "error", "voluntary"]


@dataclass
class Tally:
    """How often something happened, at the least and at the most."""

    least: int = 0
    most: int = 0

    def add(self, *, sure: bool, possible: bool = True) -> None:
        """Once more: for sure, or perhaps."""
        self.least += sure
        self.most += sure or possible

    def holds(self, count: int) -> bool:
        """Whether a count is one that can be."""
        return self.least <= count <= self.most


@dataclass
class Ledger:
    """Of one job. `here` are evictions since it came to its present tier."""

    evictions: Tally = field(default_factory=Tally)
    errors: Tally = field(default_factory=Tally)
    here: Tally = field(default_factory=Tally)
    entries: list[str] = field(default_factory=list[str])

    def hit(self, cause: Cause, *, calm: bool, at: str) -> None:
        """Something was done to the gang; `calm` is whether it was whole, with nothing else under way."""
        self.entries.append(f"{at} {cause}{'' if calm else ', into something else'}")
        self.evictions.add(sure=calm and cause == "eviction", possible=not calm)
        self.here.add(sure=calm and cause == "eviction", possible=not calm)
        self.errors.add(sure=calm and cause == "error", possible=not calm)

    def moved(self) -> None:
        """The job is on another tier: its count there starts afresh."""
        self.here = Tally()
