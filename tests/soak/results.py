"""The results of a soak: a file of JSON lines that is only appended to, so that a soak that was stopped goes on.

A line says of which code it is; those of any other are as if they were not there.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from benchmarks.pages import table
from tests.soak.cases import Case, cases
from tests.soak.play import TRIES, Result

HEAD: Final = ("move", "calls", "cases", "as it should be", "call not made", "wrong")


@dataclass
class Results:
    """What is known so far of one version of the code: the calls and watches of each move, what came of each case."""

    path: Path
    code: str
    calls: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    watched: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    of: dict[Case, Result] = field(default_factory=dict[Case, Result])

    @classmethod
    def read(cls, path: Path, code: str) -> Self:
        """Everything that a file holds of this code, if there is one.

        A line that the end of a run has cut short is left out.
        """
        found = cls(path, code)
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if said.get("code") == code:
                found._take(said)
        return found

    def _take(self, line: dict[str, Any]) -> None:
        if "calls" in line:
            self.calls[line["move"]], self.watched[line["move"]] = line["calls"], line["watched"]
        else:
            self.of[Case.of(line)] = Result(line["reached"], line["why"], line["seconds"], line["tries"])

    def rehearsed(self, move: str, calls: Sequence[str], watched: Sequence[str]) -> None:
        """A move as it is."""
        self._append({"move": move, "calls": list(calls), "watched": list(watched)})

    def played(self, case: Case, result: Result) -> None:
        """A case."""
        self._append({**case.plain(), **asdict(result)})

    def _append(self, line: Mapping[str, Any]) -> None:
        # one write, so that workers side by side do not cut each other's lines; the first ends what a killed one began
        begun = self.path.exists() and self.path.read_bytes()[-1:] not in {b"", b"\n"}
        said = {**line, "code": self.code}
        with self.path.open("ab", buffering=0) as file:
            file.write((b"\n" if begun else b"") + json.dumps(said).encode() + b"\n")
        self._take(said)

    def cases(self, moves: Iterable[str]) -> list[Case]:
        """All cases of moves, as far as their calls are known."""
        known = (move for move in moves if move in self.calls)
        return [case for move in known for case in cases(move, self.calls[move], self.watched[move])]

    def left(self, wanted: Iterable[Case]) -> list[Case]:
        """Those of which nothing has come yet."""
        return [case for case in wanted if case not in self.of]

    def unmade(self) -> list[Case]:
        """Cases whose call was made in none of their tries: it is one that occurs only sometimes."""
        return sorted(case for case, result in self.of.items() if not (result.reached or result.why))

    def text(self) -> str:
        """The counts as a page shows them, and by name what they leave open."""
        rows: list[tuple[object, ...]] = []
        unmade = self.unmade()
        for move, calls in sorted(self.calls.items()):
            own = [result for case, result in self.of.items() if case.move == move]
            never, wrong = sum(case.move == move for case in unmade), sum(bool(each.why) for each in own)
            rows.append((move, len(calls), len(own), len(own) - never - wrong, never, wrong))
        rows.append(("all", *(sum(int(str(row[place])) for row in rows) for place in range(1, len(HEAD)))))
        again = sum(result.reached and result.tries > 1 for result in self.of.values())
        wrong = sorted(case for case, result in self.of.items() if result.why)
        said = [
            table(HEAD, rows),
            f"The call of {again} cases was made at the second or third try." if again else "",
            _named(f"Not made in any of {TRIES} tries, as calls that occur only sometimes", unmade),
            _named("Wrong", wrong),
        ]
        return "\n\n".join(filter(None, said))


def _named(what: str, found: Sequence[Case]) -> str:
    return f"{what}: {'; '.join(f'`{each}`' for each in found)}." if found else ""
