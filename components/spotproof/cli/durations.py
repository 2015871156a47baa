"""Durations of the command line, in whole seconds."""

import re
from typing import Final

from spotproof.settings.base import parse_duration

LONGEST: Final = 366 * 24 * 3600


def seconds(option: str, text: str, *, least: int = 1) -> int:
    """What an option says, as 90s, 30m, 2h or 1h30m; 0 too, where `least` is 0.

    Raises:
        ValueError: it says something else, or more than a year; the sentence names the option.
    """
    if least == 0 and re.fullmatch(r"0[hms]?", text, re.ASCII):
        return 0
    try:
        found = int(parse_duration(text).total_seconds())
    except ValueError as error:
        raise ValueError(f"{option} is {text!r}: {error}") from None
    if found > LONGEST:
        raise ValueError(f"{option} is {text!r}: more than a year; write a shorter time")
    return found
