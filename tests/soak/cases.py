"""What is spoilt: every call of a move in every way, every watch, and the lease. A case is told by its text."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from tests.e2e.controller.faults import VERBS, Fault

ENDED: Final = "watch ended"
SILENT: Final = "watch silent"
LEASE: Final = "lease lost"
"""Another replica has the lease when the call, which was under way, reaches the API server."""
OF_ANY: Final = (Fault.KILLED_BEFORE, Fault.KILLED_AFTER, Fault.TOO_MANY, Fault.ERROR)
OF_WRITES: Final = (Fault.CONFLICT, Fault.CUT)
EVERY: Final = "every watch"


@dataclass(frozen=True, order=True)
class Case:
    """One way to spoil one move: the fault, and the `nth` call of this verb and resource, or the watch of one."""

    move: str
    fault: str
    call: str
    nth: int = 1

    def __str__(self) -> str:
        """As in `jobset-down: killed before patch jobsets 2`."""
        return f"{self.move}: {self.fault} {self.call} {self.nth}"

    def plain(self) -> dict[str, Any]:
        """For a line of JSON."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """From a line of JSON."""
        return cls(**{key: plain[key] for key in ("move", "fault", "call", "nth")})


def cases(move: str, calls: Sequence[str], watched: Iterable[str]) -> Iterator[Case]:
    """Every case of a move.

    Args:
        move: Its name.
        calls: The calls of a dry run in order, verb and resource of each.
        watched: Resources that are watched.
    """
    seen: Counter[str] = Counter()
    for call in calls:
        seen[call] += 1
        writes = call.partition(" ")[0] in VERBS.values()
        for fault in (*OF_ANY, *(OF_WRITES if writes else ())):
            yield Case(move, fault.value, call, seen[call])
        if writes:
            yield Case(move, LEASE, call, seen[call])
    for resource in (EVERY, *sorted(set(watched))):
        yield Case(move, ENDED, resource)
        yield Case(move, SILENT, resource)


def sample(found: Sequence[Case], count: int, seed: int) -> list[Case]:
    """Some of them, by a seed; of each fault about as many as of every other."""
    chance = random.Random(seed)  # noqa: S311  # which tests are run, no secret
    by_fault: dict[str, list[Case]] = {}
    for case in chance.sample(list(found), len(found)):
        by_fault.setdefault(case.fault, []).append(case)
    ranked = sorted(
        (rank, place, case)
        for place, fault in enumerate(chance.sample(sorted(by_fault), len(by_fault)))
        for rank, case in enumerate(by_fault[fault])
    )
    return [case for _, _, case in ranked[:count]]
