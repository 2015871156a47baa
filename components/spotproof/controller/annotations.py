"""What a job and its TrainingRun say by annotations. (Replaced by the branch `checks`.)"""

from spotproof.controller.kinds import Object
from spotproof.fallback.record import parse_instant
from spotproof.fallback.run import Instant
from spotproof.settings.base import parse_duration
from spotproof.vocabulary import BACKOFF_LIMIT_ANNOTATION, DEADLINE_ANNOTATION, PROGRESS_ANNOTATION, WORK_ANNOTATION


def _read(thing: Object, key: str) -> str | None:
    return thing["metadata"].get("annotations", {}).get(key)


def deadline_of(job: Object) -> Instant | None:
    """When the job must be ready."""
    text = _read(job, DEADLINE_ANNOTATION)
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError:
        return parse_instant(job["metadata"]["creationTimestamp"]) + int(parse_duration(text).total_seconds())


def work_of(job: Object) -> int | None:
    """Seconds of work."""
    text = _read(job, WORK_ANNOTATION)
    return None if text is None else int(float(text) * 3600)


def backoff_limit_of(job: Object) -> int | None:
    """Software errors that the job may restart from."""
    text = _read(job, BACKOFF_LIMIT_ANNOTATION)
    return None if text is None else int(text)


def progress_of(run: Object) -> int | None:
    """Seconds of work in the newest complete checkpoint."""
    text = _read(run, PROGRESS_ANNOTATION)
    return int(text) if text is not None and text.isdigit() else None
