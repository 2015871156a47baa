"""What the options of `spotproof plan` say, checked together: everything that is wrong is told at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from spotproof.cli.durations import seconds

MOST_RUNS: Final = 100_000
MOST_NODES: Final = 5_000
RATE: Final = re.compile(r"(\d{1,4}(?:\.\d{1,6})?)/h(/node)?", re.ASCII)
MOST_EVICTIONS: Final = 60.0
"""An hour: a job that is evicted every minute is on no market."""


class Usage(Exception):  # noqa: N818 - it is what the user reads
    """The options cannot be used; one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Given(NamedTuple):
    """The options as they were written; None for those that were not."""

    work: str
    deadline: str | None
    restart: str | None
    checkpoint_every: str | None
    checkpoint_write: str
    nodes: int
    traces: tuple[Path, ...]
    eviction_rate: str | None
    outage: str | None
    runs: int
    seed: int
    probe_cost: str


@dataclass(frozen=True, kw_only=True)
class Options:
    """The same in whole seconds and evictions an hour; None where the stack or a measurement answers."""

    work: int
    deadline: int | None
    restart: int | None
    checkpoint_every: int | None
    checkpoint_write: int
    probe_cost: int
    nodes: int
    traces: tuple[Path, ...]
    evictions_per_hour: float | None
    per_node: bool
    outage: int | None
    runs: int
    seed: int


def read(given: Given) -> Options:
    """The options, if they can be used together.

    Raises:
        Usage: they cannot, with every reason.
    """
    problems: list[str] = []

    def time(option: str, text: str | None, *, least: int = 1) -> int | None:
        try:
            return None if text is None else seconds(option, text, least=least)
        except ValueError as error:
            problems.append(str(error))
            return None

    work = time("--work", given.work) or 0
    found = Options(
        work=work,
        deadline=time("--deadline", given.deadline),
        restart=time("--restart", given.restart, least=0),
        checkpoint_every=time("--checkpoint-every", given.checkpoint_every),
        checkpoint_write=time("--checkpoint-write", given.checkpoint_write, least=0) or 0,
        probe_cost=time("--probe-cost", given.probe_cost, least=0) or 0,
        nodes=given.nodes,
        traces=given.traces,
        evictions_per_hour=_rate(given.eviction_rate, problems),
        per_node=(given.eviction_rate or "").endswith("/node"),
        outage=time("--outage", given.outage, least=0),
        runs=given.runs,
        seed=given.seed,
    )
    problems += _contradictions(given)
    if problems:
        raise Usage(problems)
    return found


def _rate(text: str | None, problems: list[str]) -> float | None:
    if text is None:
        return None
    match = RATE.fullmatch(text)
    if match is None:
        problems.append(
            f"--eviction-rate is {text!r}: a rate is evictions per running hour, as in 0.3/h for the whole job or "
            "0.3/h/node for each of its nodes; the percentages of a cloud's table are no rate"
        )
        return None
    rate = float(match[1])
    if rate > MOST_EVICTIONS:
        problems.append(
            f"--eviction-rate is {text!r}: no market evicts a job more than {MOST_EVICTIONS:g} times an hour"
        )
    return rate


def _contradictions(given: Given) -> Iterator[str]:
    if given.traces and given.eviction_rate is not None:
        yield "--traces and --eviction-rate both say what the market is like; give one of them"
    if given.traces and given.outage is not None:
        yield "--outage goes with --eviction-rate; recorded traces have their own outages"
    for option, value, most in (("--runs", given.runs, MOST_RUNS), ("--nodes", given.nodes, MOST_NODES)):
        if not 1 <= value <= most:
            yield f"{option} is {value}: write a whole number from 1 to {most}"
    if given.seed < 0:
        yield f"--seed is {given.seed}: write a whole number from 0"
