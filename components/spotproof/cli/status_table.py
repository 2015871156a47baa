"""What becomes of the jobs, for the terminal: a line of facts a job, and under it in sentences why."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spotproof.fallback.record import Past
from spotproof.fallback.run import Instant
from spotproof.status.report import Report
from spotproof.status.rows import Row
from spotproof.status.story import Story, answer, outlook
from spotproof.status.times import moment, span
from spotproof.status.without_policy import Unmanaged

UNATTENDED_WIDTH: Final = 120
GAP: Final = 2
LEAST: Final = 12
"""Cells that a name keeps, however narrow the terminal."""
STYLES: Final = {
    "Running": "green",
    "Succeeded": "green",
    "Pending": "cyan",
    "Restarting": "cyan",
    "Moving": "cyan",
    "Waiting": "yellow",
    "Parked": "yellow",
    "Suspended": "yellow",
    "Manual": "yellow",
    "NotSeen": "red",
    "HandedBack": "red",
    "Refused": "red",
    "Failed": "red",
}
"""Phase -> its colour; a phase of a later version has none."""


@dataclass(frozen=True)
class Column:
    """A fact. `first_to_go` ranks the columns that a narrow terminal has no room for; 0 stays."""

    title: str
    cell: Callable[[Row, Instant], str]
    right: bool = False
    first_to_go: int = 0


COLUMNS: Final[tuple[Column, ...]] = (
    Column("JOB", lambda row, _: f"{row.namespace}/{row.name}"),
    Column("KIND", lambda row, _: row.kind, first_to_go=1),
    Column("POLICY", lambda row, _: row.policy, first_to_go=3),
    Column("TIER", lambda row, _: row.tier or "-", first_to_go=7),
    Column("PHASE", lambda row, _: row.phase),
    Column("FOR", lambda row, now: _since(row.since, now), right=True, first_to_go=6),
    Column("ATTEMPT", lambda row, _: str(row.attempt), right=True, first_to_go=2),
    Column("EVICTED", lambda row, _: str(row.evictions), right=True, first_to_go=5),
    Column("ERRORS", lambda row, _: str(row.errors), right=True, first_to_go=4),
    Column("NEXT", lambda row, now: _until(row.next_decision, now), right=True, first_to_go=5),
)


def write(report: Report, file: IO[str], *, story: bool = False) -> None:
    """Write the report; coloured only where `file` is a terminal."""
    console = console_of(file)
    with console.capture() as found:
        console.print(shown(report, console.width, story=story))
    # rich fills lines up with blanks, which nobody wants in a file
    file.write("".join(f"{line.rstrip()}\n" for line in found.get().splitlines()))


def console_of(file: IO[str]) -> Console:
    """The terminal, or a file as wide as COLUMNS says, or as paper."""
    console = Console(file=file, highlight=False)
    if console.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return console
    return Console(file=file, highlight=False, width=UNATTENDED_WIDTH)


def shown(report: Report, width: int, *, story: bool = False) -> RenderableType:
    """The whole report, `width` cells wide; with `story` all there is to say of each job."""
    parts: list[RenderableType] = []
    if story:
        told = {each.row.place for each in report.stories}
        for each in report.stories:
            parts += [*_story(each, report.at), Text("")]
        rest = [row for row in report.rows if row.place not in told]
        parts += _table(rest, report.at, width)
    else:
        parts += _table(report.rows, report.at, width)
    if report.unmanaged:
        parts += [*([Text("")] if report.rows else []), *_unmanaged(report.unmanaged, report.at)]
    if not report.rows and not report.unmanaged:
        parts.append(Text(f"no job under a fallback policy and none on spot in {report.where}"))
    parts += [Text(f"note: {each}", "dim") for each in report.notes]
    return Group(*parts)


def line(row: Row, now: Instant) -> str:
    """One job in a line, for files that are read later."""
    facts = [f"attempt {row.attempt}", _times(row.evictions, "eviction"), _times(row.errors, "error")]
    where = f" on {row.tier}" if row.tier else ""
    said = "; ".join(_sentences(row, now))
    return f"{row.namespace}/{row.name} {row.phase}{where}, {', '.join(facts)}{f': {said}' if said else ''}"


def line_without_policy(job: Unmanaged) -> str:
    """One job without a policy in a line."""
    return f"{job.namespace}/{job.name} without a policy on {job.selects}: {_waits(job, None)}"


def _table(rows: Sequence[Row], now: Instant, width: int) -> Iterator[RenderableType]:
    if not rows:
        return
    columns, widths = _fitting(rows, now, width)
    hidden = [column for column in COLUMNS if column not in columns]
    yield Text(_joined(columns, widths, [column.title for column in columns]), "dim")
    for row in rows:
        facts = Text(_joined(columns, widths, [column.cell(row, now) for column in columns]))
        facts.highlight_words([row.phase], STYLES.get(row.phase, ""))
        facts.stylize("bold", 0, len(_cut(columns[0].cell(row, now), widths[0])))
        yield facts
        told = [f"{column.title.lower()} {column.cell(row, now)}" for column in hidden]
        if told:
            yield _indented(Text(", ".join(told), "dim"))
        yield from map(_indented, _below(row, now))


def _fitting(rows: Sequence[Row], now: Instant, width: int) -> tuple[list[Column], list[int]]:
    """The columns there is room for, and their widths; the name is cut before the phase is."""
    columns = list(COLUMNS)
    while True:
        widths = [
            max(cell_len(text) for text in (column.title, *(column.cell(row, now) for row in rows)))
            for column in columns
        ]
        over = sum(widths) + GAP * (len(widths) - 1) - width
        if over <= 0:
            return columns, widths
        going = [column for column in columns if column.first_to_go]
        if not going:
            return columns, [max(widths[0] - over, LEAST), *widths[1:]]
        columns.remove(min(going, key=lambda column: column.first_to_go))


def _joined(columns: Sequence[Column], widths: Sequence[int], cells: Iterable[str]) -> str:
    padded: list[str] = []
    for column, width, text in zip(columns, widths, cells, strict=True):
        kept = _cut(text, width)
        blanks = " " * (width - cell_len(kept))
        padded.append(f"{blanks}{kept}" if column.right else f"{kept}{blanks}")
    return (" " * GAP).join(padded).rstrip()


def _cut(text: str, width: int) -> str:
    kept = Text(text)
    kept.truncate(width, overflow="ellipsis")
    return kept.plain


def _below(row: Row, now: Instant) -> Iterator[Text]:
    yield from (Text(each) for each in _sentences(row, now))
    yield from (Text(each, "yellow") for each in row.trouble)
    if row.unread:
        yield Text(_unread(row), "dim")


def _sentences(row: Row, _now: Instant) -> Iterator[str]:
    if row.message:
        yield row.message
    if row.waits_for and row.waits_for not in row.message:
        yield f"waits for {row.waits_for}"
    if row.nodes_held and "held and billed" not in row.message:
        yield f"{_nodes(row.nodes_held)} held and billed meanwhile"


def _unread(row: Row) -> str:
    return f"could not be read, perhaps of another version: {', '.join(row.unread)}"


def _unmanaged(jobs: Sequence[Unmanaged], now: Instant) -> Iterator[RenderableType]:
    yield Text("on spot without a fallback policy: nobody moves these", "bold")
    for job in jobs:
        head = Text.assemble((f"{job.namespace}/{job.name}", "bold"), f"  {job.kind} on {job.selects}")
        yield _indented(head, 2)
        yield _indented(Text(_waits(job, now), "yellow" if job.pods_waiting else ""))
        if job.command:
            yield _indented(Text(job.command, "cyan", overflow="fold"))
        else:
            yield _indented(Text(f"no policy can take it: {job.why_not}"))


def _waits(job: Unmanaged, now: Instant | None) -> str:
    if job.suspended:
        return "is suspended"
    if not job.pods_waiting:
        return "no pod waits for a node"
    pods = "1 pod waits" if job.pods_waiting == 1 else f"{job.pods_waiting} pods wait"
    since = f" ({span(now - job.since)})" if now is not None and job.since is not None else ""
    return f"{pods}{since} for {job.waits_for or 'a node'}"


def _story(story: Story, now: Instant) -> Iterator[RenderableType]:
    row = story.row
    yield Text.assemble((f"{row.namespace}/{row.name}", "bold"), f"  {row.kind}, policy {row.policy}")
    where = f" on {row.tier}" if row.tier else ""
    since = f" for {_since(row.since, now)}" if row.since is not None else ""
    facts = [f"attempt {row.attempt}", _times(row.evictions, "eviction"), _times(row.errors, "error")]
    size = [f"{story.nodes} nodes" if story.nodes != 1 else "1 node"] if story.nodes else []
    phase = Text.assemble((row.phase, STYLES.get(row.phase, "")), f"{where}{since}, {', '.join([*facts, *size])}")
    yield _indented(phase, 2)
    yield from (_indented(Text(each)) for each in _sentences(row, now))
    if row.next_decision is not None:
        yield _indented(Text(f"decided again {_in(row.next_decision, now)} if nothing happens before"))
    for each in story.doing:
        yield _indented(Text(f"{each.what} {span(now - each.since)} ago: {each.more}", "cyan"))
    yield from _tiers(story, now)
    if story.deadline is not None:
        yield from _section("deadline", [Text(outlook(story.deadline, now))])
    mend = [
        text
        for each in story.troubles
        for text in (
            Text.assemble((f"{each.type} is {each.status}", "yellow"), f": {each.message}" if each.message else ""),
            *([Padding(Text(each.remedy), (0, 0, 0, 2), expand=False)] if each.remedy else []),
        )
    ]
    yield from _section("not as it should be", mend)
    if story.history:
        happened = Table.grid(padding=(0, GAP))
        for each in story.history:
            happened.add_row(Text(moment(each.at), "dim"), _past(each))
        yield from _section("what happened", [happened])
    if row.unread:
        yield Text(_unread(row), "dim")


def _section(title: str, parts: Sequence[RenderableType]) -> Iterator[RenderableType]:
    if parts:
        yield Text(f"\n{title}", "bold")
        yield from (_indented(part, 2) for part in parts)


def _tiers(story: Story, now: Instant) -> Iterator[RenderableType]:
    table = Table.grid(padding=(0, GAP))
    for each in story.tiers:
        here = each.pool == story.row.tier
        counts = f"{_times(each.evictions, 'eviction')}, {_times(each.errors, 'error')}"
        table.add_row(
            f"{'>' if here else ' '} {each.pool}", f"{counts}; {answer(each, now)}", style="bold" if here else ""
        )
    yield from _section("tiers", [table] if story.tiers else [])


def _past(past: Past) -> Text:
    match past.from_, past.to:
        case None, None:
            way = ""
        case None, to:
            way = f" to {to}"
        case origin, to:
            way = f" on {origin}" if to in {None, origin} else f" from {origin} to {to}"
    took = f"; {span(past.seconds)} until it had its places again" if past.seconds is not None else ""
    return Text(f"{past.what}{way}: {past.message or past.reason}{took}")


def _indented(part: RenderableType, cells: int = 4) -> RenderableType:
    return Padding(part, (0, 0, 0, cells), expand=False)


def _since(at: Instant | None, now: Instant) -> str:
    return "-" if at is None else span(now - at)


def _until(at: Instant | None, now: Instant) -> str:
    return "-" if at is None else span(at - now) if at > now else "now"


def _in(at: Instant, now: Instant) -> str:
    return f"in {span(at - now)}" if at > now else "now"


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _nodes(count: int) -> str:
    return "1 node is" if count == 1 else f"{count} nodes are"
