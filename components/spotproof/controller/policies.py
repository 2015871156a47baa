"""Fallback policies as one process has read them: ten thousand jobs name the same few."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from pydantic import ValidationError

from spotproof.controller.kinds import Object
from spotproof.controller.messages import condition
from spotproof.fallback.policy import Policy, policy_of
from spotproof.fallback.record import render_instant
from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier
from spotproof.fallback.run import Instant
from spotproof.manifests.fallback_policy import VALID, read_policy
from spotproof.vocabulary import SPOT


def version_of(found: Object) -> str:
    """Of what its author wrote: what the controller says of it is none of that."""
    meta = found["metadata"]
    return f"{meta['uid']}/{meta.get('generation', meta.get('resourceVersion'))}"


def problem_of(error: ValidationError) -> str:
    """The first thing that is wrong with a policy, by the field's name in the object."""
    first = error.errors()[0]
    return f"spec.{'.'.join(map(str, first['loc']))}: {first['msg']}"


class Policies:
    """Each policy as it was read last, once for each version of it. Workers may read the same one at once."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[str, ResolvedPolicy]] = {}
        self._rules: dict[str, tuple[ResolvedPolicy, Policy]] = {}
        self._spot: tuple[tuple[str, ...], tuple[ResolvedTier, ...]] = ((), ())

    def read(self, found: Object) -> ResolvedPolicy:
        """The policy of an object.

        Raises:
            pydantic.ValidationError: the object is no policy; it is read again each time.
        """
        meta = found["metadata"]
        version = version_of(found)
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

    def spot(self, found: Sequence[Object]) -> tuple[ResolvedTier, ...]:
        """The spot tiers of all policies that can be carried out, each pool once: what is known to be reclaimed."""
        versions = tuple(map(version_of, found))
        if self._spot[0] != versions:
            self._spot = versions, spot_tiers(self._readable(found))
        return self._spot[1]

    def _readable(self, found: Iterable[Object]) -> Iterator[ResolvedPolicy]:
        for each in found:
            with suppress(ValidationError):
                yield self.read(each)


def spot_tiers(policies: Iterable[ResolvedPolicy]) -> tuple[ResolvedTier, ...]:
    """Their tiers that can be reclaimed, each pool once."""
    return tuple({tier.pool: tier for each in policies for tier in each.tiers if tier.capacity == SPOT}.values())


def judged(policies: Policies, found: Object, now: Instant) -> Object | None:
    """The status of a policy, by whether this version can carry it out; None where it says so already."""
    try:
        policies.read(found)
        answer, reason, message = condition(VALID, VALID)
    except ValidationError as error:
        answer, reason, message = condition(VALID, "Unreadable", error=problem_of(error))
    status, generation = found.get("status") or {}, int(found["metadata"].get("generation", 0))
    others = [each for each in status.get("conditions", []) if each["type"] != VALID]
    known = next((each for each in status.get("conditions", []) if each["type"] == VALID), {})
    said: Object = {"type": VALID, "status": answer, "observedGeneration": generation}
    since = known["lastTransitionTime"] if known.get("status") == answer else render_instant(now)
    said |= {"lastTransitionTime": since, "reason": reason, "message": message}
    if said == known and status.get("observedGeneration") == generation:
        return None
    return {**status, "observedGeneration": generation, "conditions": [*others, said]}
