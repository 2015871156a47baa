"""What a move writes into the templates: the new tier's labels in place of the old one's."""

from collections.abc import Mapping

import pytest

from spotproof.controller.moving import selecting
from spotproof.fallback.resolved import ResolvedPolicy
from tests.world.jobs import Tier, jobset, policy


def tiers(*selectors: Mapping[str, str]) -> ResolvedPolicy:
    """A policy of tiers a, b, ... with these selectors."""
    made = policy("p", [Tier("ab"[place]) for place in range(len(selectors))])
    for tier, selector in zip(made["spec"]["tiers"], selectors, strict=True):
        tier["nodeSelector"] = dict(selector)
    return ResolvedPolicy.model_validate({"name": "p", **made["spec"]})


def moved(selector: Mapping[str, str], policy: ResolvedPolicy) -> Mapping[str, str]:
    """What a template with this selector has after a move to tier b."""
    job = jobset("train", "p", "a")
    job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["nodeSelector"] = dict(selector)
    return selecting(job, policy, policy.tiers[1])[0]["value"]


@pytest.mark.parametrize(
    ("old", "before", "after"),
    [
        ({"pool": "a"}, {"pool": "a", "zone": "1"}, {"pool": "b", "zone": "1"}),
        ({"group": "a"}, {"group": "a", "zone": "1"}, {"pool": "b", "zone": "1"}),
        ({"pool": "a", "group": "x"}, {"pool": "a", "group": "x"}, {"pool": "b"}),
    ],
    ids=["the same keys", "another key", "a key more"],
)
def test_a_template_that_moves_selects_the_new_tier_and_nothing_of_the_old_one(
    old: Mapping[str, str], before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    assert moved(before, tiers(old, {"pool": "b"})) == after
