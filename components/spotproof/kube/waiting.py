"""Waiting for something to be seen: polled with a deadline, and said what was seen last when it passes."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

INTERVAL_SECONDS: Final = 0.05


class NotSeen(TimeoutError):  # noqa: N818  # the name is the sentence
    """What was waited for did not come in time; the text says what, for how long, and what was seen instead."""


def wait(  # noqa: PLR0913  # two are what to look for, the rest has defaults
    read: Callable[[], T | None],
    what: str,
    within_seconds: float,
    *,
    seen: Callable[[], object] | None = None,
    patient: tuple[type[Exception], ...] = (),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """What `read` gives as soon as it is something other than None, False or empty.

    Args:
        read: looks once; an exception of `patient` counts as nothing seen yet, any other is raised.
        what: is waited for, as a sentence's end: "4 pods Running".
        within_seconds: how long.
        seen: says what is there instead, asked once when the time is over; without it the last look is told.
        patient: exceptions that are no answer yet.
        clock: seconds, monotonic.
        sleep: pauses between two looks.

    Raises:
        NotSeen: the time is over.
    """
    deadline, last = clock() + within_seconds, "nothing"
    while True:
        try:
            found = read()
        except patient as error:
            found, last = None, str(error) or type(error).__name__
        else:
            last = "nothing" if found is None else repr(found)
        if found:
            return found
        if clock() >= deadline:
            raise NotSeen(f"waited {within_seconds:g} s for {what}; seen last: {last if seen is None else seen()}")
        sleep(INTERVAL_SECONDS)
