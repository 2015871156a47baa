"""Whatever docs/messages.md says that the controller says, some line of its code does say: no word is left over.

Read from the source, since a word that nothing says is one that no run shows. Where a word comes by a name, as in
`VALID`, or through a variable, it counts for the function that has it.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from spotproof.controller import messages
from spotproof.controller.causes import EVIDENCE
from spotproof.controller.messages import BEGINS, CONDITIONS, ENDS, EVENTS
from spotproof.controller.phases import REASONS
from spotproof.fallback.reasons import Code

PACKAGE: Final = Path(messages.__file__).parent
TABLES: Final = {"messages.py", "phases.py"}
"""Where the words are kept; that they stand there proves nothing."""
TELL: Final = {"tell", "tell_once"}
CONDITION: Final = {"condition", "conditioned"}


class Function(NamedTuple):
    """What a function calls by name, and the words that are in it."""

    calls: frozenset[str]
    words: frozenset[str]


def names_of(folder: Path) -> dict[str, str]:
    """Constants of the modules below a folder that are one word: name -> word."""
    return {
        node.target.id: node.value.value
        for file in sorted(folder.rglob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def read(node: ast.AST, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`call` and `word` for all that is called and said in a function; its docstring says nothing."""
    quiet = {id(each.value) for each in ast.walk(node) if isinstance(each, ast.Expr)}
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            called = each.func
            yield "call", called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in quiet:
            yield "word", each.value
        elif isinstance(each, ast.Name | ast.Attribute):
            name = each.id if isinstance(each, ast.Name) else each.attr
            if name in names:
                yield "word", names[name]


def functions_of(folder: Path, names: Mapping[str, str]) -> list[Function]:
    made: list[Function] = []
    for file in sorted(folder.rglob("*.py")):
        if file.name in TABLES:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found = list(read(node, names))
                calls, words = ({word for what, word in found if what == one} for one in ("call", "word"))
                made.append(Function(frozenset(calls), frozenset(words)))
    return made


def constants_of(folder: Path) -> list[Function]:
    """What is called, and with which words, where a module gives something a name."""
    return [
        Function(
            frozenset(each for what, each in read(node, {}) if what == "call"),
            frozenset(each for what, each in read(node, {}) if what == "word"),
        )
        for file in sorted(folder.rglob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign)
    ]


@cache
def functions() -> list[Function]:
    return functions_of(PACKAGE, names_of(PACKAGE.parent))


def say(called: set[str], *words: str, among: list[Function] | None = None) -> bool:
    """Whether a function that calls one of these has all of the words."""
    return any(each.calls & called and set(words) <= each.words for each in among or functions())


@pytest.mark.parametrize("code", EVENTS)
def test_every_event_is_told_by_some_function(code: str) -> None:
    through = code in BEGINS.values() or code in ENDS.values()

    assert say(TELL, code) or through


def test_the_events_of_moves_are_told_as_a_move_begins_and_ends() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in PACKAGE.glob("*.py"))

    assert ".tell(BEGINS[" in text
    assert ".tell(ENDS[" in text


STATES: Final = [(kind, reason) for kind, each in CONDITIONS.items() for reason in each.states]


@pytest.mark.parametrize(("kind", "reason"), STATES)
def test_every_state_of_a_condition_is_said_by_some_function(kind: str, reason: str) -> None:
    assert say(CONDITION, kind, reason)


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_of_the_controllers_own_is_given_by_some_function(reason: str) -> None:
    assert any(reason in each.words for each in functions())


def attributes(folder: Path, of: str) -> set[str]:
    """`X` of every `of.X` in the code."""
    return {
        each.attr
        for file in folder.rglob("*.py")
        if file.name not in {"reasons.py", *TABLES}
        for each in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == of
    }


def test_every_reason_of_the_rule_is_given_by_some_rule() -> None:
    given = attributes(PACKAGE.parent / "fallback", "Code")

    assert {code.name for code in Code} - given == set()


@pytest.mark.parametrize("word", EVIDENCE)
def test_every_sentence_of_evidence_is_said(word: str) -> None:
    assert say({"in_words", "fate"}, word, among=[*functions(), *constants_of(PACKAGE)])


SPEAKING: Final = (PACKAGE, PACKAGE / "jobs", PACKAGE.parent / "fallback", PACKAGE.parent / "fallback" / "rules")
"""What speaks to the owner of a job. What `preflight` says are values of the sentences of its table."""
OF_THE_PAGE: Final = {*TABLES, "causes.py", "said.py", "reasons.py", "recovery.py"}
"""Whose constants the page is made of; what stands in their functions is code like any other."""
APART: Final = {
    *("__main__.py", "access.py", "exposition.py", "serving.py"),  # said to whoever runs the process
    *("record.py", "resolved.py"),  # descriptions, which stand in the CRDs
    "annotations.py",  # what is wrong with an annotation: a value, which names what was written
}
VALUES: Final = {
    "by its own choice": "why Karpenter takes a node away, a value of `Chosen`",
    "1 node is": "a number in our words",
    " nodes are": "a number in our words",
    "not yet, or not any more": "an answer of /healthz",
    "what it has told could not be kept": "a line of the log",
    "the watch was ended by the server": "a line of the log",
    "the watch ended at once": "a line of the log",
    "a call failed and is tried again": "a line of the log",
    "not served": "a label of a metric",
    "insufficient capacity": "Karpenter's own words",
}
"""What has more than one word and is no sentence of its own, and what it is."""
WORDS: Final = re.compile(r"\w,? \w")


def sentences_of(file: Path) -> Iterator[str]:
    """Text of more than one word in the code of a file that is no documentation, error or line of the log."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    parts = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for part in parts if file.name in OF_THE_PAGE else [tree]:
        quiet = {id(each) for node in ast.walk(part) if _is_quiet(node) for each in ast.walk(node)}
        for node in ast.walk(part):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet:
                yield from [node.value] if WORDS.search(node.value) else []


def _is_quiet(node: ast.AST) -> bool:
    """A docstring, what is raised, a call of the log or a cast."""
    if isinstance(node, ast.Call):
        called = node.func
        return getattr(called, "id", "") == "cast" or getattr(getattr(called, "value", None), "id", "") == "_log"
    return isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def test_whatever_is_said_to_people_stands_in_the_tables_that_the_page_is_made_of() -> None:
    """A sentence in the middle of the code is one that docs/messages.md cannot have."""
    files = [file for folder in SPEAKING for file in folder.glob("*.py") if file.name not in APART]
    found = {each for file in files for each in sentences_of(file)}

    assert found == set(VALUES)


def test_a_sentence_in_the_middle_of_the_code_is_found(tmp_path: Path) -> None:
    text = (
        'SAID: Final = "of a table"\n'
        'def one(case):\n    "Of no concern."\n    _log.info("in the log")\n'
        '    case.tell("Moved", message=f"to {case}; being placed")\n    raise ValueError("an error")\n'
    )
    for name in ("some.py", "messages.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")

    assert set(sentences_of(tmp_path / "some.py")) == {"of a table", "; being placed"}
    assert set(sentences_of(tmp_path / "messages.py")) == {"; being placed"}


def test_a_word_that_nothing_says_is_found(tmp_path: Path) -> None:
    """The look itself: a docstring, another function's word and a table do not count; a name and a branch do."""
    (tmp_path / "messages.py").write_text('def one():\n    tell("Lost")\n', encoding="utf-8")
    (tmp_path / "some.py").write_text(
        'SAID: Final = "ByName"\n'
        'def one(case):\n    "Told"\n    case.tell("Moved" if case else SAID)\n'
        'def other():\n    return "Quiet"\n',
        encoding="utf-8",
    )
    there = functions_of(tmp_path, names_of(tmp_path))

    assert say(TELL, "Moved", among=there)
    assert say(TELL, "ByName", among=there)
    assert not any(say(TELL, word, among=there) for word in ("Lost", "Told", "Quiet"))
