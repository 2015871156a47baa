"""What the proofs know of an example: how it is launched, what lies in its store, which faults are planted into it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol

from tests.conftest import ROOT
from tests.resume.kills import Kill

if TYPE_CHECKING:
    from tests.resume.gang import Gang, Played

FAULTS: Final[Mapping[str, str]] = {
    "a marker written first": r"is marked complete with \d+ bytes",
    "a resume that takes the newest directory": r"started at step|failed by itself",
    "an exit with 0 after SIGTERM": r"left with 0",
    "a random state not saved": r"losses differ",
}
"""What is planted into every example, alone, and what the judge has to say of it."""

StoreKind = Literal["file", "s3"]


class Readable(Protocol):
    """What can be read of one run's store, without its programs."""

    @property
    def uri(self) -> str:
        """CHECKPOINT_URI."""
        ...

    def sizes(self) -> Mapping[str, int]:
        """Bytes of every file or object, by its path below CHECKPOINT_URI."""
        ...

    def read(self, path: str) -> bytes:
        """One of them."""
        ...


@dataclass(frozen=True)
class Found:
    """A checkpoint, or what was begun of one, as it lies in the store."""

    folder: str
    step: int
    complete: bool
    """By the mark of the framework or of the program."""
    size: int


def by_marker(folder: str, marker: str) -> Callable[[Readable], Sequence[Found]]:
    """Checkpoints are the folders whose paths match, with a group `step`; the complete ones hold the marker.

    A group `unfinished` that matches says that the folder's own name tells it is none yet.
    """
    pattern = re.compile(f"({folder})/")

    def find(store: Readable) -> Sequence[Found]:
        sizes: dict[str, int] = {}
        marked: set[str] = set()
        steps: dict[str, int] = {}
        for path, size in store.sizes().items():
            if not (match := pattern.match(path)):
                continue
            name, rest = match[1], path[match.end() :]
            steps[name] = int(match["step"])
            sizes[name] = sizes.get(name, 0) + size
            if rest == marker and not match.groupdict().get("unfinished"):
                marked.add(name)
        return [Found(name, steps[name], name in marked, sizes[name]) for name in sorted(steps, key=lambda n: steps[n])]

    return find


@dataclass(frozen=True)
class Fault:
    """`old` is replaced by `new` in a copy of train.py, for each pair."""

    words: str
    """One of FAULTS."""
    changes: Sequence[tuple[str, str]]
    kills: Sequence[Kill]
    """Under which kills it shows."""
    store: StoreKind = "s3"
    why_not: str = ""
    """Why this fault cannot be planted here; it then has no changes."""


class Play(Protocol):
    """Plays a run of an example under kills, told some variables more."""

    def __call__(self, kills: Sequence[Kill], variables: Mapping[str, str]) -> "Played":
        """All of it."""
        ...


@dataclass(frozen=True)
class Example:
    """One row of the table."""

    name: str
    processes: int
    find: Callable[[Readable], Sequence[Found]]
    faults: Sequence[Fault]
    options: Sequence[str] = ()
    """For train.py, beside those that all have; `{port}` becomes a free one."""
    steps: int = 120
    save_steps: int = 20
    keep: int = 3
    width: int = 256
    step_seconds: float = 0.02
    late_steps: int = 0
    """So many may be done before one of them is heard of: the last kill comes as much earlier."""
    notice_seconds: float = 25
    """The shortest of the clouds' notices, less what the wrapper needs."""
    stores: Sequence[StoreKind] = ("file", "s3")
    """On which it is proven where nobody says otherwise."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of its environment, beside what a rendered pod is told."""
    gang: "type[Gang] | None" = None
    """What launches it, where its operator has another way than JobSet."""
    leaves: bool = True
    """Whether its processes have to leave with 143 after SIGTERM. Ray ends and restarts them itself."""
    also: "Mapping[str, Callable[[Play], Sequence[str]]]" = field(
        default_factory=dict[str, "Callable[[Play], Sequence[str]]"]
    )
    """What else holds of it, by its words, and what finds where it does not."""
    rarely: "Mapping[str, Callable[[Play], Sequence[str]]]" = field(
        default_factory=dict[str, "Callable[[Play], Sequence[str]]"]
    )
    """The same, where everything is asked for."""
    pages: Mapping[str, Callable[[Path, Path], Sequence[str]]] = field(
        default_factory=dict[str, Callable[[Path, Path], Sequence[str]]]
    )
    """Programs of how-to pages that run in its environment: what is wrong with each, by its words, where everything is
    asked for. Given are the environment's Python and a folder to be made."""
    large: str = ""
    """Why it is only run when it is asked for."""

    def long_enough_for(self, kills: int) -> "Example":
        """With a save's steps for each kill: a SIGTERM in a save moves the run on by what is saved after it.

        Of 120 steps 19 to 32 of 50 kills were made before the run had come to its end.
        """
        return replace(self, steps=max(self.steps, self.save_steps * (kills + 1) + self.late_steps))

    @property
    def folder(self) -> Path:
        return ROOT / "examples" / self.name

    def arguments(self, port: int) -> Sequence[str]:
        """Of train.py."""
        return (
            *("--steps", f"{self.steps}", "--save-steps", f"{self.save_steps}", "--keep", f"{self.keep}"),
            *("--width", f"{self.width}", "--step-seconds", f"{self.step_seconds}"),
            *(option.format(port=port) for option in self.options),
        )
