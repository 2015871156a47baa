"""A plan for the terminal: the table first, what to take and why below it, warnings last, where they are seen."""

import os
from collections.abc import Iterator
from typing import IO, Any, Final

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

UNATTENDED_WIDTH: Final = 120


def write(document: dict[str, Any], file: IO[str]) -> None:
    """Write the report; coloured only where `file` is a terminal."""
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        # Rich reads COLUMNS itself where somebody set it.
        width = None if os.environ.get("COLUMNS", "").isdigit() else UNATTENDED_WIDTH
        console = Console(file=file, highlight=False, width=width)
    with console.capture() as found:
        for part in _parts(document):
            console.print(part)
    # rich fills lines up with blanks, which nobody wants in a file
    file.write("".join(f"{line.rstrip()}\n" for line in found.get().splitlines()))


def _parts(document: dict[str, Any]) -> Iterator[RenderableType]:
    yield _title(document)
    yield Text(_job(document["job"]))
    yield Text(_market(document["market"]))
    yield _tiers(document)
    yield _policies(document)
    yield from (
        Text(f"  {each['name']} = {', '.join(each['same'])}", "dim") for each in document["policies"] if each["same"]
    )
    yield from _bounds(document)
    yield Text(f"\nrecommended: {document['recommendation']['name']}", "bold")
    yield from (_item(sentence) for sentence in document["recommendation"]["sentences"])
    yield Padding(Text(document["recommendation"]["yaml"]), (1, 0, 1, 4), expand=False)
    yield from _beside(document)
    if document["warnings"]:
        yield Text("\nwarnings", "bold yellow")
        yield from (_item(warning) for warning in document["warnings"])


def _item(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 2), expand=False)


def _title(document: dict[str, Any]) -> Text:
    about = f"  fallback policy {document['policy']}, bill {document['bill']}"
    return Text.assemble((document["stack"], "bold"), (about, "dim"))


def _job(job: dict[str, Any]) -> str:
    nodes = "1 node" if job["nodes"] == 1 else f"{job['nodes']} nodes"
    deadline = "no deadline" if job["deadlineHours"] is None else f"deadline {job['deadlineHours']:g} h"
    return (
        f"job: {job['workHours']:g} h of work on {nodes}, {deadline}, restart {job['restartMinutes']:g} min, a "
        f"checkpoint every {job['checkpointEveryMinutes']:g} min that takes {job['checkpointWriteMinutes']:g} min"
    )


def _market(market: dict[str, Any]) -> str:
    names = f" ({', '.join(market['names'])})" if market["names"] else ""
    there = ", ".join(f"{each:g} %" for each in market["availabilityPercent"])
    return (
        f"market: {market['evictionsPerHour']:.2g} evictions per running hour, outages of {market['outageHours']:.2g} "
        f"h, spot there {there} of the time; {market['runs']} runs, seed {market['seed']}{names}. {market['note']}"
    )


def _tiers(document: dict[str, Any]) -> RenderableType:
    table = _table("tier", "capacity", "USD/h", "price from")
    for tier in document["tiers"]:
        price = f"{tier['usdPerNodeHour']:,.4f}{'*' if tier['assumed'] else ''}"
        table.add_row(tier["pool"], tier["capacity"], price, tier["priceSource"])
    return table


def _policies(document: dict[str, Any]) -> RenderableType:
    deadline = document["job"]["deadlineHours"] is not None
    table = _table(
        "policy", "USD", "saving", "95 %", "median h", "95 % h", "evicted", "on spot", "late" if deadline else "no end"
    )
    for each in document["policies"]:
        low, high = each["savingsInterval"]
        mark = "> " if each["recommended"] else "  "
        missed = each["latePercent"] if deadline else each["unfinishedPercent"]
        table.add_row(
            f"{mark}{each['name']}",
            f"{each['meanCostUsd']:,.2f}",
            f"{each['savingsPercent']:.1f} %",
            f"{low:.1f}..{high:.1f}",
            _hours(each["finishHours"]["median"]),
            _hours(each["finishHours"]["p95"]),
            f"{each['meanEvictions']:.1f}",
            f"{each['spotSharePercent']:.0f} %",
            f"{missed:.1f} %",
            style="bold" if each["recommended"] else "",
        )
    return table


def _table(first: str, *rest: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    table.add_column(first, overflow="fold")
    for name in rest:
        left = name in {"capacity", "price from"}
        table.add_column(name, justify="left" if left else "right", no_wrap=not left, overflow="fold")
    return table


def _hours(hours: float | None) -> str:
    return "-" if hours is None else f"{hours:.1f}"


def _bounds(document: dict[str, Any]) -> Iterator[RenderableType]:
    for bound in document["bounds"]:
        yield Text(f"\nif all nodes go at once ({bound['evictionsPerHour']:.2g} evictions an hour, none held):")
        known = {each["name"] for each in document["policies"]}
        for each in bound["policies"]:
            if each["name"] in known:
                yield Text(f"  {each['name']}: {each['meanCostUsd']:,.2f} USD, {each['savingsPercent']:.1f} % saved")


def _beside(document: dict[str, Any]) -> Iterator[RenderableType]:
    always, seed, even = document["alwaysOn"], document["seed"], document["breakEven"]
    system = "not known" if always["systemUsd"] is None else f"{always['systemUsd']:,.2f} USD"
    head = "not known" if always["headUsd"] is None else f"{always['headUsd']:,.2f} USD"
    yield Text.assemble(("always on ", "bold"), f"over a median run: system {system}, head {head}. {always['note']}")
    hours = "never" if even["mtbfHours"] is None else f"above {even['mtbfHours']:.2f} h between two evictions"
    yield Text.assemble(("break-even ", "bold"), f"spot pays {hours} (closed form, staying on spot)")
    flexible = seed["runtimeFlexibilityPercent"]
    runtime = "any" if flexible is None else f"{flexible:.1f} %"
    figures = f"alpha {seed['alphaPercent']:.1f} %, S {seed['savingsPercent']:.1f} %, runtime flexibility {runtime}. "
    yield Text.assemble(("article ", "bold"), figures, seed["note"])
