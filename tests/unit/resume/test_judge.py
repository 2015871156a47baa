"""What the judge says of runs that are written down here, each with one thing wrong."""

from dataclasses import replace
from typing import Final

import pytest

from tests.resume.example import Example, Found
from tests.resume.gang import Attempt, Played
from tests.resume.judge import figures, findings
from tests.resume.kills import Kill

EXAMPLE: Final = Example("made-up", 2, lambda _: (), (), steps=6, save_steps=2, keep=2)
DIGEST: Final = "ab" * 32
SIZE: Final = 1000


def steps(first: int, last: int) -> list[str]:
    return [line for step in range(first, last + 1) for line in (f"step {step} loss {(1 / step).hex()} {1 / step}",)]


def complete(*steps_saved: int) -> list[Found]:
    return [Found(f"{step}", step, complete=True, size=SIZE) for step in steps_saved]


def attempt(number: int, before: list[Found], lines: list[str], kill: Kill | None = None) -> Attempt:
    """An attempt that says a line a tenth of a second; it is killed after the last one where a kill is given."""
    made = Attempt(number, before, kill, started=number * 100.0)
    made.lines = [(made.started + (index + 1) / 10, line) for index, line in enumerate(lines)]
    made.killed = made.lines[-1][0] if kill else None
    told = bool(kill and kill.told)
    made.statuses = {0: 143 if told else -9, 1: 143} if kill else {0: 0, 1: 0}
    return made


def finished(digest: str = DIGEST) -> list[str]:
    return ["saved step 6 in 0.10 s", f"finished at step 6, state sha256 {digest}"]


def played(*attempts: Attempt, after: list[Found] | None = None) -> Played:
    return Played(EXAMPLE, list(attempts), complete(4, 6) if after is None else after, writes=9, written=5_000_000)


REFERENCE: Final = played(attempt(0, [], ["starting at step 0", *steps(1, 6), *finished()]))
FIRST: Final = attempt(0, [], ["starting at step 0", *steps(1, 3), "saved step 2 in 0.10 s"], Kill(step=3))
SECOND: Final = attempt(1, complete(2), ["resumed at step 2 of attempt 1", *steps(3, 6), *finished()])


def test_a_run_that_is_the_uninterrupted_one_in_the_end_is_right() -> None:
    run = played(FIRST, SECOND)

    assert findings(REFERENCE, run, 1) == []
    assert (figures(run).kills, figures(run).lost_steps_worst, figures(run).seconds_to_resume_mean) == (1, 1, 0.2)
    assert figures(run).megabytes_written == 5.0


@pytest.mark.parametrize(
    ("wrong", "first", "second", "after"),
    [
        (
            "with state cdcdcdcdcdcd",
            FIRST,
            attempt(1, complete(2), ["resumed at step 2 of attempt 1", *steps(3, 6), *finished("cd" * 32)]),
            complete(4, 6),
        ),
        (
            "losses differ from the",
            FIRST,
            attempt(
                1,
                complete(2),
                ["resumed at step 2 of attempt 1", "step 3 loss 0x1p-9 0.1", *steps(4, 6), *finished()],
            ),
            complete(4, 6),
        ),
        (
            "started at step 0; the newest complete checkpoint is of step 2",
            FIRST,
            attempt(1, complete(2), ["starting at step 0", *steps(1, 6), *finished()]),
            complete(4, 6),
        ),
        (
            "did step 4 first",
            FIRST,
            attempt(1, complete(2), ["resumed at step 2 of attempt 1", *steps(4, 6), *finished()]),
            complete(4, 6),
        ),
        (
            "4 is marked complete with 100 bytes",
            FIRST,
            replace(SECOND, before=[*complete(2), Found("4", 4, complete=True, size=100)]),
            complete(4, 6),
        ),
        (
            "said that step 2 is saved, and the newest complete checkpoint is of step 0",
            FIRST,
            attempt(1, [], ["starting at step 0", *steps(1, 6), *finished()]),
            complete(4, 6),
        ),
        (
            "left with 0 after SIGTERM, not 143",
            replace(FIRST, kill=Kill(step=3, told=True), statuses={0: 0, 1: 143}),
            SECOND,
            complete(4, 6),
        ),
        ("processes [1] left with 0 before the end", replace(FIRST, statuses={0: -9, 1: 0}), SECOND, complete(4, 6)),
        ("3 complete checkpoints are kept, and 2 may be", FIRST, SECOND, complete(2, 4, 6)),
        (
            "unfinished checkpoints are left: 5",
            FIRST,
            SECOND,
            [*complete(4, 6), Found("5", 5, complete=False, size=1)],
        ),
    ],
)
def test_each_thing_that_can_be_wrong_is_said(wrong: str, first: Attempt, second: Attempt, after: list[Found]) -> None:
    assert any(wrong in each for each in findings(REFERENCE, played(first, second, after=after), 1))


def test_a_gang_that_waits_for_a_process_that_is_complete_is_said_to_hang() -> None:
    hangs = replace(FIRST, killed=None, statuses={1: 0}, hangs=True)

    assert any(
        "attempt 0 hangs, and processes [1] left with 0" in each for each in findings(REFERENCE, played(hangs), 0)
    )


def test_a_program_that_ends_by_itself_is_told_with_its_last_line() -> None:
    broken = replace(FIRST, killed=None, statuses={0: 1, 1: 143}, errors="Traceback\nValueError: torn\n")

    assert any(
        "failed by itself: attempt 0 ended with [1, 143]: ValueError: torn" in each
        for each in findings(REFERENCE, played(broken, SECOND), 0)
    )


def test_a_kill_that_was_not_made_proves_nothing() -> None:
    assert findings(REFERENCE, REFERENCE, 1) == ["only 0 of 1 kills were made"]


def test_more_than_an_interval_is_lost_only_while_a_save_is_under_way() -> None:
    lines = ["starting at step 0", *steps(1, 5)]
    quick, slow = attempt(0, [], lines, Kill(step=5)), attempt(0, [], lines, Kill(step=5))
    slow.killed = slow.lines[-1][0] + 30
    after = attempt(1, [], ["starting at step 0", *steps(1, 6), *finished()])

    assert findings(REFERENCE, played(quick, after), 1) == []
    assert any("lost 5 steps of 2 between two saves" in each for each in findings(REFERENCE, played(slow, after), 1))
