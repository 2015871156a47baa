"""How names are made to fit: the same on every cloud, whose own names.py knows what is named."""

import hashlib
import re
from typing import Final

HASH: Final = 8
"""Hexadecimal characters: among 10,000 names a clash has a chance of 1 %; a stack has about 40."""


def digest(text: str, length: int = HASH) -> str:
    """A few characters that stand for a text: fewer in a short name, more in one that is unique in the world."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def shortened(name: str, limit: int) -> str:
    """The name, or as much of it as fits with a hash of the whole: always the same, and distinct for distinct names."""
    if len(name) <= limit:
        return name
    return f"{name[: limit - HASH - 1].rstrip('-')}-{digest(name)}"


def slug(text: str) -> str:
    """A text as lower-case letters, digits and hyphens; marked with its hash where that changed it."""
    plain = re.sub(r"-{2,}", "-", re.sub(r"[^a-z0-9]", "-", text.lower())).strip("-")
    return plain if plain == text else f"{plain}-{digest(text)}".lstrip("-")
