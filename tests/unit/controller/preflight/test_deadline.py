"""What authors ask for by annotations is read, or refused; what has no effect is told."""

from typing import Any

import pytest

from spotproof.controller.preflight import preflight
from spotproof.settings.fallback import Deadline
from spotproof.vocabulary import DEADLINE_ANNOTATION, WORK_ANNOTATION
from tests.unit.controller.preflight.samples import JOBSET, changed, policy


def found(mode: str, deadline: str | None, work: str | None) -> list[tuple[str, str, bool]]:
    annotations = {DEADLINE_ANNOTATION: deadline, WORK_ANNOTATION: work}
    given = {key: text for key, text in annotations.items() if text is not None}
    job = changed(JOBSET, ("metadata", "annotations"), given)
    settings: Any = Deadline.model_validate({"mode": mode})
    findings = preflight(job, policy(deadline=settings), ())
    return [(each.code, each.field.partition("dev/")[2].rstrip("']"), each.refuses) for each in findings]


@pytest.mark.parametrize(
    ("mode", "deadline", "work", "expected"),
    [
        ("guard", "36h", "12", []),
        ("pace", "2026-11-23T18:00:00Z", "12.5", []),
        ("guard", None, None, []),
        ("off", None, None, []),
        ("off", None, "12", []),
        ("guard", "36h", None, [("DeadlineIncomplete", "work", False)]),
        ("pace", None, "12", [("DeadlineIncomplete", "deadline", False)]),
        ("off", "36h", "12", [("DeadlineUnused", "deadline", False)]),
        ("guard", "2026-11-20T18:00:00Z", "12", [("DeadlinePassed", "deadline", False)]),
        ("guard", "soon", "12", [("Deadline", "deadline", True)]),
        ("guard", "soon", "much", [("Deadline", "deadline", True), ("Work", "work", True)]),
        ("guard", "36h", "0", [("Work", "work", True)]),
    ],
)
def test_a_deadline_is_kept_refused_or_told_to_have_no_effect(
    mode: str, deadline: str | None, work: str | None, expected: list[tuple[str, str, bool]]
) -> None:
    assert found(mode, deadline, work) == expected


def test_what_cannot_be_read_is_shown_with_what_to_write() -> None:
    job = changed(JOBSET, ("metadata", "annotations"), {DEADLINE_ANNOTATION: "Friday"})
    (refused, _) = preflight(job, policy(), ())
    assert str(refused) == (
        "metadata.annotations['spotproof.dev/deadline']: is \"Friday\", neither a time with its zone nor a duration; "
        "it would not be kept. Write a time with its zone, as in 2026-11-21T18:00:00Z, or a duration from the job's "
        "creation, as in 36h."
    )
