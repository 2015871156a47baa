import pytest

from spotproof.fallback import Code, Observation, Policy, RunState, decide, sentence
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

STAY = 2 * HOUR
SEEN = policy(SPOT, DEAR, ON_DEMAND, min_stay=STAY)
ASKED = policy(SPOT, DEAR, ON_DEMAND, min_stay=STAY, probe_every=1800)
CAME = job(arrived=1000)
THEN = 1000 + STAY
UP = running("on-demand", since=1500, spot=up(), dear=up())
KEEPS: Answer = ("stay", "on-demand", Code.MIN_STAY)
CLIMBS: Answer = ("move", "spot", Code.RETURN)

ROWS: list[tuple[str, Policy, RunState, Observation, int, Answer]] = [
    ("a second before minStay", SEEN, CAME, UP, THEN - 1, KEEPS),
    ("at minStay", SEEN, CAME, UP, THEN, CLIMBS),
    ("minStay 0", policy(min_stay=0), CAME, running("on-demand", since=1000, spot=up()), 1000, CLIMBS),
    ("without `return`", policy(), CAME, UP, 99 * HOUR, ("stay", "on-demand", Code.RUNNING)),
    (
        "no room there",
        SEEN,
        CAME,
        running("on-demand", spot=down(), dear=down()),
        THEN,
        ("stay", "on-demand", Code.RUNNING),
    ),
    (
        "only the dearer of the cheaper has room",
        SEEN,
        CAME,
        running("on-demand", spot=down(), dear=up()),
        THEN,
        ("move", "dear", Code.RETURN),
    ),
    ("from a dear spot tier to a cheap one", SEEN, CAME, running("dear", spot=up(), dear=up()), THEN, CLIMBS),
    (
        "never to a dearer one",
        SEEN,
        CAME,
        running("spot", spot=up(), dear=up()),
        THEN,
        ("stay", "spot", Code.RUNNING),
    ),
    (
        "never to an equal one",
        policy(SPOT, TWIN, ON_DEMAND, min_stay=STAY),
        CAME,
        running("twin", spot=up(), twin=up()),
        THEN,
        ("stay", "twin", Code.RUNNING),
    ),
    ("a job that waits", SEEN, CAME, waiting("dear", since=THEN, spot=up()), THEN, ("wait", "dear", Code.WAITING)),
    (
        "where prices are unknown the list's order decides",
        policy(SPOT._replace(usd=None), ON_DEMAND, min_stay=STAY),
        CAME,
        running("on-demand", spot=up()),
        THEN,
        CLIMBS,
    ),
    ("asking first", ASKED, CAME, running("on-demand"), THEN, ("ask", "spot", Code.ASKED)),
    ("not before minStay", ASKED, CAME, running("on-demand"), THEN - 1, KEEPS),
    (
        "an old yes is asked again",
        ASKED,
        CAME,
        running("on-demand", spot=up(asked=THEN - 1800), dear=up(asked=THEN - 1)),
        THEN,
        ("ask", "spot", Code.ASKED),
    ),
    (
        "and until its turn it is not moved on",
        ASKED,
        CAME,
        running("on-demand", spot=up(asked=THEN - 1799), dear=up(asked=THEN - 1)),
        THEN,
        ("stay", "on-demand", Code.RUNNING),
    ),
    ("a yes of this moment", ASKED, CAME, running("on-demand", spot=up(asked=THEN)), THEN, CLIMBS),
    (
        "a yes of before the question of this moment, which waits for its answer",
        ASKED,
        CAME,
        running("on-demand", spot=up(asked=THEN, asking=True), dear=down(asked=THEN)),
        THEN,
        ("stay", "on-demand", Code.RUNNING),
    ),
]


@pytest.mark.parametrize(
    ("rule", "state", "seen", "now", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_job_climbs_to_a_cheaper_tier_after_min_stay(
    rule: Policy, state: RunState, seen: Observation, now: int, expected: Answer
) -> None:
    assert at(rule, state, seen, now) == expected


def test_with_a_deadline_only_while_leaving_and_coming_back_would_end_in_time() -> None:
    rule = policy(SPOT, ON_DEMAND, min_stay=0, mode="guard", restart=720)
    seen = running("on-demand", since=0, spot=up())
    # trained for an hour: left 10 h less now, 5 h of work
    now = HOUR + 720
    state = job(work=6 * HOUR, deadline=now + 5 * HOUR + 2 * 720)

    assert at(rule, state, seen, now) == CLIMBS
    assert at(rule, state._replace(deadline=now + 5 * HOUR + 2 * 720 - 1), seen, now)[0] == "stay"
    assert at(policy(SPOT, ON_DEMAND, min_stay=0), state._replace(deadline=1), seen, now) == CLIMBS


def test_no_tier_is_asked_for_a_return_that_the_guard_would_refuse() -> None:
    """A tick of 1,000 s: what is spare is gone when it ends."""
    rule = policy(SPOT, ON_DEMAND, min_stay=0, mode="guard", restart=720, probe_every=1800)
    seen = running("on-demand", since=0)._replace(tick=1000)
    state = job(work=6 * HOUR, deadline=720 + 6 * HOUR + 2 * 720 + 1)

    assert at(rule, state, seen, 720) == ("stay", "on-demand", Code.RUNNING)
    assert decide(rule, state, seen, 720).next_at == 720 + 6 * HOUR - 280
    assert at(rule, state._replace(deadline=720 + 6 * HOUR + 4 * 720), seen, 720)[0] == "ask"


def test_the_next_instants_are_the_end_of_the_stay_and_the_next_turn_to_ask() -> None:
    asked = running("on-demand", spot=down(asked=THEN), dear=down(asked=THEN + 60))

    assert decide(SEEN, CAME, UP, 1500).next_at == THEN
    assert decide(ASKED, CAME, asked, THEN + 60).next_at == THEN + 1800


def test_the_sentences_name_both_tiers_and_the_stay() -> None:
    assert sentence(decide(SEEN, CAME, UP, THEN).reason) == "spot has room and is cheaper than on-demand: returning"
    assert sentence(decide(SEEN, CAME, UP, 1000 + 1800).reason) == (
        "stays on on-demand for at least 2h before a return, 30m so far"
    )
