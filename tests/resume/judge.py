"""Whether a run that was killed is the run that was not. From what the programs print, and from the store itself.

What is complete is decided here, from the store before each restart, never from the program's own words: a checkpoint
that is marked complete and is smaller than those of the run that nobody killed was marked before it was written.
"""

import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Final

from tests.resume.example import Found
from tests.resume.gang import Attempt, Played

STEP: Final = re.compile(r"step (\d+) loss (\S+) ")
START: Final = re.compile(r"starting at step 0|resumed at step (\d+) ")
SAVED: Final = re.compile(r"(?:SIGTERM: )?saved step (\d+) in ([0-9.]+) s")
FINISHED: Final = re.compile(r"finished at step (\d+), state sha256 ([0-9a-f]{64})")
TERMINATED: Final = 143
WHOLE: Final = 0.9
"""Of the smallest checkpoint of the run that nobody killed: what is compressed differs by some percent."""
SLOW: Final = 3
"""Times as long as the longest save of either run: what a save may take while others start and end beside it."""
SECONDS_OF_A_SAVE: Final = 10.0
"""At least: on a busy machine a save of milliseconds says little of the next one."""


@dataclass(frozen=True)
class Figures:
    """What docs/reliability.md says of one example on one store."""

    kills: int
    told: int
    """Of the kills, those by SIGTERM."""
    half_written: int
    """Of the kills, those that left an unfinished checkpoint in the store."""
    lost_steps_mean: float
    lost_steps_worst: int
    seconds_to_resume_mean: float
    """From the start of the processes to the first step after it."""
    seconds_to_resume_worst: float
    megabytes_written: float

    def record(self) -> Mapping[str, object]:
        """As JSON."""
        return asdict(self)


def findings(reference: Played, played: Played, kills: int) -> list[str]:
    """Everything that is wrong with a run, against an uninterrupted one of the same options. Empty is proven.

    Args:
        reference: Nobody killed it.
        played: The one that is judged.
        kills: How many were planned; a run that ends before proves less.
    """
    return [
        *unmade(played, kills),
        *_of_the_end(reference, played),
        *_of_the_losses(reference, played),
        *(each for index in range(len(played.attempts)) for each in _of_an_attempt(reference, played, index)),
        *_of_what_is_kept(played),
    ]


def unmade(played: Played, kills: int) -> list[str]:
    """What is said of a run that was killed less often than planned: where that is all, it proves nothing."""
    made = sum(attempt.killed is not None for attempt in played.attempts)
    return [f"only {made} of {kills} kills were made"] if made < kills else []


def figures(played: Played) -> Figures:
    """Of a run without findings."""
    killed = [index for index, attempt in enumerate(played.attempts) if attempt.killed is not None]
    lost = [_lost(played, index) for index in killed] or [0]
    resumed = [seconds for attempt in played.attempts[1:] if (seconds := _to_first_step(attempt)) is not None] or [0.0]
    return Figures(
        kills=len(killed),
        told=sum(
            attempt.killed is not None and bool(attempt.kill and attempt.kill.told) for attempt in played.attempts
        ),
        half_written=sum(any(not each.complete for each in _left(played, index)) for index in killed),
        lost_steps_mean=round(mean(lost), 1),
        lost_steps_worst=max(lost),
        seconds_to_resume_mean=round(mean(resumed), 1),
        seconds_to_resume_worst=round(max(resumed), 1),
        megabytes_written=round(played.written / 1e6, 1),
    )


def _of_the_end(reference: Played, played: Played) -> Iterator[str]:
    wanted, found = _finished(reference), _finished(played)
    if wanted is None:
        yield f"the uninterrupted run did not finish: {_why(reference.attempts[-1])}"
    elif found is None:
        yield f"it did not finish: {_why(played.attempts[-1])}"
    elif wanted != found:
        yield (
            f"it ended at step {found[0]} with state {found[1][:12]}, "
            f"the uninterrupted run at step {wanted[0]} with {wanted[1][:12]}"
        )


def _why(attempt: Attempt) -> str:
    statuses = [attempt.statuses.get(index) for index in sorted(attempt.statuses)]
    if attempt.hangs:
        complete = [index for index, status in attempt.statuses.items() if status == 0]
        return f"attempt {attempt.number} hangs" + (f", and processes {complete} left with 0" if complete else "")
    if statuses and not any(statuses):
        return f"every process of attempt {attempt.number} left with 0, so nothing starts it again"
    return f"attempt {attempt.number} ended with {statuses}: {_last_line(attempt.errors)}"


def _of_the_losses(reference: Played, played: Played) -> Iterator[str]:
    wanted = {step: loss for attempt in reference.attempts for step, loss, _ in _steps(attempt)}
    for attempt in played.attempts:
        other = [step for step, loss, _ in _steps(attempt) if wanted.get(step) != loss]
        if other:
            yield (f"attempt {attempt.number}: {len(other)} losses differ from the other run's, from step {other[0]}")


def _of_an_attempt(reference: Played, played: Played, index: int) -> Iterator[str]:
    attempt = played.attempts[index]
    name = f"attempt {attempt.number}"
    if attempt.killed is None and any(attempt.statuses.values()):
        yield f"{name} failed by itself: {_why(attempt)}"
    yield from _of_its_start(reference, attempt)
    yield from _of_its_end(attempt) if played.example.leaves else ()
    yield from _of_what_it_lost(reference, played, index)
    said = max((step for step, _, _ in _saves(attempt)), default=0)
    if (newest := _newest(_left(played, index))) < said:
        yield f"{name} said that step {said} is saved, and the newest complete checkpoint is of step {newest}"


def _of_its_start(reference: Played, attempt: Attempt) -> Iterator[str]:
    whole = WHOLE * min((each.size for each in reference.after if each.complete), default=0)
    for each in attempt.before:
        if each.complete and each.size < whole:
            yield (
                f"before attempt {attempt.number} {each.folder} is marked complete with {each.size} bytes; "
                f"whole ones have {whole / WHOLE:.0f}"
            )
    newest, start = _newest(attempt.before), _start(attempt)
    if start is None:
        if attempt.killed is None or (attempt.kill and attempt.kill.moment != "resume"):
            yield f"attempt {attempt.number} did not say where it starts: {_last_line(attempt.errors)}"
        return
    if start != newest:
        yield f"attempt {attempt.number} started at step {start}; the newest complete checkpoint is of step {newest}"
    first = next((step for step, _, _ in _steps(attempt)), None)
    if first is not None and first != newest + 1:
        yield f"attempt {attempt.number} did step {first} first; the newest complete checkpoint is of step {newest}"


def _of_its_end(attempt: Attempt) -> Iterator[str]:
    if attempt.killed is None or not attempt.kill:
        return
    status = attempt.statuses.get(attempt.victim)
    if attempt.kill.told and status not in (TERMINATED, -signal.SIGTERM) and not _has_finished(attempt):
        yield f"attempt {attempt.number}: process {attempt.victim} left with {status} after SIGTERM, not {TERMINATED}"
    if not _has_finished(attempt) and (complete := [index for index, each in attempt.statuses.items() if each == 0]):
        yield f"attempt {attempt.number}: processes {complete} left with 0 before the end; they would never start again"


def _of_what_it_lost(reference: Played, played: Played, index: int) -> Iterator[str]:
    attempt, interval = played.attempts[index], played.example.save_steps
    lost = _lost(played, index)
    if attempt.killed is None or lost <= interval:
        return
    due = _newest(_left(played, index)) + interval
    began = next((at for step, _, at in _steps(attempt) if step >= due), attempt.killed)
    longest = max(
        (seconds for run in (reference, played) for each in run.attempts for _, seconds, _ in _saves(each)), default=0.0
    )
    may = max(SLOW * longest, SECONDS_OF_A_SAVE)
    if attempt.killed - began > may:
        yield (
            f"attempt {attempt.number} lost {lost} steps of {interval} between two saves: the save due at step {due} "
            f"was not complete {attempt.killed - began:.1f} s later, and a save takes {longest:.1f} s at most"
        )


def _of_what_is_kept(played: Played) -> Iterator[str]:
    keep = played.example.keep
    for index, attempt in enumerate(played.attempts):
        complete = [each for each in _left(played, index) if each.complete]
        # The oldest goes after the newest is complete, and a kill may come between.
        most = keep if _has_finished(attempt) else keep + 1
        if len(complete) > most:
            yield f"after attempt {attempt.number} {len(complete)} complete checkpoints are kept, and {most} may be"
    if unfinished := [each.folder for each in played.after if not each.complete]:
        yield f"at the end unfinished checkpoints are left: {', '.join(unfinished)}"


def _left(played: Played, index: int) -> Sequence[Found]:
    """What an attempt left in the store."""
    return played.attempts[index + 1].before if index + 1 < len(played.attempts) else played.after


def _newest(found: Sequence[Found]) -> int:
    return max((each.step for each in found if each.complete), default=0)


def _lost(played: Played, index: int) -> int:
    """Steps that were done and have to be done again."""
    done = max((step for step, _, _ in _steps(played.attempts[index])), default=0)
    return max(0, done - _newest(_left(played, index)))


def _start(attempt: Attempt) -> int | None:
    return next((int(found[1] or 0) for _, line in attempt.lines if (found := START.match(line))), None)


def _steps(attempt: Attempt) -> Iterator[tuple[int, str, float]]:
    """Step, loss to the last bit, and when it was printed."""
    for at, line in attempt.lines:
        if found := STEP.match(line):
            yield int(found[1]), found[2], at


def _saves(attempt: Attempt) -> Iterator[tuple[int, float, float]]:
    """Step, seconds, and when it was printed."""
    for at, line in attempt.lines:
        if found := SAVED.match(line):
            yield int(found[1]), float(found[2]), at


def _to_first_step(attempt: Attempt) -> float | None:
    return next((at - attempt.started for _, _, at in _steps(attempt)), None)


def _finished(played: Played) -> tuple[str, str] | None:
    for _, line in played.attempts[-1].lines:
        if found := FINISHED.match(line):
            return found[1], found[2]
    return None


def _has_finished(attempt: Attempt) -> bool:
    return any(FINISHED.match(line) for _, line in attempt.lines)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
