"""docs/messages.md: every sentence of the controller, from the tables it speaks by."""

import re
from collections.abc import Iterable, Iterator, Mapping
from string import Formatter
from typing import Final

from spotproof.controller.messages import CONDITIONS, EVENTS
from spotproof.controller.phases import REASONS, UNDER_WAY
from spotproof.controller.preflight import CHECKS
from spotproof.fallback.reasons import Code, Reason, phrase, sentence

_HEAD: Final = """\
<!-- Generated from controller (messages.py, phases.py, preflight) and fallback/reasons.py by `make docs`. -->

# What the controller says

A job that names a fallback policy has a TrainingRun of its own name. Its line says where the job is and why, its
conditions what is to be known beside that, and the job's events what happened:

    kubectl get trainingruns
    kubectl describe trainingrun <name>
    kubectl events --for jobset/<name>        # or rayjob/<name>

Words in italics are filled in.
"""

EXAMPLES: Final[Mapping[Code, tuple[int | str, ...]]] = {
    Code.RUNNING: ("a100-spot",),
    Code.PLACED: ("a100-spot",),
    Code.WAITING: ("a100-spot", 600, 3600),
    Code.LAST: ("a100", 600),
    Code.DRY: ("a100", 7200),
    Code.DRY_ALONE: ("a100", 7200),
    Code.FAILURES: ("a100-spot", 6, 5, "a100"),
    Code.USED_UP: ("a100", 6, 5),
    Code.TIMEOUT: ("a100-spot", 3600, 3600, "a100"),
    Code.EQUAL: ("a100-spot-a", "a100-spot-b"),
    Code.OTHER: ("a100", 1200, "a100-spot"),
    Code.RETURN: ("a100", "a100-spot"),
    Code.MIN_STAY: ("a100", 1800, 7200),
    Code.ASKED: ("a100-spot",),
    Code.GONE: ("a100-spot", "h100-spot"),
    Code.BRAKE: (6, 6),
    Code.GUARD: (36_000, 34_000, 720, "a100"),
    Code.GUARD_DRY: (36_000, 34_000, 720, "a100"),
    Code.LATE: (30_000, 34_000, 720, "a100"),
    Code.LATE_STAY: (34_300, 34_000, 720, "a100"),
    Code.SPOT_THERE: ("a100-spot",),
    Code.SPARE_WAIT: (140, 120),
    Code.SPARE_DECLINE: (140, 120, "a100-spot-b"),
    Code.SPARE_PAY: (110, 120, "a100"),
    Code.SPARE_LEAVE: (200, 120, "a100-spot", 1800),
    Code.SPARE_KEEP: (100, 120, "a100"),
    Code.NO_SPOT: ("a100",),
}
"""Numbers to show each reason with."""


def page() -> str:
    """The whole page, ending in a newline."""
    lines = [
        _HEAD,
        "## Why a job is where it is",
        "",
        "`reason` and `message` of the TrainingRun, here with numbers as they may be.",
        "",
        *_table(("reason", "message"), ((code.value, sentence(Reason(code, EXAMPLES[code]))) for code in Code)),
        "",
        "## Why a job is where the rule has not put it",
        "",
        "Moves of the controller's own, jobs in other hands, and jobs that are over.",
        "",
        *_table(("reason", "phase", "message", "what to do"), _phases()),
        "",
        f"In the middle of a move the message of phase `Manual` goes on: {_shown(UNDER_WAY).removeprefix('; ')}.",
        "",
        "## What a job is refused for",
        "",
        "Phase `Refused`, condition `Accepted` false with this reason, and an event for each. The job runs as if it",
        "named no policy, and is taken up once it is mended. The message names the field with its place in each list.",
        "",
        *_table(("reason", "field", "what is wrong", "what would happen", "what to write"), _checks(refuses=True)),
        "",
        "## What a job is warned of",
        "",
        "It is managed all the same.",
        "",
        *_table(("reason", "field", "what is said", "what happens", "what to write"), _checks(refuses=False)),
        "",
        "## Conditions",
        "",
        "A condition that never was true is not listed.",
        "",
        *(line for kind in CONDITIONS for line in _condition(kind)),
        "## Events",
        "",
        "On the job, by `spotproof-controller`. A Warning is for somebody to look at.",
        "",
        *_table(("event", "note", "meaning", "what to do"), _events()),
        "",
    ]
    return "\n".join(lines)


def _checks(*, refuses: bool) -> Iterator[tuple[str, ...]]:
    for code, check in CHECKS.items():
        if check.refuses is refuses:
            yield code, check.at, _shown(check.what), _shown(check.consequence), _shown(check.remedy)


def _phases() -> Iterator[tuple[str, ...]]:
    for reason, why in REASONS.items():
        yield reason, why.phase, _shown(why.sentence), why.remedy


def _condition(kind: str) -> Iterator[str]:
    each = CONDITIONS[kind]
    yield f"### {kind} ({each.of})"
    yield ""
    yield each.meaning
    yield ""
    rows = ((state.status, reason, _shown(state.sentence), state.remedy) for reason, state in each.states.items())
    yield from _table(("status", "reason", "message", "what to do"), rows)
    yield ""


def _events() -> Iterator[tuple[str, ...]]:
    for code, message in EVENTS.items():
        yield f"{code} ({message.type})", _shown(message.sentence), message.meaning, message.remedy


def _shown(template: str) -> str:
    """The sentence with the names of its values in place of them."""
    names = [name for _, name, _, _ in Formatter().parse(template) if name]
    text = phrase(template, **{name: f"*{name}*" for name in names})
    return re.sub("`[^`]*`", lambda code: code[0].replace("*", ""), text)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = list(head)
    yield _row(columns)
    yield _row(["---"] * len(columns))
    for row in rows:
        yield _row(row)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
