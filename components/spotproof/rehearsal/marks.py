"""What a rehearsal does from outside, as its recording marks it."""

from typing import Final

STEP: Final = "step"
"""What comes next, in words."""
SUBMIT: Final = "submit"
RECLAIM: Final = "reclaim"
"""A NodeClaim is deleted, as it is when the cloud takes its machine."""
CLOSES: Final = "close the spot market"
"""From here on no spot node is to be had."""
OPENS: Final = "open the spot market"
"""From here on it is again."""
