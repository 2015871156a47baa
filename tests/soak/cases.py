"""What is spoilt: every call of a move in every way, every watch, and the lease. A case is told by its text."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from tests.e2e.controller.faults import VERBS, Fault

ENDED: Final = "watch ended"
SILENT: Final = "watch silent"
"""Just before the controller has something to do."""
ENDED_AT: Final = "watches ended at"
SILENT_AT: Final = "watches silent at"
"""Every watch, as a write of the move reaches the API server."""
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
    written: list[tuple[str, int]] = []
    for call in calls:
        seen[call] += 1
        writes = call.partition(" ")[0] in VERBS.values()
        for fault in (*OF_ANY, *(OF_WRITES if writes else ())):
            yield Case(move, fault.value, call, seen[call])
        if writes:
            yield Case(move, LEASE, call, seen[call])
            written.append((call, seen[call]))
    for resource in (EVERY, *sorted(set(watched))):
        yield Case(move, ENDED, resource)
        yield Case(move, SILENT, resource)
    for call, nth in _first_middle_last(written):
        yield Case(move, ENDED_AT, call, nth)
        yield Case(move, SILENT_AT, call, nth)


def _first_middle_last(writes: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Of all writes as many as show the beginning, the middle and the end: a silence costs a minute and a half."""
    places = dict.fromkeys((0, len(writes) // 2, len(writes) - 1)) if writes else ()
    return [writes[place] for place in places]


def sample(found: Collection[Case], count: int, seed: int) -> list[Case]:
    """Some of them, by a seed; of each fault about as many as of every other.

    A case keeps its place whatever else there is: a call more or less of a move changes what is drawn by that alone.
    """
    by_fault: dict[str, list[Case]] = {}
    for case in sorted(found, key=lambda each: chance(seed, str(each))):
        by_fault.setdefault(case.fault, []).append(case)
    ranked = sorted(
        (rank, chance(seed, fault), case) for fault, own in by_fault.items() for rank, case in enumerate(own)
    )
    return [case for _, _, case in ranked[:count]]


def chance(seed: int, text: str) -> str:
    """What a text is ordered by: of one seed always the same, and of another any other."""
    return hashlib.sha256(f"{seed} {text}".encode()).hexdigest()
