from typing import Any

import pytest

from spotproof.economics.facts import Facts
from spotproof.economics.plan import make_plan
from spotproof.economics.warnings import warnings
from spotproof.fallback.policy import Tier
from tests.unit.economics.requests import ON_DEMAND, SPOT, H, bought, made_up, on_record, policy, request, task, windows

DEADLINE = task(deadline=14 * H)


def said(**changes: Any) -> tuple[str, ...]:
    asked = request(**({"runs": 3} | changes))
    return warnings(make_plan(asked), Facts(asked))


def cheap(usd: float) -> dict[str, Any]:
    return {"policy": policy(tiers=(SPOT._replace(usd=usd), ON_DEMAND)), "source": made_up(bought=bought(usd))}


def spot(**changes: Any) -> dict[str, Any]:
    return {"policy": policy(tiers=(SPOT._replace(**changes), ON_DEMAND))}


def test_a_usual_job_is_not_warned_about() -> None:
    assert said() == ()
    assert said(policy=policy(mode="guard"), task=DEADLINE) == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task": task(deadline=10 * H)}, "The deadline of 10h cannot be met: on-demand alone needs 10h32m"),
        (
            {"task": DEADLINE, "policy": policy(tiers=(SPOT._replace(max_failures=-1), ON_DEMAND))},
            "allow a run that has no end, and the deadline is 14h",
        ),
        (
            {"task": DEADLINE, "policy": policy(tiers=(SPOT._replace(pending_timeout=2 * H), ON_DEMAND))},
            "maxFailures 3 and pendingTimeout 2h allow a run that ends after 19h24m, and the deadline is 14h",
        ),
        (
            {"task": task(deadline=11 * H), "policy": policy(mode="guard")},
            "The deadline leaves 28m beside the work on on-demand, and to be evicted and restarted twice takes 56m",
        ),
        ({"source": made_up(rate=4.0)}, "Spot loses money: at 4 evictions an hour"),
        ({"source": made_up(rate=2.0)}, "Only 24 % of the attempts on spot save anything"),
        (
            {"source": made_up(rate=1.2), "task": task(restart=1200, checkpoint_every=1500)},
            "66 % of the time on spot goes to restarts and lost work",
        ),
        ({"task": task(checkpoint_write=420)}, "A checkpoint takes 7m and is written every 30m"),
        ({"task": task(restart=900)}, "The policy's deadline.restart is 12m and the job's 15m"),
        ({"task": task(checkpoint_every=3600)}, "Write `checkpointEvery: 1h`"),
        ({"policy": policy(tiers=(SPOT,))}, "No tier of the policy is on-demand"),
        (spot(pending_timeout=600), "pendingTimeout of spot is 10m, and a healthy launch may take 15m"),
        (
            {"task": task(nodes=5), "limits": {"spot": 4, "on-demand": 8}},
            "The job has 5 nodes, more than maxNodes of spot: it would wait there for ever",
        ),
        ({"assumed": frozenset({"spot", "on-demand"})}, "The price of spot and on-demand is assumed"),
        (cheap(2.8), "spot is 7 % cheaper than on-demand: evictions are paid for"),
        (cheap(2.0), "spot is 33 % cheaper than on-demand, which is little for spot"),
        (cheap(0.3), "spot is 90 % cheaper than on-demand, where GPU spot is usually"),
        ({"source": made_up(rate=0.05)}, "0.05/h looks like the edge of a band"),
        ({"source": on_record(windows("1" * 200)), "task": task()}, "The traces hold one stretch"),
        ({"source": on_record(windows("0" * 200)), "task": task()}, "Spot is never there in this market"),
    ],
)
def test_what_would_go_wrong_is_said_with_its_numbers(changes: dict[str, Any], says: str) -> None:
    assert [text for text in said(**changes) if says in text], said(**changes)


def test_a_deadline_that_nobody_can_meet_is_told_once() -> None:
    texts = said(task=task(deadline=5 * H), policy=policy(mode="guard"))
    assert len([text for text in texts if "deadline" in text]) == 1


def test_a_policy_that_is_late_is_told_how_often() -> None:
    slow = Tier("spot", spot=True, usd=1.0, max_failures=-1, pending_timeout=40 * H)
    texts = said(policy=policy(tiers=(slow, ON_DEMAND)), task=DEADLINE, runs=40)
    assert any(text.startswith("As written the policy misses the deadline in") for text in texts)
