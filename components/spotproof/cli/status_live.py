"""The jobs as they change: a table that is drawn again on a terminal, a line a change elsewhere."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from rich.live import Live

from spotproof.cli.status_table import console_of, line, line_without_policy, shown, write
from spotproof.status.report import Report, document
from spotproof.status.times import stamp


def show(reports: Iterable[Report], *, story: bool, as_json: bool) -> None:
    """Show each report until there are no more; on a terminal the last one stays."""
    console = console_of(sys.stdout)
    if as_json:
        for text in json_lines(reports):
            print(text, flush=True)  # noqa: T201
    elif not console.is_terminal:
        for text in lines(reports):
            print(text, flush=True)  # noqa: T201
    else:
        last: Report | None = None
        try:
            with Live(console=console, screen=True, auto_refresh=False) as live:
                for last in reports:
                    live.update(shown(last, console.width, story=story), refresh=True)
        finally:
            if last is not None:
                with suppress(BrokenPipeError):
                    write(last, sys.stdout, story=story)


def lines(reports: Iterable[Report]) -> Iterator[str]:
    """Each job in a line when it is first seen, whenever it changes, and when it is gone.

    A sentence that only tells how long something has been going on is no change.
    """
    known: dict[tuple[str, str, str], object] = {}
    said: tuple[str, ...] = ()
    for report in reports:
        now = stamp(report.at)
        found = {
            (each.namespace, each.name, each.kind): (
                (
                    each.phase,
                    each.tier,
                    each.attempt,
                    each.evictions,
                    each.errors,
                    each.reason,
                    each.waits_for,
                    each.trouble,
                ),
                line(each, report.at),
            )
            for each in report.rows
        } | {
            (each.namespace, each.name, f"{each.kind} without a policy"): (
                (each.suspended, each.pods_waiting, each.waits_for),
                line_without_policy(each),
            )
            for each in report.unmanaged
        }
        for key, (facts, text) in found.items():
            if known.get(key) != facts:
                yield f"{now} {text}"
        yield from (f"{now} {key[0]}/{key[1]} gone" for key in known.keys() - found.keys())
        yield from (f"{now} note: {note}" for note in report.notes if note not in said)
        known, said = {key: facts for key, (facts, _) in found.items()}, report.notes


def json_lines(reports: Iterable[Report]) -> Iterator[str]:
    """Each report that is another than the one before, in a line."""
    before: object = None
    for report in reports:
        found = document(report)
        now = {key: value for key, value in found.items() if key != "at"}
        if now != before:
            yield json.dumps(found)
            before = now
