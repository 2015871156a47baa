"""Why a job is where the fallback rule has not put it: in a move of the controller's own, in other hands, or over.

Data, as in messages.py: docs/messages.md is the whole of it. What the rule decides is said by fallback/reasons.py, and
what a job is refused for by controller/preflight.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from spotproof.controller.messages import EVENTS, GIVE_BACK, NOTHING
from spotproof.controller.said import SPOT_ROLE_COMMAND
from spotproof.fallback.reasons import phrase
from spotproof.fallback.record import RunPhase
from spotproof.vocabulary import MANUAL_LABEL, PAUSED_LABEL


class Why(NamedTuple):
    """The phase that a job is in for a reason, its sentence with named values, and what its reader does."""

    phase: RunPhase
    sentence: str
    remedy: str = NOTHING


SILENT_HANG: Final = "SilentHang"
ROLE_MISSING: Final = "SpotRoleMissing"
HALF_PLACED: Final = "HalfPlaced"
REASONS: Final[Mapping[str, Why]] = MappingProxyType(
    {
        SILENT_HANG: Why(
            "Moving",
            "a pod that was told to go ended with exit code 0, so its work counts as done and the others wait for it "
            "for ever: restarting",
            "Let the program leave with another status after SIGTERM; `spotproof render` wraps its command so.",
        ),
        HALF_PLACED: Why(
            "Parked",
            "held {nodes} nodes for {tier} that the rest of the gang did not get: given back",
            EVENTS["Parked"].remedy,
        ),
        ROLE_MISSING: Why(
            "Waiting",
            "EC2 starts no spot node for {tier}, and this is no dry market: the account lacks the service-linked role "
            f"for spot. Run `{SPOT_ROLE_COMMAND}`",
            f"`{SPOT_ROLE_COMMAND}`, once an account.",
        ),
        "Adopted": Why("Moving", "the job was found suspended for a move of which no record was left"),
        "PutElsewhere": Why(
            "Pending",
            "somebody else has changed its templates, and its pods select {tier} now",
            "Nothing, if that was meant. A manifest that is applied again puts a job back on the tier where it began.",
        ),
        "SuspendedElsewhere": Why(
            "Suspended",
            "suspended by somebody else: taken up again when they resume it",
            "Resume it, or ask who suspended it: `kubectl get <kind> <name> -o yaml --show-managed-fields`.",
        ),
        "ForeignWriter": Why(
            "HandedBack",
            "resumed by somebody else while it was being moved to {to}: left alone from now on; "
            f"set the label {MANUAL_LABEL}=true and remove it again to have it managed",
            GIVE_BACK,
        ),
        "Manual": Why(
            "Manual",
            f"label {MANUAL_LABEL}=true: the job is left alone until it is removed",
            f"`kubectl label <kind> <name> {MANUAL_LABEL}-` releases it.",
        ),
        "Paused": Why(
            "Manual",
            f"label {PAUSED_LABEL}=true on namespace {{namespace}}: nothing is moved until it is removed",
            f"`kubectl label namespace <name> {PAUSED_LABEL}-` releases it.",
        ),
        "TooManyErrors": Why(
            "Failed",
            "the program failed {errors} times by itself, and backoffLimit is {limit}",
            EVENTS["Failed"].remedy,
        ),
        "FailedBefore": Why(
            "Failed",
            "suspended for good since its program had failed too often; the record of that was deleted",
            EVENTS["Failed"].remedy,
        ),
        "Resumed": Why("Pending", "resumed after it had failed too often"),
        "Succeeded": Why("Succeeded", "the job has done its work"),
        "Failed": Why("Failed", "the job has failed", EVENTS["Failed"].remedy),
    }
)
"""By reason. Of a job that is over its operator's own words stand, where it has some."""
UNDER_WAY: Final = "; suspended in the middle of a move to {to}, which then goes on"
"""What follows on a sentence of phase Manual, where it is so."""
PLACING: Final = "; being placed on {to}"
"""What follows on why the job was moved, as long as its gang has no places yet."""


def why(reason: str, **values: object) -> str:
    """The sentence of a reason.

    Raises:
        LookupError: there is no such reason, or a value of its sentence is not given.
    """
    return phrase(REASONS[reason].sentence, **values)
