"""Which NodeClaims the controller may delete: those of our pools. RBAC knows verbs and resources, not labels.

A NodeClaim is of no namespace, so the right to give back the node of a probe is one over every node that Karpenter has
bought, and a node that goes takes its pods along. This rule leaves of it what the controller has a use for.
"""

from typing import Final

from spotproof.manifests.controller_rights import USER
from spotproof.manifests.validating import ANYWHERE, Rule, Writes, validating
from spotproof.vocabulary import POOL_LABEL, Manifest

NAME: Final = "spotproof-nodeclaims"

BY_THE_CONTROLLER: Final = f"request.userInfo.username == '{USER}'"
"""Karpenter, the garbage collector and people are somebody else."""

# The label is in the template of every NodePool that a stack makes or names, and Karpenter copies it. A list of names
# would be that of one stack, where a cluster can have several and one controller.
OURS: Final = f"has(oldObject.metadata.labels) && '{POOL_LABEL}' in oldObject.metadata.labels"

RULES: Final = (
    Rule(
        OURS,
        f"The fallback controller may delete NodeClaims of pools of a stack, which carry the label {POOL_LABEL}, and "
        "no others.",
    ),
)


def claim_admission() -> list[Manifest]:
    """The admission policy and its binding; where the cluster has no Karpenter, they are never asked."""
    deletes = Writes("karpenter.sh", "*", "nodeclaims", "DELETE", "Cluster", ("by-the-controller", BY_THE_CONTROLLER))
    return validating(NAME, deletes, RULES, namespaces=ANYWHERE)
