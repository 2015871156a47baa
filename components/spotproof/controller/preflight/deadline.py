"""What the job's author asks for by annotations can be read, and has an effect."""

from collections.abc import Callable, Iterator
from typing import Final

from spotproof.controller.annotations import (
    created_of,
    deadline_of,
    parse_backoff_limit,
    parse_deadline,
    parse_work,
    text_of,
)
from spotproof.controller.preflight.finding import Finding, finding
from spotproof.controller.preflight.view import View, annotation_field
from spotproof.settings.errors import shown
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION, DEADLINE_ANNOTATION, WORK_ANNOTATION

BOTH: Final = (DEADLINE_ANNOTATION, WORK_ANNOTATION)
READERS: Final[tuple[tuple[str, str, Callable[[View, str], object]], ...]] = (
    (DEADLINE_ANNOTATION, "Deadline", lambda view, text: parse_deadline(text, created_of(view.job))),
    (WORK_ANNOTATION, "Work", lambda _view, text: parse_work(text)),
    (BACKOFF_LIMIT_ANNOTATION, "BackoffLimit", lambda _view, text: parse_backoff_limit(text)),
)


def deadline(view: View) -> Iterator[Finding]:
    """Text that cannot be read is refused: a deadline that is silently not kept is found out too late."""
    for annotation, code, read in READERS:
        if (text := text_of(view.job, annotation)) is not None:
            try:
                read(view, text)
            except ValueError as problem:
                yield finding(code, annotation_field(annotation), problem=problem)
    mode, policy = view.policy.deadline.mode, view.policy.name
    there = [annotation for annotation in BOTH if text_of(view.job, annotation) is not None]
    if mode == "off" and DEADLINE_ANNOTATION in there:
        written = shown(text_of(view.job, DEADLINE_ANNOTATION))
        yield finding("DeadlineUnused", annotation_field(DEADLINE_ANNOTATION), deadline=written, policy=policy)
    elif mode != "off" and len(there) == 1:
        (missing,) = (annotation for annotation in BOTH if annotation not in there)
        yield finding("DeadlineIncomplete", annotation_field(missing), other=there[0], mode=mode, policy=policy)
    elif mode != "off" and (at := deadline_of(view.job)) is not None and at <= created_of(view.job):
        yield finding("DeadlinePassed", annotation_field(DEADLINE_ANNOTATION))
