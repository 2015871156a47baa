"""What the world itself did to a gang, written down by whoever did it: what the controller's counts are held against.

Of an interruption that came alone, to a whole gang, and that a controller saw from its beginning to its end, the ledger
knows what it is: it counts once. Of one that came into another, or into a move, or while nobody looked, it knows the
most it can be.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Cause = Literal["eviction", "error", "voluntary"]


@dataclass
class Hit:
    """Something that was done to the gang.

    `calm` is whether the gang was whole, with nothing else under way. `counted` is whether the operator counts it as
    what it is: an exit code that a killed pod has too says nothing. `known` is whether it counts as what it is: `open`
    if nothing comes between, `sure`, or `may`. `forgotten` is whether the record of it is gone: where a new one counts
    it, as of a job so young that nobody may have led when it was made, it does on the tier on which the job is by then.
    """

    cause: Cause
    at: float
    tiers: frozenset[str]
    calm: bool
    counted: bool = True
    known: Literal["open", "sure", "may"] = "open"
    forgotten: bool = False

    def is_for_certain(self, cause: Cause) -> bool:
        """Whether it counts as that, whatever comes."""
        return self.calm and self.cause == cause and self.known != "may"

    @property
    def may_be_eviction(self) -> bool:
        """Whether it may count as an eviction."""
        # what the operator's counters alone tell is by the tier: on spot an eviction, whatever it was
        by_counter = self.known == "may" and (self.cause == "voluntary" or not self.counted)
        return self.cause == "eviction" or not self.calm or by_counter

    @property
    def may_be_error(self) -> bool:
        """Whether it may count as an error."""
        return self.cause == "error" or (not self.calm and self.cause != "eviction")


class Bounds(NamedTuple):
    """How often something happened, at the least and at the most."""

    least: int
    most: float

    def holds(self, count: int) -> bool:
        """Whether a count is one that can be."""
        return self.least <= count <= self.most


@dataclass
class Ledger:
    """Of one job."""

    hits: list[Hit] = field(default_factory=list[Hit])
    entries: list[str] = field(default_factory=list[str])
    last: float = 0.0
    blinded: bool = False

    @property
    def evictions(self) -> Bounds:
        """How many evictions there were."""
        least = sum(each.is_for_certain("eviction") for each in self.hits)
        return Bounds(least, math.inf if self.blinded else sum(each.may_be_eviction for each in self.hits))

    @property
    def errors(self) -> Bounds:
        """How many errors there were."""
        least = sum(each.is_for_certain("error") for each in self.hits)
        return Bounds(least, sum(each.may_be_error for each in self.hits))

    def failures(self, tier: str, since: float, *, errors: bool) -> Bounds:
        """How many interruptions since then count against a tier; `errors` is whether errors do."""
        there = [each for each in self.hits if (tier in each.tiers or each.forgotten) and each.at >= since]
        least = sum(each.is_for_certain("eviction") or (errors and each.is_for_certain("error")) for each in there)
        most = sum(each.may_be_eviction or (errors and each.may_be_error) for each in there)
        return Bounds(least, math.inf if self.blinded else most)

    def hit(self, hit: Hit) -> None:
        """Something was done to the gang."""
        self.last = hit.at
        self.entries.append(f"{hit.at % 100_000:.2f} {hit.cause}{'' if hit.calm else ', into something else'}")
        self.hits.append(hit)
        if not hit.calm:
            self.disturb("")

    def settle(self) -> None:
        """The gang is whole again, and nothing came between: what was open is sure."""
        self._know("sure")

    def disturb(self, what: str, at: float | None = None) -> None:
        """Something comes between: what is open may be seen as something else, or not at all."""
        if what:
            self.entries.append(what)
        self.last = self.last if at is None else at
        self._know("may")

    def _know(self, how: Literal["sure", "may"]) -> None:
        for each in self.hits:
            if each.known == "open":
                each.known = how

    def blind(self) -> None:
        """From now on nobody can tell a node that was taken because it was empty from one that was reclaimed."""
        self.entries.append("blind")
        self.blinded = True

    def forget(self) -> None:
        """The job is nobody's to count for any more, or again: all that was may have been forgotten."""
        self.entries.append("forgotten")
        for each in self.hits:
            each.known, each.forgotten = "may", True

    def moved(self) -> None:
        """The job is on another tier."""
        self.entries.append("moved")
