"""A rehearsal as it happens: tables that change on a terminal, plain lines elsewhere; then what it came to."""

import math
import sys
import textwrap
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spotproof.rehearsal.history import History
from spotproof.rehearsal.lanes import Lane, lanes
from spotproof.rehearsal.marks import STEP
from spotproof.rehearsal.rehearse import View
from spotproof.rehearsal.scene import Scene
from spotproof.rehearsal.story import Moment

SETTLED_SECONDS: Final = 2.5
"""A moment this old is told as it is: by then the pods of one drain have come together, and their exit codes."""
NEWEST: Final = 10
"""Moments under the tables; more would push them off the screen."""
MOST_LANES: Final = 12
STATE_WIDTH: Final = 28
"""So that the columns stay where they are while states change."""
STYLES: Final[Mapping[str, tuple[str, str]]] = {
    "waiting": ("waits for a node", "yellow"),
    "starting": ("starts", "cyan"),
    "up": ("runs", "green"),
    "leaving": ("is told to leave", "red"),
    "closed": ("nothing to be had", "red"),
}
"""Phase -> how it is said, and its colour."""

Audience = Callable[[View], None]


@contextmanager
def show(scene: Scene) -> Generator[Audience]:
    """What is told of the rehearsal while it goes on; at its end every moment has been printed."""
    console = Console(soft_wrap=True)
    print(opening(scene), flush=True)  # noqa: T201
    lines = Lines()
    if not console.is_terminal:
        print("starting the control plane", flush=True)  # noqa: T201
        try:
            yield lines.tell
        finally:
            lines.finish()
        return
    try:
        with Live(Text("starting the control plane"), console=Console(), refresh_per_second=4, transient=True) as live:

            def tell(view: View) -> None:
                lines.view = view
                live.update(tables(view))

            yield tell
    finally:
        lines.finish()


def opening(scene: Scene) -> str:
    """What is rehearsed, in a line."""
    where = ", ".join(f"{pool.name} ({pool.capacity})" for pool in scene.starts_on)
    policy = f" under fallback policy {scene.policy.name}" if scene.policy else ""
    return f"{scene.stack}  {scene.job['kind']} {scene.name}{policy}, starting on {where}"


class Lines:
    """Moments as lines, each once, as soon as nothing will be added to it."""

    def __init__(self) -> None:
        """Nothing has been told yet."""
        self.view: View | None = None
        self._told: set[tuple[str, float, tuple[str, ...]]] = set()

    def tell(self, view: View) -> None:
        """Print what is new."""
        self.view = view
        self._print(view, view.history.seconds - SETTLED_SECONDS)

    def finish(self) -> None:
        """Print what is left."""
        if self.view is not None:
            self._print(self.view, math.inf)

    def _print(self, view: View, until: float) -> None:
        steps = [(mark.at, f"-- {mark.to}", STEP, ()) for mark in view.history.recording.marks if mark.did == STEP]
        moments = [(each.at, _words(each), each.kind, each.objects[:1]) for each in view.moments]
        # sorted by time alone, so that what is done from outside stands before what follows from it
        for at, text, kind, objects in sorted([*steps, *moments], key=lambda each: each[0]):
            key = (kind, round(at, 2), objects)
            if at <= until and key not in self._told:
                self._told.add(key)
                print(f"{at:6.1f} s  {text}", flush=True)  # noqa: T201


def _words(moment: Moment) -> str:
    return f"{moment.text}\n{' ' * 10}{moment.quote}" if moment.quote else moment.text


def _line(moment: Moment) -> str:
    return f"{moment.at:6.1f} s  {moment.text}"


def tables(view: View) -> RenderableType:
    """The pods and nodes as they are, and the newest moments."""
    found = lanes(view.history)
    parts: list[RenderableType] = [Text(f"{view.history.seconds:.0f} s: {view.doing}", style="bold")]
    for group, title in (("market", "market"), ("pods", "pods"), ("nodes", "nodes")):
        here = [lane for lane in found if lane.group == group]
        if here:
            parts.append(_table(title, _newest(here), view.history))
    moments = [Text(_line(moment), overflow="ellipsis", no_wrap=True) for moment in view.moments[-NEWEST:]]
    return Group(*parts, Padding(Group(*moments), (1, 0)))


def _newest(found: Sequence[Lane]) -> Sequence[Lane]:
    """Those that still are, then those that ended last."""
    by_end = sorted(found, key=lambda lane: -max((each.end for each in lane.stretches), default=0))
    kept = by_end[:MOST_LANES]
    return [lane for lane in found if lane in kept]


def _table(title: str, found: Sequence[Lane], history: History) -> Table:
    table = Table(box=None, pad_edge=False, title_justify="left", header_style="dim")
    for name, width in ((title, 0), ("", 0), ("state", STATE_WIDTH), ("for", 6)):
        table.add_column(name, no_wrap=True, min_width=width)
    for lane in found:
        last = lane.stretches[-1] if lane.stretches else None
        if last is None or last.end < history.seconds - 0.001:
            table.add_row(lane.name, lane.note, Text("gone", style="dim"), "")
            continue
        words, colour = STYLES[last.phase]
        where = f" on {last.pool}" if last.pool and last.phase == "up" and lane.group == "pods" else ""
        table.add_row(lane.name, lane.note, Text(f"{words}{where}", style=colour), f"{last.end - last.start:.0f} s")
    return table


def conclude(document: Mapping[str, Any], width: int | None = None) -> None:
    """Print what it came to, and what it does not show; `width` in characters, None for that of the terminal."""
    width = width or Console(file=sys.stdout).width
    for title, sentences in (
        ("what became of the job", document["verdict"]),
        ("what is real here", document["limits"]),
    ):
        if sentences:
            print(f"\n{title}")  # noqa: T201
        for each in sentences:
            print(textwrap.fill(each, width, initial_indent="  ", subsequent_indent="  "))  # noqa: T201
