from dataclasses import replace
from math import inf

import pytest

from spotproof.economics.facts import Facts
from spotproof.economics.model import expect
from spotproof.economics.neighbours import ON_DEMAND_ALONE, SPOT_ALONE
from spotproof.economics.plan import make_plan
from tests.unit.economics.requests import H, made_up, on_record, policy, request, task, windows


def test_a_saving_is_against_on_demand_alone_which_saves_nothing() -> None:
    plan = make_plan(request())
    alone = plan.named(ON_DEMAND_ALONE)
    assert alone is not None
    assert alone.mean_usd == pytest.approx(plan.request.on_demand_alone_usd)
    assert alone.saving == pytest.approx(0)
    assert alone.saving_interval == pytest.approx((0, 0))
    assert [line.spot_share for line in (alone, plan.named(SPOT_ALONE)) if line] == [0, 1]


def test_spot_alone_on_a_memoryless_market_costs_what_the_closed_form_says() -> None:
    """Beside the closed form's job it pays for its first start, and for prices that drift."""
    asked = request(source=made_up(shape=1.0), task=task(work=48 * H), runs=400)
    line = make_plan(asked).named(SPOT_ALONE)
    expected = expect(replace(Facts(asked).conditions, max_failures=-1, pending_timeout_seconds=inf))
    assert line is not None
    assert line.evictions == pytest.approx(expected.evictions, rel=0.06)
    assert line.spot == pytest.approx(expected.spot_seconds + 720, rel=0.02)


def test_a_deadline_in_guard_or_pace_is_kept_and_alone_on_spot_it_is_not() -> None:
    plan = make_plan(request(task=task(work=20 * H, deadline=26 * H), runs=60))
    for line in plan.lines:
        if line.candidate.policy.mode != "off":
            assert line.late == 0
    alone = plan.named(SPOT_ALONE)
    assert alone is not None
    assert (alone.late or 0) > 0.5


def test_policies_that_do_the_same_in_every_run_share_a_line() -> None:
    plan = make_plan(request(task=task(work=H, deadline=90 * H), runs=3, source=made_up(rate=0.0)))
    assert plan.written.same
    assert plan.named("deadline guard") is plan.written
    assert [line.candidate.name for line in plan.lines] == ["as written", ON_DEMAND_ALONE, SPOT_ALONE]


def test_twice_the_nodes_cost_twice_as_much_and_held_ones_more() -> None:
    one, two, held = (
        make_plan(request(task=task(nodes=nodes, held=kept))).written.mean_usd
        for nodes, kept in ((1, 0), (2, 0), (2, 1))
    )
    assert two == pytest.approx(2 * one)
    assert held > two


def test_probes_are_charged() -> None:
    asked = policy(min_stay=1800)
    free, paid = (make_plan(request(policy=asked, task=task(probe=cost))).written for cost in (0, 600))
    assert paid.mean_usd > free.mean_usd
    assert paid.measured.finish.tolist() == free.measured.finish.tolist()


def test_runs_that_end_with_the_record_have_no_finish_and_are_counted() -> None:
    plan = make_plan(request(source=on_record(windows("0" * 30, "1" * 30)), task=task(work=2 * H), runs=4))
    alone = plan.named(SPOT_ALONE)
    assert alone is not None
    assert (alone.unfinished, alone.missed, alone.finish_p95) == (0.5, 0.5, None)
    assert len(alone.points) == 2


def test_the_timelines_show_one_market_whole_and_without_a_gap() -> None:
    plan = make_plan(request())
    for line in plan.lines:
        assert line.timeline[0].start == 0
        assert all(one.end == other.start for one, other in zip(line.timeline, line.timeline[1:], strict=False))
    alone = plan.named(ON_DEMAND_ALONE)
    assert alone is not None
    assert [span.pool for span in alone.timeline] == ["on-demand"]


def test_checkpoint_writes_make_the_work_longer_on_every_tier() -> None:
    plans = [make_plan(request(task=task(checkpoint_write=write))) for write in (0, 600)]
    none, much = (plan.named(ON_DEMAND_ALONE) for plan in plans)
    assert none is not None
    assert much is not None
    assert much.measured.finish[0] - 720 == pytest.approx((none.measured.finish[0] - 720) * 4 / 3)


def test_the_article_is_given_the_numbers_that_were_simulated() -> None:
    plan = make_plan(request())
    facts, line = Facts(plan.request), plan.written
    article = facts.article(line)
    alpha, discount = line.spot_share, 2 / 3
    overhead = 1 + line.evictions * (720 + 1860 / 2) / (10 * H)
    assert article.alpha == alpha
    assert article.saving == pytest.approx(1 - overhead * (1 - discount * alpha))
    assert article.flexibility == pytest.approx(1 / (1 - discount * alpha) - 1)


def test_the_break_even_curve_falls_through_zero_at_the_break_even_rate() -> None:
    facts = Facts(request())
    curve = facts.curve()
    savings = [saving for _, saving in curve]
    assert savings == sorted(savings, reverse=True)
    assert savings[0] == pytest.approx(2 / 3)
    assert next(rate for rate, saving in curve if saving < 0) == pytest.approx(1 / facts.break_even_hours, rel=0.06)
