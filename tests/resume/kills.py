"""When a gang is killed, and how: a plan that a seed decides, in moments of the program and never in seconds."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Moment = Literal["resume", "step", "save"]

MOMENTS: Final[Sequence[Moment]] = ("step", "save", "save", "step", "resume")
"""In turns: between two saves, inside a save, and while an attempt starts."""
TOLD: Final = 0.4
"""Of the kills, those announced by SIGTERM. The others are a node that is gone at once."""


@dataclass(frozen=True)
class Kill:
    """One node of the gang is reclaimed."""

    step: int
    """Once the program has said that this step, or a later one, is done; 0 for `resume`, and for a `save` that is told
    from those before it by `to`, and is waited for from the start."""
    moment: Moment = "step"
    """`save`: when it begins its `write`th write to the store after that. `resume`: when it says where it starts."""
    told: bool = False
    """SIGTERM, and SIGKILL after the notice. Otherwise SIGKILL at once."""
    process: int = 0
    """Which one, counted modulo the processes that there are."""
    write: int = 1
    to: str = ""
    """Of the writes, those that count: a regular expression for paths below the URI. All of them where it is empty."""

    def __str__(self) -> str:
        when = {"resume": "at its start", "step": f"after step {self.step}"}
        where = when.get(self.moment, f"in write {self.write} after step {self.step}")
        return f"{'SIGTERM' if self.told else 'SIGKILL'} to process {self.process} {where}"


@dataclass(frozen=True)
class Ground:
    """What a plan has to know of the run."""

    steps: int
    save_steps: int
    """Between two saves."""
    processes: int
    writes: int
    """That one save makes in the store."""


def plan(seed: int, kills: int, ground: Ground) -> Sequence[Kill]:
    """So many kills, in the order in which they happen; the same seed is the same plan.

    The first process writes, alone or with others: where it is killed in a save, the save is torn. It is not killed
    in the first third of its writes, which would leave little to be taken for a checkpoint.

    Raises:
        ValueError: There are not so many steps.
    """
    dice = random.Random(seed)  # noqa: S311 - reproducible, not secret
    last = ground.steps - ground.save_steps - 1  # a kill inside a save needs one to come
    if kills > last:
        raise ValueError(f"{kills} kills need more than {last} steps")
    moments: list[Moment] = [MOMENTS[each % len(MOMENTS)] for each in range(kills)]
    dice.shuffle(moments)
    told = [each < round(TOLD * kills) for each in range(kills)]
    dice.shuffle(told)
    return [
        Kill(
            step=0 if moment == "resume" else step,
            moment=moment,
            told=announced,
            process=0 if moment == "save" and not announced else dice.randrange(ground.processes),
            write=dice.randint(ground.writes // 3 + 1, ground.writes),
        )
        for step, moment, announced in zip(sorted(dice.sample(range(1, last), kills)), moments, told, strict=True)
    ]
