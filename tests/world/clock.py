"""Virtual time: a heap of what is going to happen. Nothing sleeps, and the same calls give the same order."""

import heapq
import itertools
from collections.abc import Callable
from typing import Final

from spotproof.fallback.record import render_instant

BEGIN: Final = 1_790_000_000.0
"""Where every world begins, in seconds since 1970."""

Happening = Callable[[], object]


class Clock:
    """The time, and what is going to happen at which time."""

    def __init__(self, now: float = BEGIN) -> None:
        self.now = now
        self.happened = 0
        self._heap: list[tuple[float, int, Happening]] = []
        self._ranks = itertools.count()
        self._text = (0, "")

    def after(self, seconds: float, happening: Happening) -> None:
        """Let something happen so many seconds from now; what is due at one moment happens in the order of asking."""
        heapq.heappush(self._heap, (self.now + max(seconds, 0.0), next(self._ranks), happening))

    def next_at(self) -> float | None:
        """When the next thing happens; None where nothing is going to."""
        return self._heap[0][0] if self._heap else None

    def step(self) -> None:
        """The next thing happens."""
        at, _, happening = heapq.heappop(self._heap)
        self.now = max(self.now, at)
        self.happened += 1
        happening()

    def run_to(self, at: float) -> None:
        """Everything happens that is due until then, and then it is then."""
        while self._heap and self._heap[0][0] <= at:
            self.step()
        self.now = max(self.now, at)

    @property
    def text(self) -> str:
        """Now, as an object's time: RFC 3339, whole seconds."""
        second = int(self.now)
        if second != self._text[0]:
            self._text = (second, render_instant(second))
        return self._text[1]
