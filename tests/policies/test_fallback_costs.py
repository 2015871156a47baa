"""What the policies on costs take for granted is what the settings and the rule have."""

from datetime import timedelta

from spotproof.prices import EQUAL_WITHIN
from spotproof.settings.fallback import Deadline
from spotproof_policies import fallback_costs
from spotproof_policies.pace_knows_its_prices import policy as pace
from spotproof_policies.spot_tiers_pay import policy as pay
from spotproof_policies.tiers_are_cheapest_first import policy as order


def test_times_that_an_object_leaves_out_are_those_of_its_definition() -> None:
    settings = Deadline()
    defaults = {"restart": settings.restart, "checkpointEvery": settings.checkpoint_every, "margin": settings.margin}

    assert {key: timedelta(minutes=value) for key, value in fallback_costs.WRITTEN_OUT.items()} == defaults


def test_prices_are_equal_where_the_rule_takes_them_for_one() -> None:
    assert pace._EQUAL_WITHIN == order._EQUAL_WITHIN == EQUAL_WITHIN  # pyright: ignore[reportPrivateUsage]
    assert round(1 - EQUAL_WITHIN, 6) == pay._HARDLY_CHEAPER  # pyright: ignore[reportPrivateUsage]


def test_a_time_is_said_in_the_unit_people_would_use() -> None:
    assert [fallback_costs.time(seconds) for seconds in (60, 119, 120, 1800, 7199, 7200, 9000)] == [
        "60 s",
        "119 s",
        "2 min",
        "30 min",
        "120 min",
        "2.0 h",
        "2.5 h",
    ]
