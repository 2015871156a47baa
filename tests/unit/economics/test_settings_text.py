from typing import Any

import pytest
from ruamel.yaml import YAML

from spotproof.economics.plan import Plan, make_plan
from spotproof.economics.settings_text import settings_text
from spotproof.fallback.policy import Policy, Tier
from spotproof.settings.fallback import FallbackPolicy
from tests.unit.economics.requests import H, request, task

WRITTEN: dict[str, Any] = {
    "name": "standard",
    "tiers": [{"pool": "spot", "maxFailures": 3, "pendingTimeout": "30m"}, {"pool": "on-demand"}],
    "countErrors": True,
    "failureWindow": "6h",
    "probe": {"every": "20m", "nodes": "all"},
    "deadline": {"mode": "pace", "margin": "90s"},
    "maxMovesPerHour": 4,
}


def written(**changes: Any) -> FallbackPolicy:
    return FallbackPolicy.model_validate(WRITTEN | changes)


def pasted(plan: Plan, name: str, policy: FallbackPolicy, every: int = 1800) -> FallbackPolicy:
    line = plan.named(name)
    assert line is not None
    text = settings_text(policy, line, plan.request.task, every)
    (found,) = YAML(typ="safe", pure=True).load(text)["fallbackPolicies"]
    return FallbackPolicy.model_validate(found)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(request(task=task(deadline=20 * H), runs=3))


def test_what_a_plan_does_not_compare_is_as_it_was_written(plan: Plan) -> None:
    found = pasted(plan, "as written", written())
    assert found == written(deadline={"mode": "off", "margin": "90s"})


def test_the_settings_of_a_neighbour_are_the_ones_that_were_measured(plan: Plan) -> None:
    found = pasted(plan, "maxFailures -1, return 2h, guard", written(), every=1000)
    assert found.tiers[0].max_failures == -1
    assert found.return_ is not None
    assert (found.deadline.mode, found.deadline.checkpoint_every.total_seconds()) == ("guard", 1020)


def test_a_job_without_a_deadline_leaves_the_mode_as_it_is() -> None:
    plan = make_plan(request(runs=3))
    assert pasted(plan, "as written", written()).deadline.mode == "pace"


def test_on_demand_alone_is_one_tier(plan: Plan) -> None:
    assert pasted(plan, "on-demand alone", written()).tiers[0].pool == "on-demand"


def test_a_restart_of_no_time_is_written_as_the_shortest_there_is() -> None:
    plan = make_plan(request(task=task(restart=0), runs=3))
    assert pasted(plan, "with this job's restart", written()).deadline.restart.total_seconds() == 60


def test_a_policy_of_spot_alone_keeps_its_last_tier_without_a_count() -> None:
    only = Policy((Tier("spot", spot=True, usd=1.0),))
    plan = make_plan(request(policy=only, runs=3))
    found = pasted(plan, "as written", written(tiers=[{"pool": "spot"}]))
    assert found.tiers[0].max_failures == -1
