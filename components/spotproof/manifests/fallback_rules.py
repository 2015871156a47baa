"""What the API server checks of a FallbackPolicy beyond shapes: the cross-checks of the settings, in CEL.

Each rule is written where it is evaluated: on the list of tiers, on one tier, on one toleration. Lengths
and counts in the schema are bounded, which keeps every rule within the API server's cost budget.
"""

from typing import Final

from spotproof.fallback.resolved import NO_PRICE
from spotproof.vocabulary import POOL_LABEL, SPOT

Rules = list[dict[str, str]]

LAST: Final = "self[size(self) - 1]"

# The text of a rule on the list is fixed: what is read from `self[i]` has no length the cost estimate could bound.
OF_TIERS: Final[Rules] = [
    {
        "rule": "self.all(tier, self.exists_one(other, other.pool == tier.pool))",
        "message": "names a pool in two tiers; counts start afresh on each tier, so the job would circle on one pool",
    },
    {
        "rule": f"size(self) == 0 || {LAST}.capacity != '{SPOT}' || {LAST}.maxFailures == -1",
        "message": f"the last tier is {SPOT} with a finite maxFailures, and there is no tier after it to move to; "
        "write -1, or add an on-demand tier",
    },
    {
        "rule": (
            "self.all(tier, has(tier.accelerator) == has(self[0].accelerator) && (!has(tier.accelerator)"
            " || (tier.accelerator.type == self[0].accelerator.type"
            " && tier.accelerator.count == self[0].accelerator.count"
            " && tier.accelerator.memoryGib == self[0].accelerator.memoryGib)))"
        ),
        "message": "tiers differ in accelerator; a job that moves would find other GPUs than it asks for",
    },
    {
        "rule": (
            "self.all(tier, size(tier.nodeSelector) == size(self[0].nodeSelector)"
            " && tier.nodeSelector.all(key, key in self[0].nodeSelector))"
        ),
        "message": "tiers select nodes by different labels; a job moves by new values of the same labels, and one it "
        "kept from another tier would match no node",
    },
]

OF_A_TIER: Final[Rules] = [
    {
        "rule": f"!('{POOL_LABEL}' in self.nodeSelector) || self.nodeSelector['{POOL_LABEL}'] == self.pool",
        "messageExpression": (
            f"'tier ' + self.pool + ' must select {POOL_LABEL}=' + self.pool + ', or labels of another key'"
        ),
        "message": f"a tier that selects {POOL_LABEL} does so with the name of its pool",
    },
    {
        "rule": f"(self.priceSource == '{NO_PRICE}') != has(self.usdPerNodeHour)",
        "message": f"priceSource is {NO_PRICE} exactly where usdPerNodeHour is left out",
    },
]

OF_A_TOLERATION: Final[Rules] = [
    {
        "rule": "(self.operator == 'Equal') == has(self.value)",
        "message": "a toleration has a value with Equal, and none with Exists",
    }
]


def of_the_name(pattern: str, max_length: int) -> Rules:
    """The rule on metadata.name, which jobs write as a label value.

    Args:
        pattern: What the settings ask of a policy's name.
        max_length: Their longest name.
    """
    return [
        {
            "rule": f"size(self.metadata.name) <= {max_length} && self.metadata.name.matches('{pattern}')",
            "message": f"the name is at most {max_length} lower-case letters, digits and hyphens, as a label's value",
        }
    ]
