import pytest

from spotproof.economics.facts import Facts
from spotproof.economics.neighbours import ON_DEMAND_ALONE, SPOT_ALONE
from spotproof.economics.plan import Plan, make_plan
from spotproof.economics.recommend import ACCEPTED, Recommendation, recommend
from tests.unit.economics.requests import SPOT, H, bought, made_up, policy, request, task


def asked(**changes: object) -> tuple[Plan, Recommendation]:
    plan = make_plan(request(**changes))
    return plan, recommend(plan, Facts(plan.request))


def test_the_cheapest_that_is_hardly_ever_late_is_taken() -> None:
    plan, found = asked(task=task(work=20 * H, deadline=26 * H), runs=60)
    assert (found.line.late or 0) <= ACCEPTED
    cheaper = [line for line in plan.lines if line.mean_usd < found.line.mean_usd]
    assert all(line.missed > ACCEPTED or line.candidate.name == SPOT_ALONE for line in cheaper)
    assert found.line is not plan.written


def test_what_is_no_better_than_noise_leaves_the_policy_as_it_is_written() -> None:
    """Two runs in which nothing but prices differ: the others are cheaper by luck, if at all."""
    plan, found = asked(source=made_up(rate=0.01, outage=60.0), runs=4)
    assert found.line is plan.written
    assert "the policy as written" in found.sentences[0]


def test_where_spot_loses_money_on_demand_alone_is_taken_and_it_is_said_why() -> None:
    _, found = asked(
        source=made_up(rate=8.0, outage=60.0, bought=bought(2.9)),
        policy=policy(tiers=(SPOT._replace(usd=2.9), request().on_demand)),
    )
    assert found.line.candidate.name == ON_DEMAND_ALONE
    assert any(sentence.startswith("Spot loses money here") for sentence in found.sentences)


def test_where_nothing_is_in_time_the_least_late_is_taken() -> None:
    _, found = asked(task=task(work=20 * H, deadline=10 * H))
    assert found.line.late == 1
    assert "No policy here keeps the deadline of 10h in all but 1 % of runs" in found.sentences[1]


def test_without_a_deadline_it_is_said_that_waiting_has_no_price() -> None:
    _, found = asked()
    assert "No deadline is given, so nothing but the record's end counts against waiting" in found.sentences[1]


@pytest.mark.parametrize("setting", ["maxFailures ", "pendingTimeout ", "return ", "deadline ", "Checkpoints "])
def test_every_setting_has_its_reason_and_its_numbers(setting: str) -> None:
    _, found = asked(task=task(work=20 * H, deadline=26 * H), runs=30)
    (sentence,) = [each for each in found.sentences if each.startswith(setting)]
    assert any(letter.isdigit() for letter in sentence.partition(":")[2])


def test_the_effect_of_a_neighbour_is_told_with_its_number() -> None:
    plan, found = asked(runs=30)
    line = plan.named("maxFailures 0")
    assert line is not None
    less = f"{100 * (plan.written.saving - line.saving):.1f} points less"
    assert any(f"From 3, as written: 0 saves {less}" in sentence for sentence in found.sentences)


def test_the_checkpoint_interval_changes_only_where_that_is_worth_it() -> None:
    often, seldom = (Facts(request(task=task(checkpoint_every=every))) for every in (20 * 60, 2 * H))
    assert often.best_interval == seldom.best_interval == 19 * 60
    assert (often.interval, seldom.interval) == (20 * 60, 19 * 60)
    near = Facts(request(task=task(checkpoint_every=24 * 60)))
    assert near.interval == 24 * 60


def test_a_lucky_chance_to_be_late_is_not_accepted() -> None:
    plan, found = asked(task=task(work=20 * H, deadline=26 * H), policy=policy(mode="off", min_stay=7200), runs=60)
    assert plan.written.missed > ACCEPTED
    assert found.line is not plan.written
    assert "and misses the deadline in" in found.sentences[2]
