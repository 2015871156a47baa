"""What a policy without foresight can save that knows how the chance of a change falls with age: a dynamic programme.

A yardstick for the rule, not a rule: it has to be fitted to a market, and its table takes megabytes. Model
(shared/reference/beyond-up.md section 4): availability is a Markov chain over up or down and four classes of age; the
first spell of a run has a copy of its own, as its true age is unknown. State: whole ticks left, slack, what is held
with its debt, and the chain's. All 11 published figures are met within 0.1 points.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.reference import CELLS, EVERY_TENTH, Cell, job, savings, traces
from spotproof.economics.baselines import with_exact_guard
from spotproof.economics.outcome import Job
from spotproof.economics.starts import Run, runs
from spotproof.economics.ticks import HOUR, IDLE, ON_DEMAND, SPOT, Policy, Seen, Step

Floats: TypeAlias = NDArray[np.float64]

AGE_CUTS: Final = (1200, 3600, 14_400)
"""Seconds at which a class of age ends; the last class has no end."""
CLASSES: Final = len(AGE_CUTS) + 1
STATES: Final = 4 * CLASSES
"""First spell or not, down or up, class of age: in this order, the last the fastest."""
LEAST_CHANGE: Final = 0.001
"""Chance of a change per tick where fewer were seen."""
MOST_LEVELS: Final = 1000
"""Levels of slack from which a changeover is rounded up to whole ticks: ticks of 195 s would need 3,840."""
NEVER: Final = 1e9
"""USD of a missed deadline: the least chance of one weighs more than any job."""
LEAST_NEVER: Final = 1e4
"""Expected USD from which on a missed deadline is among what can happen."""
PUBLISHED: Final = (37.9, 29.0, 33.4, 42.1, 35.8, 28.7, 39.7, 42.4, 39.7, 44.8, 47.5)
"""Column `dp` of the development table of shared/reference/beyond-up.md section 3, in the order of CELLS."""


def state(later: int, up: int, age_class: int) -> int:
    """Number of a state of the chain: `later` is 1 after the first spell, `up` is 1 with capacity."""
    return (later * 2 + up) * CLASSES + age_class


def fit(found: Sequence[Run], gap: int, ticks: int) -> Floats:
    """Chance of going from state to state in one tick, counted over the first `ticks` of every run; rows sum to 1."""
    counts = np.zeros((STATES, STATES))
    for run in found:
        digits = np.frombuffer(run.capacities[0][:ticks].encode(), dtype=np.uint8) == ord("1")
        steps = np.arange(len(digits))
        begins = np.concatenate(([0], np.flatnonzero(digits[1:] != digits[:-1]) + 1))
        begin = begins[np.searchsorted(begins, steps, side="right") - 1]
        classes = np.searchsorted(AGE_CUTS, (steps - begin) * gap, side="right")
        states = ((begin > 0) * 2 + digits) * CLASSES + classes
        np.add.at(counts, (states[:-1], states[1:]), 1)
    return _normalised(counts)


def _normalised(counts: Floats) -> Floats:
    chances = np.zeros_like(counts)
    for row in range(STATES):
        up = row // CLASSES % 2
        changed, stays = state(1, 1 - up, 0), counts[row].copy()
        change, stays[changed] = counts[row, changed], 0
        chance = max(change / counts[row].sum() if counts[row].any() else 0, LEAST_CHANGE)
        if not stays.any():
            stays[row] = 1
        chances[row] = stays / stays.sum() * (1 - chance)
        chances[row, changed] = chance
    return chances


@dataclass(frozen=True)
class Table:
    """The best answer by whole ticks left, node, level of slack and state of the chain.

    Nodes are idle, spot with 0 to `debts - 1` ticks of debt, and on-demand with as many. A level is `unit` seconds of
    slack, which is the time left less work and debt: it never grows, so the table ends at that of the start.
    """

    answers: NDArray[np.uint8]
    unit: int
    debts: int


def solve(one: Job, gap: int, chances: Floats) -> Table:
    """The answers of least expected cost among those that keep the deadline whatever happens, for one spot tier.

    Where tick and changeover have so small a common divisor that the table would be large, the changeover is rounded up
    to whole ticks in the table.
    """
    changeover = one.changeover
    ticks, slack = one.deadline // gap, one.deadline // gap * gap - one.work
    if slack // math.gcd(gap, changeover) > MOST_LEVELS:
        changeover = -(-changeover // gap) * gap
    solver = _Solver(one, gap, changeover, chances, slack)
    values = np.zeros((1 + 2 * solver.debts, solver.levels, STATES))
    answers = np.zeros((ticks + 1, *values.shape), dtype=np.uint8)
    for left in range(1, ticks + 1):
        values, answers[left] = solver.earlier(values, left)
    return Table(answers, solver.unit, solver.debts)


class _Solver:
    """One step backwards in time; levels and debts in units of slack."""

    def __init__(self, one: Job, gap: int, changeover: int, chances: Floats, slack: int) -> None:
        self.gap, self.chances = gap, chances
        self.unit = math.gcd(gap, changeover)
        self.levels = slack // self.unit + 1
        self.debts = max(-(-changeover // gap), 1)
        self.start, self.tick = changeover // self.unit, gap // self.unit
        self.owed = [max(self.start - self.tick * (self.debts - left), 0) for left in range(self.debts)]
        self.usd = {SPOT: one.spot_usd[0] * gap / HOUR, ON_DEMAND: one.on_demand_usd * gap / HOUR}
        self.up = np.arange(STATES) // CLASSES % 2 == 1
        self.seconds = np.arange(self.levels) * self.unit + slack % self.unit

    def node(self, kind: int, debt: int = 0) -> int:
        """Number of a node, by what is held and its ticks of debt."""
        return {IDLE: 0, SPOT: 1 + debt, ON_DEMAND: 1 + self.debts + debt}[kind]

    def earlier(self, values: Floats, left: int) -> tuple[Floats, NDArray[np.uint8]]:
        """Least expected USD and best answers with `left` ticks to go, from the values with one tick fewer."""
        expected = {(IDLE, 0): values[0] @ self.chances.T}
        for debt in range(self.debts):
            lost = self._at(values[0], self.owed[debt])
            spot = np.where(self.up, values[self.node(SPOT, debt)], lost)
            expected[SPOT, debt] = spot @ self.chances.T + self.usd[SPOT]
            expected[ON_DEMAND, debt] = values[self.node(ON_DEMAND, debt)] @ self.chances.T + self.usd[ON_DEMAND]
        found, answers = np.empty_like(values), np.empty(values.shape, dtype=np.uint8)
        for kind, debt in expected:
            node, owed = self.node(kind, debt), self.owed[debt] if kind else 0
            choices = [self._at(expected[IDLE, 0], owed - self.tick)]
            for other in (SPOT, ON_DEMAND):
                kept = kind == other
                after = max(debt - 1, 0) if kept else self.debts - 1
                choices.append(self._at(expected[other, after], 0 if kept else owed - self.start))
            choices[SPOT] = np.where(self.up, choices[SPOT], NEVER)
            all_choices = np.stack(choices)
            all_choices[all_choices > LEAST_NEVER] = NEVER
            best = all_choices.min(axis=0)
            done = self.seconds + owed * self.unit >= left * self.gap
            found[node] = np.where(done[:, None], 0, best)
            answers[node] = np.where(best < NEVER, all_choices.argmin(axis=0), ON_DEMAND)
        return found, answers

    def _at(self, values: Floats, more: int) -> Floats:
        """Values of levels so much higher; below the lowest the deadline is lost, above the highest nothing differs."""
        levels = np.arange(self.levels) + more
        return np.where((levels < 0)[:, None], NEVER, values[np.clip(levels, 0, self.levels - 1)])


def follows(table: Table) -> Policy:
    """The table as a policy, under the exact guard."""

    def policy(one: Job, gap: int) -> Step:
        answers, top, ticks = table.answers, table.answers.shape[2] - 1, one.deadline // gap

        def step(now: Seen) -> int:
            left = ticks - now.tick
            slack = left * gap - now.left - now.debt
            if slack < 0 or left < 1:
                return ON_DEMAND
            age = now.up_ticks if now.there else now.down_ticks
            in_class = sum(age * gap >= cut for cut in AGE_CUTS)
            debt = min(-(-now.debt // gap), table.debts - 1)
            node = 0 if now.held == IDLE else debt + (1 if now.held == SPOT else 1 + table.debts)
            chain = state(int(age < now.tick), int(now.there), in_class)
            return int(answers[left, node, min(slack // table.unit, top), chain])

        return step

    return with_exact_guard(policy)


def saving(folder: Path, cell: Cell) -> float:
    """Percent saved in one cell by a chain that is fitted to all of its runs."""
    one = job(cell.work, cell.deadline, cell.changeover)
    read = traces(folder, cell.folder)
    gap = read[0].gap_seconds
    found = [run for trace in read for run in runs([trace], EVERY_TENTH, one.deadline)]
    return savings(folder, cell, follows(solve(one, gap, fit(found, gap, one.deadline // gap))))


def main() -> None:
    """Every cell beside the published figure."""
    for cell, published in zip(CELLS, PUBLISHED, strict=True):
        got = saving(Path(sys.argv[1]), cell)
        print(f"{cell.folder}, {cell.deadline} h, {cell.changeover} h: {published} published, {got:.2f} got")


if __name__ == "__main__":
    main()
