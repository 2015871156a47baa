"""The policy pack as Pulumi's engine starts it: `pulumi preview --policy-pack policies`.

Constructing a PolicyPack serves it and never returns, so nothing else in the tree does it.
"""

from pulumi_policy import PolicyPack

from spotproof_policies.adapter import pulumi_policies
from spotproof_policies.registry import POLICIES

PolicyPack("spotproof", pulumi_policies(POLICIES))
