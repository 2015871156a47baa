"""Fallback policies as one process has read them: ten thousand jobs name the same few."""

from spotproof.controller.kinds import Object
from spotproof.fallback.policy import Policy, policy_of
from spotproof.fallback.resolved import ResolvedPolicy
from spotproof.manifests.fallback_policy import read_policy


class Policies:
    """Each policy as it was read last, once for each version of it. Workers may read the same one at once."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[str, ResolvedPolicy]] = {}
        self._rules: dict[str, tuple[ResolvedPolicy, Policy]] = {}

    def read(self, found: Object) -> ResolvedPolicy:
        """The policy of an object.

        Raises:
            pydantic.ValidationError: the object is no policy; it is read again each time.
        """
        meta = found["metadata"]
        version = f"{meta['uid']}/{meta['resourceVersion']}"
        known = self._read.get(meta["name"])
        if known is None or known[0] != version:
            known = self._read[meta["name"]] = (version, read_policy(found))
        return known[1]

    def rule(self, policy: ResolvedPolicy) -> Policy:
        """A policy that was read here, as the rule reads it."""
        known = self._rules.get(policy.name)
        if known is None or known[0] is not policy:
            known = self._rules[policy.name] = (policy, policy_of(policy))
        return known[1]
