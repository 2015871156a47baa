"""Text from anywhere, made safe to look at, and numbers as people read them."""

import re
from typing import Final

NBSP: Final = "\u00a0"

# Control characters, halves of surrogate pairs and marks that turn the direction of what follows: none has a meaning in
# a name, HTML refuses some, and the last kind makes a text look like another one (CVE-2021-42574).
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """The text with every character that cannot be seen, line breaks and tabs aside, replaced by U+FFFD."""
    return _UNSEEN.sub("\ufffd", text)


def number(value: float, decimals: int = 0) -> str:
    """`1,234.5`, and no minus before nothing."""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def usd(value: float) -> str:
    """Whole dollars from 100 on, cents below."""
    return f"{number(value, 0 if abs(value) >= 100 else 2)}{NBSP}USD"  # noqa: PLR2004 - a cent says nothing there


def hours(value: float) -> str:
    """Hours, and minutes below one hour."""
    if 0 < abs(value) < 1:
        return minutes(value * 60)
    return f"{number(value, 1).removesuffix('.0')}{NBSP}h"


def seconds(value: float) -> str:
    """Seconds, with one decimal below ten; minutes and seconds from two minutes on."""
    if abs(value) < 120:  # noqa: PLR2004 - two minutes
        return f"{number(value, 1 if abs(value) < 10 else 0).removesuffix('.0')}{NBSP}s"  # noqa: PLR2004
    whole = round(value)
    return f"{whole // 60}{NBSP}min {whole % 60}{NBSP}s"


def minutes(value: float) -> str:
    """Minutes, with one decimal below ten."""
    return f"{number(value, 1 if abs(value) < 10 else 0).removesuffix('.0')}{NBSP}min"  # noqa: PLR2004


def percent(value: float) -> str:
    """Per cent with one decimal, which is what 1,000 runs can tell apart."""
    return f"{number(value, 1).removesuffix('.0')}{NBSP}%"
