import pytest

from spotproof.fallback import NEVER, Code, Observation, Policy, RunState, decide, sentence
from spotproof.fallback.history import moved
from tests.unit.fallback.samples import (
    DEAR,
    HOUR,
    ON_DEMAND,
    SPOT,
    TWIN,
    Answer,
    at,
    down,
    job,
    policy,
    running,
    up,
    waiting,
)

WAITS: Answer = ("wait", "spot", Code.WAITING)
GOES: Answer = ("move", "on-demand", Code.TIMEOUT)
PLAIN = policy()
AFTER = waiting(since=500, spot=down(500))

ROWS: list[tuple[str, Policy, Observation, int, Answer]] = [
    ("a second before the timeout", PLAIN, AFTER, 500 + HOUR - 1, WAITS),
    ("at the timeout", PLAIN, AFTER, 500 + HOUR, GOES),
    ("a second after", PLAIN, AFTER, 501 + HOUR, GOES),
    ("at the start too", PLAIN, waiting(spot=down()), HOUR, GOES),
    ("a place meanwhile", PLAIN, waiting(since=500, spot=up(HOUR)), 500 + HOUR, ("wait", "spot", Code.PLACED)),
    ("a job that runs", PLAIN, running(spot=up()), 100 * HOUR, ("stay", "spot", Code.RUNNING)),
    ("a tier that was never looked at", PLAIN, waiting(since=500), 500 + HOUR, GOES),
]


@pytest.mark.parametrize(("rule", "seen", "now", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_job_that_waited_for_pending_timeout_goes_down(
    rule: Policy, seen: Observation, now: int, expected: Answer
) -> None:
    assert at(rule, job(), seen, now) == expected


def test_the_timeout_is_the_next_instant_that_matters() -> None:
    assert decide(PLAIN, job(), AFTER, 501).next_at == 500 + HOUR


def test_on_the_last_tier_nothing_times_out() -> None:
    decision = decide(policy(SPOT), job(), AFTER, 500 + 1000 * HOUR)

    assert (decision.action.value, decision.reason.code, decision.next_at) == ("wait", Code.DRY_ALONE, NEVER)


def test_equal_tiers_are_waited_out_one_after_the_other_and_then_the_job_goes_down() -> None:
    rule = policy(SPOT, TWIN, DEAR, ON_DEMAND)
    state: RunState = job()
    tier, since, way = "spot", 0, []
    for _ in range(4):
        seen = waiting(tier, since, spot=down(), twin=down(), dear=down())
        next_at = decide(rule, state, seen, since).next_at
        assert at(rule, state, seen, next_at - 1)[0] == "wait"
        decision = decide(rule, state, seen, next_at)
        way.append((next_at, decision.tier, decision.reason.code))
        state = moved(rule, state, before=tier, after=decision.tier, now=next_at)
        tier, since = decision.tier, next_at
        if tier == "on-demand":
            break

    assert way == [
        (1 * HOUR, "twin", Code.TIMEOUT),
        (3 * HOUR, "dear", Code.TIMEOUT),
        (4 * HOUR, "on-demand", Code.TIMEOUT),
    ]


def test_a_tier_that_was_waited_out_is_not_waited_for_twice_until_the_job_has_run() -> None:
    rule = policy(SPOT, TWIN, ON_DEMAND)
    seen = waiting("twin", since=HOUR, spot=down(), twin=down())

    assert at(rule, job(waited=("spot",)), seen, 3 * HOUR)[1] == "on-demand"
    assert at(rule, job(), seen, 3 * HOUR)[1] == "spot"


def test_the_sentences_name_the_tier_and_the_times() -> None:
    early, late = decide(PLAIN, job(), AFTER, 500 + 1230), decide(PLAIN, job(), AFTER, 500 + HOUR)

    assert sentence(early.reason) == "waiting for spot for 20m, of 1h at most"
    assert sentence(late.reason) == "no place on spot for 1h, and pendingTimeout is 1h: moving to on-demand"
