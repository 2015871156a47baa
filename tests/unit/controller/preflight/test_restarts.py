"""How many errors a JobSet must outlive itself, so that the controller has the last word on it."""

from typing import Any

import pytest

from spotproof.controller.preflight import Finding, preflight
from spotproof.controller.preflight.view import View
from spotproof.fallback.decide import decide
from spotproof.fallback.history import created, interrupted, moved
from spotproof.fallback.policy import policy_of
from spotproof.fallback.resolved import ResolvedTier
from spotproof.fallback.run import Action, Observation, Phase, Sight
from tests.unit.controller.preflight.samples import GONE, JOBSET, POD_SPEC, RAYJOB, Json, Path, changed, policy

OWN_LIMIT: Path = ("metadata", "annotations", "spotproof.dev/backoff-limit")
MAX_RESTARTS: Path = ("spec", "failurePolicy", "maxRestarts")


def found(manifest: Json, **changes: Any) -> tuple[Finding, ...]:
    return preflight(manifest, policy(**changes), ())


@pytest.mark.parametrize(
    ("count_errors", "own", "least"),
    # the first tier tolerates 5 errors, and the sixth moves the job; its own limit ends it whatever a tier tolerates
    [(False, "5", 5), (False, "0", 0), (False, GONE, 0), (True, "5", 5), (True, "20", 20), (True, GONE, 6)],
)
def test_max_restarts_leaves_the_last_word_to_the_controller(count_errors: bool, own: object, least: int) -> None:  # noqa: FBT001 - a column
    tiers = {"t4-spot": {"max_failures": 5}}
    enough = changed(changed(JOBSET, OWN_LIMIT, own), MAX_RESTARTS, least)
    assert found(enough, count_errors=count_errors, tiers=tiers) == ()
    if least:
        (refused,) = found(changed(enough, MAX_RESTARTS, least - 1), count_errors=count_errors, tiers=tiers)
        assert refused.message.startswith(f"is {least - 1}, and {least} is the least: ")
        assert refused.remedy.startswith(f"Write `maxRestarts: {least}` or more")


SPOT_TIER, ON_DEMAND_TIER = policy().tiers
LISTS: list[tuple[str, list[tuple[str, float, int]], int]] = [
    # tiers as capacity, price and maxFailures; the errors with which the last move comes
    ("one that is limited", [("spot", 1, 5), ("on-demand", 4, -1)], 6),
    ("two of two prices", [("spot", 1, 5), ("spot", 2, 5), ("on-demand", 4, -1)], 12),
    ("two equals", [("spot", 1, 5), ("spot", 1, 5), ("on-demand", 4, -1)], 12),
    ("one of them unlimited", [("spot", 1, 5), ("spot", 2, -1), ("on-demand", 4, -1)], 6),
    ("none is limited", [("spot", 1, -1), ("on-demand", 4, -1)], 0),
    ("one that tolerates none", [("spot", 1, 0), ("on-demand", 4, -1)], 1),
    ("the last is limited, and leads nowhere", [("spot", 1, 5), ("on-demand", 4, 3)], 6),
    ("only one tier", [("spot", 1, 5)], 0),
    ("the last two are equals", [("spot", 1, 2), ("spot", 1, 5)], 6),
    ("the last two are equals, and one is unlimited", [("spot", 1, -1), ("spot", 1, 5)], 6),
]


def tiers_of(each: list[tuple[str, float, int]]) -> tuple[ResolvedTier, ...]:
    kinds = {"spot": SPOT_TIER, "on-demand": ON_DEMAND_TIER}
    return tuple(
        kinds[capacity].model_copy(
            update={
                "pool": f"p{number}",
                "node_selector": {"spotproof.dev/pool": f"p{number}"},
                "usd_per_node_hour": usd,
                "max_failures": most,
            }
        )
        for number, (capacity, usd, most) in enumerate(each)
    )


@pytest.mark.parametrize(("tiers", "errors"), [each[1:] for each in LISTS], ids=[each[0] for each in LISTS])
def test_errors_that_count_are_as_many_as_move_a_job_down_the_whole_list(
    tiers: list[tuple[str, float, int]], errors: int
) -> None:
    made = policy().model_copy(update={"tiers": tiers_of(tiers), "count_errors": True})
    assert View(JOBSET, made, ()).errors == errors


@pytest.mark.parametrize(("tiers", "errors"), [each[1:] for each in LISTS], ids=[each[0] for each in LISTS])
def test_as_many_errors_move_a_job_by_the_rule_from_whichever_tier_it_begins_on(
    tiers: list[tuple[str, float, int]], errors: int
) -> None:
    """Played through: it runs, fails by itself, and does what the rule says, until errors move it no more."""
    made = policy().model_copy(update={"tiers": tiers_of(tiers), "count_errors": True, "failure_window": None})
    rule = policy_of(made)

    def last_move(begins: str) -> int:
        tier, state, last = begins, created(0), 0
        for error in range(1, errors + 50):
            now = error * 7200
            seen = Observation(tier, Phase.RUNNING, now - 3600, {tier: Sight(there=True, up=now)})
            state = interrupted(rule, state, seen, now, "error")
            decision = decide(rule, state, seen, now)
            if decision.action is Action.MOVE:
                state, tier, last = moved(rule, state, before=tier, after=decision.tier, now=now), decision.tier, error
        return last

    assert max(last_move(tier.pool) for tier in rule.tiers) == errors


def test_a_job_that_its_author_limits_by_max_restarts_alone_outlives_the_errors_of_every_limited_tier() -> None:
    made = policy().model_copy(update={"tiers": tiers_of(LISTS[1][1]), "count_errors": True})
    on_its_first = changed(changed(JOBSET, (*POD_SPEC, "nodeSelector"), {"spotproof.dev/pool": "p0"}), OWN_LIMIT, GONE)

    (refused,) = preflight(changed(on_its_first, MAX_RESTARTS, 6), made, ())

    assert refused.code == "MaxRestarts"
    assert "is 6, and 12 is the least: 12 errors that the policy counts until none moves the job; " in refused.message
    assert preflight(changed(on_its_first, MAX_RESTARTS, 12), made, ()) == ()


def test_a_tier_that_never_moves_on_count_asks_for_no_restarts() -> None:
    tiers = {"t4-spot": {"max_failures": -1}, "t4": {"max_failures": -1}}
    made = changed(changed(JOBSET, OWN_LIMIT, GONE), MAX_RESTARTS, GONE)
    assert found(made, count_errors=True, tiers=tiers) == ()
    ray = changed(changed(RAYJOB, OWN_LIMIT, GONE), ("spec", "backoffLimit"), 0)
    (told,) = found(ray, tiers=tiers)
    assert (told.code, told.refuses) == ("EvictionsRunOut", False)
