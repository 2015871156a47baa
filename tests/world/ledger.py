"""What the world itself did to a gang, counted by whoever did it: what the controller's counts are held against.

Of an interruption that came alone, to a whole gang, and that a controller saw from its beginning to its end, the ledger
knows what it is: it counts once. Of one that came into another, or into a move, or while nobody looked, it knows the
most it can be.
"""

import sys
from dataclasses import dataclass, field
from typing import Literal

Cause = Literal["eviction", "error", "voluntary"]


@dataclass
class Tally:
    """How often something happened: `sure` times, `open_` times if nothing comes between, `most` times at the most."""

    sure: int = 0
    open_: int = 0
    most: int = 0

    @property
    def least(self) -> int:
        """How often it happened at the least."""
        return self.sure + self.open_

    def holds(self, count: int) -> bool:
        """Whether a count is one that can be."""
        return self.least <= count <= self.most


@dataclass
class Ledger:
    """Of one job."""

    evictions: Tally = field(default_factory=Tally)
    errors: Tally = field(default_factory=Tally)
    choices: int = 0
    """What was done to the gang that no counter of the operator's tells from an eviction, if nothing comes between."""
    entries: list[str] = field(default_factory=list[str])

    last: float = 0.0

    def hit(self, cause: Cause, *, calm: bool, at: float, counted: bool = True) -> None:
        """Something was done to the gang; `calm` is whether it was whole, with nothing else under way.

        `counted` is whether the operator counts it as what it is: an exit code that a killed pod has too says nothing.
        """
        self.last = at
        self.entries.append(f"{at % 100_000:.2f} {cause}{'' if calm else ', into something else'}")
        self.choices += calm and (cause == "voluntary" or not counted)
        for tally, kinds in ((self.evictions, {"eviction"}), (self.errors, {"error"})):
            tally.open_ += calm and cause in kinds
            tally.most += cause in kinds or (not calm and (tally is not self.errors or cause != "eviction"))
        if not calm:
            self.disturb("")

    def settle(self) -> None:
        """The gang is whole again, and nothing came between: what was open is sure."""
        self.choices = 0
        for tally in (self.evictions, self.errors):
            tally.sure, tally.open_ = tally.least, 0

    def disturb(self, what: str, at: float | None = None) -> None:
        """Something comes between: what is open may be seen as something else, or not at all."""
        if what:
            self.entries.append(what)
        self.last = self.last if at is None else at
        # what the operator's counters alone tell is by the tier: on spot an eviction, whatever it was
        self.evictions.most += self.choices
        self.choices = 0
        for tally in (self.evictions, self.errors):
            tally.open_ = 0

    def blind(self) -> None:
        """From now on nobody can tell a node that was taken because it was empty from one that was reclaimed."""
        self.entries.append("blind")
        self.evictions.most = sys.maxsize

    def moved(self) -> None:
        """The job is on another tier."""
        self.entries.append("moved")
