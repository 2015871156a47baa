"""The rules in the order in which they are asked. A rule that is not here does not exist."""

from collections.abc import Callable
from typing import Final

from spotproof.fallback.rules.climb import climb
from spotproof.fallback.rules.dry import dry
from spotproof.fallback.rules.equal import equal
from spotproof.fallback.rules.failures import failures
from spotproof.fallback.rules.pace import pace
from spotproof.fallback.rules.pending import pending
from spotproof.fallback.rules.remain import remain
from spotproof.fallback.run import Decision, Instant
from spotproof.fallback.view import View

Rule = Callable[[View], Decision | Instant]
"""What to do, or else the first instant at which this rule might have something to say."""

RULES: Final[tuple[Rule, ...]] = (dry, pace, failures, equal, pending, climb, remain)
