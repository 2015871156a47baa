"""The results of a soak: a file of JSON lines that is only appended to, so that a soak that was stopped goes on."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from benchmarks.pages import table
from tests.soak.cases import Case, cases
from tests.soak.play import Result

HEAD: Final = ("move", "calls", "cases", "as it should be", "call not made", "wrong")


@dataclass
class Results:
    """What is known so far: the calls and watches of each move, and what came of each case."""

    path: Path
    calls: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    watched: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    of: dict[Case, Result] = field(default_factory=dict[Case, Result])

    @classmethod
    def read(cls, path: Path) -> Self:
        """Everything that a file holds, if there is one. A line that the end of a run has cut short is left out."""
        found = cls(path)
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                found._take(json.loads(line))
            except ValueError:
                continue
        return found

    def _take(self, line: dict[str, Any]) -> None:
        if "calls" in line:
            self.calls[line["move"]], self.watched[line["move"]] = line["calls"], line["watched"]
        else:
            self.of[Case.of(line)] = Result(line["reached"], line["why"], line["seconds"])

    def rehearsed(self, move: str, calls: Sequence[str], watched: Sequence[str]) -> None:
        """A move as it is."""
        self._append({"move": move, "calls": list(calls), "watched": list(watched)})

    def played(self, case: Case, result: Result) -> None:
        """A case."""
        self._append({**case.plain(), **vars(result)})

    def _append(self, line: Mapping[str, Any]) -> None:
        # one write, so that workers side by side do not cut each other's lines
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(line).encode() + b"\n")
        self._take(dict(line))

    def cases(self, moves: Iterable[str]) -> list[Case]:
        """All cases of moves, as far as their calls are known."""
        known = (move for move in moves if move in self.calls)
        return [case for move in known for case in cases(move, self.calls[move], self.watched[move])]

    def text(self) -> str:
        """The counts as a page shows them."""
        rows: list[tuple[object, ...]] = []
        for move, calls in sorted(self.calls.items()):
            own = [result for case, result in self.of.items() if case.move == move]
            right = [each for each in own if not each.why]
            unmade = sum(not each.reached for each in right)
            rows.append((move, len(calls), len(own), len(right) - unmade, unmade, len(own) - len(right)))
        rows.append(("all", *(sum(int(str(row[place])) for row in rows) for place in range(1, len(HEAD)))))
        wrong = sorted(str(case) for case, result in self.of.items() if result.why)
        named = "\n\nWrong: " + "; ".join(f"`{each}`" for each in wrong) + "." if wrong else ""
        return f"{table(HEAD, rows)}{named}"
