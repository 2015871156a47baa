"""What the rule is said to do is what `decide` does; here on policies small enough to be checked by hand."""

from datetime import timedelta
from typing import Any

import pytest

from spotproof.fallback.resolved import ResolvedPolicy, ResolvedTier
from spotproof.rehearsal.forecast import Seen, after, forecast, tolerance


def tier(pool: str, capacity: str, usd: float, **other: Any) -> ResolvedTier:
    fields = {
        "pool": pool,
        "capacity": capacity,
        "usdPerNodeHour": usd,
        "priceSource": "test",
        "nodeSelector": {"spotproof.dev/pool": pool},
        "tolerations": (),
        "pendingTimeout": timedelta(minutes=20),
        "maxFailures": 3 if capacity == "spot" else -1,
    }
    return ResolvedTier.model_validate({**fields, **other})


def policy(*tiers: ResolvedTier) -> ResolvedPolicy:
    return ResolvedPolicy(name="standard", tiers=tiers)


ONE = policy(tier("spot-a", "spot", 1.0), tier("paid", "on-demand", 3.0))
TWO = policy(tier("spot-a", "spot", 1.0), tier("spot-b", "spot", 1.0), tier("paid", "on-demand", 3.0))


def test_a_job_that_runs_is_left_where_it_is() -> None:
    assert forecast(ONE, Seen([8, 15], None, 40, dry=False)) == []


def test_a_job_that_waits_moves_when_its_pending_timeout_has_passed() -> None:
    (step,) = forecast(ONE, Seen([8], 10, 40, dry=True))

    assert (after(step), step.to) == ("20m", "paid")
    assert step.reason == "no place on spot-a for 20m, and pendingTimeout is 20m: moving to paid"


def test_a_dry_market_leads_over_every_tier_of_one_price_to_on_demand() -> None:
    found = forecast(TWO, Seen([8], 10, 40, dry=True))

    assert [(after(step), step.to) for step in found] == [("20m", "spot-b"), ("40m", "paid")]
    assert found[0].asked == ("spot-b",)


def test_where_spot_is_to_be_had_elsewhere_the_first_tier_that_answers_is_taken() -> None:
    (step,) = forecast(TWO, Seen([8], 10, 40, dry=False))

    assert step.to == "spot-b"
    assert step.after_seconds <= 30


def test_interruptions_beyond_what_a_tier_tolerates_move_the_job_at_once() -> None:
    (step,) = forecast(ONE, Seen([1, 2, 3, 4], 10, 40, dry=True))

    assert (step.after_seconds, step.to) == (30, "paid")
    assert "failed the job 4 times, and maxFailures is 3" in step.reason


def test_on_the_only_tier_there_is_nothing_to_move_to() -> None:
    assert forecast(policy(tier("spot-a", "spot", 1.0, maxFailures=-1)), Seen([8], 10, 40, dry=True)) == []


@pytest.mark.parametrize(
    ("allowed", "says"),
    [
        (3, "maxFailures of spot-a is 3: 1 has been counted, and interruption 4 would move the job; so would a wait"),
        (-1, "maxFailures of spot-a is -1: no number of interruptions moves the job; 1 has been counted"),
    ],
)
def test_what_the_first_tier_tolerates_is_said_with_what_is_used_up(allowed: int, says: str) -> None:
    first = tier("spot-a", "spot", 1.0, maxFailures=allowed)

    assert tolerance(policy(first, tier("paid", "on-demand", 3.0)), 1).startswith(says)
