import pytest

from spotproof.fallback import NEVER, Action, Code, Observation, Policy, Sight, Tier, decide, sentence
from spotproof.fallback.history import seen_down, seen_up
from spotproof.fallback.rules.dry import LAUNCH
from tests.unit.fallback.samples import (
    DEAR,
    HOUR,
    ON_DEMAND,
    SPOT,
    TWIN,
    Answer,
    at,
    down,
    evicted,
    job,
    policy,
    up,
    waiting,
)

ASKS = policy(SPOT, TWIN, ON_DEMAND, probe_every=1800)
ALONE = policy(ON_DEMAND, probe_every=1800)
SEEN = policy(SPOT, ON_DEMAND)
SPOT_LAST = policy(ON_DEMAND, DEAR)
HASTY = policy(SPOT, ON_DEMAND._replace(pending_timeout=60))
UPON = waiting("on-demand", since=500)

ROWS: list[tuple[str, Policy, Observation, int, Answer]] = [
    ("a healthy launch is given 15 minutes", ASKS, UPON, 500 + LAUNCH - 1, ("wait", "on-demand", Code.LAST)),
    ("after which the others are asked, those used up last", ASKS, UPON, 500 + LAUNCH, ("ask", "twin", Code.ASKED)),
    (
        "or after pendingTimeout, if that is shorter",
        HASTY,
        waiting("on-demand", since=500, spot=up()),
        560,
        ("move", "spot", Code.OTHER),
    ),
    (
        "but not before it",
        HASTY,
        waiting("on-demand", since=500, spot=up()),
        559,
        ("wait", "on-demand", Code.LAST),
    ),
    (
        "one that is seen is taken, without `return`",
        SEEN,
        waiting("on-demand", spot=up()),
        LAUNCH,
        ("move", "spot", Code.OTHER),
    ),
    (
        "the same with `return`",
        policy(SPOT, ON_DEMAND, min_stay=50 * HOUR),
        waiting("on-demand", spot=up()),
        LAUNCH,
        ("move", "spot", Code.OTHER),
    ),
    (
        "none is there",
        SEEN,
        waiting("on-demand", spot=down()),
        LAUNCH,
        ("wait", "on-demand", Code.DRY),
    ),
    ("there is no other", ALONE, waiting("on-demand"), 90 * HOUR, ("wait", "on-demand", Code.DRY_ALONE)),
    (
        "its own place comes",
        SEEN,
        waiting("on-demand", spot=up(), on_demand=up()),
        LAUNCH,
        ("wait", "on-demand", Code.PLACED),
    ),
    (
        "spot as the last tier is asked about at once",
        SPOT_LAST,
        waiting("dear", on_demand=up()),
        0,
        ("move", "on-demand", Code.OTHER),
    ),
    (
        "a tier that was used up is better than none",
        policy(SPOT, TWIN),
        waiting("twin", spot=up(), twin=down()),
        0,
        ("move", "spot", Code.OTHER),
    ),
]


@pytest.mark.parametrize(("rule", "seen", "now", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_on_a_dry_last_tier_every_other_is_asked(rule: Policy, seen: Observation, now: int, expected: Answer) -> None:
    state = job(waited=("spot",), failures=evicted(1, 2, 3))

    assert at(rule, state, seen, now) == expected


def test_an_old_answer_is_not_moved_on() -> None:
    seen = waiting("on-demand", spot=up(asked=LAUNCH - 1), twin=down(asked=LAUNCH - 1))

    assert at(ASKS, job(), seen, LAUNCH) == ("wait", "on-demand", Code.DRY)
    assert at(ASKS, job(), seen, LAUNCH - 1 + 300) == ("ask", "spot", Code.ASKED)


def test_the_cheapest_of_those_that_answer_gets_the_job() -> None:
    rule = policy(DEAR, SPOT, ON_DEMAND)

    assert at(rule, job(), waiting("on-demand", spot=up(), dear=up()), LAUNCH)[1] == "spot"


def test_all_are_asked_at_one_moment_and_again_after_every_refusal() -> None:
    """A probe is refused within 5 minutes, and a job that waits asks without a pause."""
    sights: dict[str, Sight] = {}
    rounds: list[tuple[int, list[str]]] = []
    now = LAUNCH
    for _ in range(3):
        asked: list[str] = []
        while (decision := decide(ASKS, job(), waiting("on-demand")._replace(sights=sights), now)).action is Action.ASK:
            asked.append(decision.tier)
            sights[decision.tier] = seen_down(sights.get(decision.tier, Sight()), now, asked=True)
        rounds.append((now, asked))
        now = decision.next_at

    assert rounds == [(900, ["spot", "twin"]), (1200, ["spot", "twin"]), (1500, ["spot", "twin"])]


def test_the_first_yes_ends_the_asking() -> None:
    seen = waiting("on-demand", spot=seen_up(down(100), LAUNCH, asked=True))

    assert at(ASKS, job(), seen, LAUNCH) == ("move", "spot", Code.OTHER)


def test_it_waits_for_ever_says_so_and_names_the_nodes_it_holds() -> None:
    now = 400 * 24 * HOUR
    for held, says in (
        (0, ""),
        (1, "; 1 node is held and billed meanwhile"),
        (3, "; 3 nodes are held and billed meanwhile"),
    ):
        alone = decide(ALONE, job(), waiting("on-demand", held=held), now)
        last = decide(SEEN, job(), waiting("on-demand", held=held, spot=down()), now)

        assert (alone.action, alone.next_at) == (last.action, last.next_at) == (Action.WAIT, NEVER)
        assert sentence(alone.reason) == (
            f"no capacity on on-demand, the only tier, for 9600h: waiting as long as it takes{says}"
        )
        assert sentence(last.reason) == (
            "no capacity on on-demand, the last tier, for 9600h: waiting as long as it takes, asking all other tiers"
            + says
        )


def test_with_a_deadline_a_dry_on_demand_tier_does_not_keep_the_job_from_what_answers() -> None:
    for mode in ("guard", "pace"):
        rule = policy(SPOT, ON_DEMAND, mode=mode)
        state = job(work=10 * HOUR, deadline=10 * HOUR)

        assert at(rule, state, waiting("on-demand", spot=up()), LAUNCH) == ("move", "spot", Code.OTHER)


def test_where_the_spare_time_decides_no_spot_tier_is_the_last() -> None:
    rule = policy(ON_DEMAND, SPOT, mode="pace")
    seen = waiting("spot", since=500, spot=down(500), on_demand=up())

    assert at(rule, job(work=HOUR, deadline=9 * HOUR), seen, 500) == ("wait", "spot", Code.SPARE_WAIT)
    assert at(rule, job(), seen, 500) == ("move", "on-demand", Code.OTHER)


def test_a_dry_on_demand_tier_that_is_not_the_last_passes_the_job_on_in_every_mode() -> None:
    other = Tier("other", spot=False, usd=6.0)
    for mode in ("off", "guard", "pace"):
        rule = policy(SPOT, ON_DEMAND._replace(pending_timeout=HOUR), other, mode=mode)
        seen = waiting("on-demand", since=500, spot=down(), on_demand=down(500))

        state = job(work=10 * HOUR, deadline=30 * HOUR)
        assert at(rule, state, seen, 500 + HOUR) == ("move", "other", Code.TIMEOUT)
