"""Every event and condition is a word, a whole sentence, what it means and what to do."""

import ast
from pathlib import Path
from string import Formatter
from typing import Final

import pytest

from spotproof.controller import messages
from spotproof.controller.causes import EVIDENCE
from spotproof.controller.messages import (
    CONDITIONS,
    EVENTS,
    LONGEST_MESSAGE,
    LONGEST_NOTE,
    NAME_TAKEN,
    NOTHING,
    condition,
    event,
)
from spotproof.controller.phases import PLACING, REASONS, UNDER_WAY, why
from spotproof.controller.preflight import CHECKS
from spotproof.controller.recovery import MESSAGE
from spotproof.controller.said import PATTERNS, UNBOUGHT
from spotproof.fallback.reasons import FORMATS, NODES_HELD, SENTENCES, Code, phrase
from spotproof.fallback.record import RunCondition
from tests.pages import admission
from tests.pages.messages import EXAMPLES, HISTORY, page

FOLDER: Final = Path(messages.__file__).parent
STATES: Final = [(kind, reason) for kind, each in CONDITIONS.items() for reason in each.states]


def values(sentence: str) -> dict[str, int | str]:
    """A value for each name of a sentence."""
    named = {name: kind or "" for _, name, kind, _ in Formatter().parse(sentence) if name}
    return {name: 90 if kind in FORMATS else f"<{name}>" for name, kind in named.items()}


def test_the_events_and_conditions_are_those_that_were_agreed() -> None:
    assert set(EVENTS) == {
        *("Refused", "Evicted", "Moving", "Moved", "Restarted", "Parked", "HandedBack", "NoProgress", "Failed"),
        *("NodeGone", "Error", "Restarting", "Unparked", "Disrupted", "LastTierWaits", "Warned"),
    }
    assert {kind for kind, each in CONDITIONS.items() if each.of == "TrainingRun"} == {
        *("Accepted", "HandedBack", "Paused", "NoProgress", "ProgressAssumed", "DeadlineIncomplete"),
        *("CheckpointUnknown", "LastTierWaits", "PolicyInvalid", "Warned"),
    }


@pytest.mark.parametrize("code", EVENTS)
def test_an_event_is_a_whole_sentence_with_its_values(code: str) -> None:
    message = EVENTS[code]
    kind, reason, note = event(code, **values(message.sentence))

    assert (kind, reason) == (message.type, code)
    assert all(str(value) in note for value in values(message.sentence).values() if isinstance(value, str))
    assert "{" not in note
    assert not note.endswith(".")
    assert message.meaning.endswith(".")
    assert message.remedy.endswith(".")


@pytest.mark.parametrize("code", [code for code, message in EVENTS.items() if message.type == "Warning"])
def test_a_warning_says_what_to_do(code: str) -> None:
    assert EVENTS[code].remedy != NOTHING


@pytest.mark.parametrize(("kind", "reason"), STATES)
def test_a_state_of_a_condition_is_a_whole_sentence_and_fits_the_record(kind: str, reason: str) -> None:
    state = CONDITIONS[kind].states[reason]
    status, word, message = condition(kind, reason, **values(state.sentence))

    assert (status, word) == (state.status, reason)
    assert "{" not in message
    assert not message.endswith(".")
    assert state.remedy.endswith(".")
    RunCondition(type=kind, status=status, last_transition_time=0, reason=word, message=message)


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_of_the_controllers_own_is_a_whole_sentence(reason: str) -> None:
    each = REASONS[reason]
    said = why(reason, **values(each.sentence))

    assert all(str(value) in said for value in values(each.sentence).values())
    assert "{" not in said
    assert not said.endswith(".")
    assert each.remedy.endswith(".")


def test_a_reason_is_the_rules_or_the_controllers() -> None:
    assert not REASONS.keys() & {code.value for code in Code}


@pytest.mark.parametrize("kind", CONDITIONS)
def test_a_condition_can_come_and_go(kind: str) -> None:
    assert {state.status for state in CONDITIONS[kind].states.values()} == {"True", "False"}
    assert CONDITIONS[kind].meaning.endswith(".")


@pytest.mark.parametrize("word", [*EVENTS, *CONDITIONS, *REASONS, *(reason for _, reason in STATES)])
def test_a_word_is_one_word_as_kubernetes_has_it(word: str) -> None:
    assert word.isalpha()
    assert word[0].isupper()


def test_what_is_longer_than_the_api_server_takes_is_cut_and_shows_it() -> None:
    _, _, note = event("Refused", message="x" * 5000, remedy="")
    _, _, message = condition("Accepted", "Refused", message="x" * 5000)

    assert (len(note), len(message)) == (LONGEST_NOTE, LONGEST_MESSAGE)
    assert note[-1] == message[-1] == "…"


def test_a_value_that_is_not_given_is_an_error() -> None:
    with pytest.raises(LookupError):
        event("Moving", tier="a")
    with pytest.raises(LookupError):
        event("Exploded")


def test_the_page_shows_every_word_with_an_example_of_its_own() -> None:
    text = page()
    assert set(EXAMPLES) == set(Code)
    for word in (*(code.value for code in Code), *CHECKS, *EVENTS, *CONDITIONS, *(reason for _, reason in STATES)):
        assert f"| {word} " in text or f"### {word} " in text
    for code, numbers in EXAMPLES.items():
        used = {int(name) for _, name, _, _ in Formatter().parse(SENTENCES[code]) if name}
        assert used <= set(range(len(numbers)))


def test_the_page_has_every_refusal_of_the_api_server_and_whatever_a_job_can_wait_for() -> None:
    text = page()
    for *_, message in (*admission.policies(), *admission.of_kinds()):
        assert f"| {message.replace('|', chr(92) + '|')} |" in text
    assert {name for name, *_ in admission.policies()} >= {
        *("spotproof-jobsets", "spotproof-rayjobs", "spotproof-batch-jobs", "spotproof-jobsets-checkpoints"),
        *("spotproof-rayjobs-checkpoints", "spotproof-progress", "spotproof-nodeclaims"),
    }
    assert {kind for kind, *_ in admission.of_kinds()} == {"FallbackPolicy", "TrainingRun"}
    for pattern in PATTERNS:
        assert pattern.source in text


@pytest.mark.parametrize(
    "sentence",
    [
        *(NODES_HELD, UNDER_WAY, PLACING, UNBOUGHT, NAME_TAKEN.sentence, MESSAGE),
        *(seen.sentence for seen in EVIDENCE.values()),
    ],
)
def test_the_page_has_what_is_added_to_a_sentence_and_what_is_seen_of_a_loss(sentence: str) -> None:
    names = {name: f"*{name}*" for _, name, _, _ in Formatter().parse(sentence) if name}

    assert phrase(sentence, **names).removeprefix("; ") in page()


def test_the_page_has_every_word_that_the_history_gives_as_a_reason() -> None:
    """Past(reason=...) in the controller's code: a constant, or a reason of a table."""
    written = {
        each.value.value
        for file in FOLDER.glob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute)
        for each in call.keywords
        if each.arg == "reason" and isinstance(each.value, ast.Constant) and _name(call.func) == "Past"
    } | {"Error", "Voluntary"}  # by copies of the entry before them, concluding.py

    assert written == {reason for reason, *_ in HISTORY} - {"any other"}


def _name(called: ast.Name | ast.Attribute) -> str:
    return called.id if isinstance(called, ast.Name) else called.attr
