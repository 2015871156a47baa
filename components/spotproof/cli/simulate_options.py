"""What the options of `spotproof simulate` say, checked together: everything that is wrong is told at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from spotproof.cli.durations import seconds
from spotproof.economics.baselines import BASELINES
from spotproof.economics.market import Bill
from spotproof.fallback.policy import Order
from spotproof.settings.near import near, one_of

SPOTPROOF: Final = "spotproof"
OMNISCIENT: Final = "omniscient"
NAMES: Final = (SPOTPROOF, *BASELINES, OMNISCIENT)
PROBED: Final = "uniform-progress"
"""The baseline that asks for no age of the market, which sight by probes does not give."""


class Usage(Exception):  # noqa: N818  # it is what the user reads
    """The options cannot be used; one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Given(NamedTuple):
    """The options as they were written; None for those that were not."""

    policy: str
    work: str
    deadline: str
    restart: str
    probe_every: str | None
    probe_cost: str
    as_tiers: bool
    order: Order | None
    on_demand_price: float | None
    spot_prices: tuple[float, ...]
    bill: Bill
    price_history: Path | None
    continuous: bool
    seed: int


@dataclass(frozen=True)
class Times:
    """The times of the job, in seconds; `probe_every` is None where it was not given."""

    work: int
    deadline: int
    restart: int
    probe_every: int | None
    probe_cost: int


def read_times(given: Given) -> Times:
    """The times, once all that can be said before a file is read has been checked.

    Raises:
        Usage: something cannot be used, with every reason.
    """
    problems: list[str] = []

    def read(option: str, text: str, least: int = 1) -> int:
        try:
            return seconds(option, text, least=least)
        except ValueError as error:
            problems.append(str(error))
            return 0

    times = Times(
        read("--work", given.work),
        read("--deadline", given.deadline),
        read("--restart", given.restart, 0),
        None if given.probe_every is None else read("--probe-every", given.probe_every),
        read("--probe-cost", given.probe_cost, 0),
    )
    problems += [*_wrong(given), *_contradictions(given)]
    if problems:
        raise Usage(problems)
    return times


def policy_file(text: str) -> tuple[Path, str | None]:
    """A path, or a path and the name of one policy in it; what exists as it stands is a path."""
    path, colon, name = text.rpartition(":")
    return (Path(path), name) if path and colon and not Path(text).exists() else (Path(text), None)


def _wrong(given: Given) -> Iterator[str]:
    name = given.policy
    if name not in NAMES and not policy_file(name)[0].exists():
        meant = near(name, NAMES)
        hint = f"did you mean {meant}?" if meant else f"write {one_of(NAMES)}, or the path of a FallbackPolicy file"
        yield f"--policy is {name!r}, which is neither a policy nor a file; {hint}"
    prices = (("--on-demand-price", given.on_demand_price), *(("--spot-price", each) for each in given.spot_prices))
    for option, usd in prices:
        if usd is not None and not 0 < usd < inf:
            yield f"{option} is {usd:g}; write USD per node hour, as in 0.9731"
    if given.seed < 0:
        yield f"--seed is {given.seed}; write a whole number from 0"


def _contradictions(given: Given) -> Iterator[str]:
    name = given.policy
    if name not in NAMES or name == SPOTPROOF:
        return
    only = f"{name} is a policy of whole ticks that sees the market; {SPOTPROOF} and policies from files can"
    if given.continuous:
        yield f"--model continuous: {only} run in continuous time"
    if given.price_history is not None:
        yield f"--price-history: {only} be billed at prices that move"
    if given.probe_every is not None and (name != PROBED or given.as_tiers):
        yield f"--probe-every: {only} be probed, and {PROBED} on one tier"
