"""What the proofs came to: as JSON for whoever compares, and as the tables of docs/reliability.md."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict

from benchmarks.measure import machine
from benchmarks.pages import table
from tests.resume.examples import EXAMPLES
from tests.resume.proofs import Proofs

HEAD: Final = (
    "example",
    "store",
    "kills",
    "of them by SIGTERM",
    "half-written",
    "lost steps: mean",
    "worst",
    "of steps between saves",
    "seconds to resume: mean",
    "worst",
    "MB written",
)
COLUMNS: Final = ("example", "store", "kills", "told", "half_written", "lost_steps_mean", "lost_steps_worst")
TIMES: Final = ("seconds_to_resume_mean", "seconds_to_resume_worst", "megabytes_written")

Row = Mapping[str, Any]


class Record(TypedDict):
    """All of it. `proven` are Figures, `caught` the planted faults with what gave each away."""

    proven: Sequence[Row]
    caught: Sequence[Row]
    not_run: Mapping[str, str]
    wrong: Sequence[str]


def record(proofs: Proofs) -> Record:
    """What was found."""
    return {
        "proven": [{"example": name, "store": kind, **each.record()} for (name, kind), each in proofs.figures.items()],
        "caught": [{"example": name, "fault": words, "by": by} for (name, words), by in proofs.caught.items()],
        "not_run": proofs.not_run,
        "wrong": proofs.wrong,
    }


def merged(records: Iterable[Record]) -> Record:
    """Of several examples, those of one after the other."""
    parts = list(records)
    return {
        "proven": [row for each in parts for row in each["proven"]],
        "caught": [row for each in parts for row in each["caught"]],
        "not_run": {name: why for each in parts for name, why in each["not_run"].items()},
        "wrong": [said for each in parts for said in each["wrong"]],
    }


def page(found: Record, side_by_side: int) -> str:
    """The figures, and what was not run."""
    interval = {example.name: example.save_steps for example in EXAMPLES}
    rows = [
        [*(row[name] for name in COLUMNS), interval[row["example"]], *(row[name] for name in TIMES)]
        for row in found["proven"]
    ]
    caught = [[row["example"], row["fault"]] for row in found["caught"]]
    missing = [f"Not run: {name}: {why}." for name, why in found["not_run"].items()]
    beside = f", {side_by_side} examples side by side" if side_by_side > 1 else ""
    faults = [table(("example", "planted and caught"), caught)] if caught else []
    proven = [f"On {machine()}{beside}.", table(HEAD, rows)] if rows else []
    return "\n\n".join([*proven, *faults, *missing])
