import pytest

from spotproof.fallback import Action, Code, Order, Sight, Tier, decide, sentence
from spotproof.fallback.history import seen_down
from tests.unit.fallback.samples import DEAR, HOUR, ON_DEMAND, SPOT, TWIN, at, down, evicted, job, policy, up, waiting

THIRD = Tier("third", spot=True, usd=0.95, max_failures=2)
THREE = policy(SPOT, TWIN, THIRD, ON_DEMAND, probe_every=1800)
NOW = 10_000


def test_all_equal_tiers_are_asked_at_one_moment_least_recently_failed_first() -> None:
    sights = {"spot": down(NOW), "twin": down(9_000, asked=9_000), "third": down(8_000, asked=8_000)}
    asked: list[str] = []
    while (decision := decide(THREE, job(), waiting(since=NOW)._replace(sights=sights), NOW)).action is Action.ASK:
        asked.append(decision.tier)
        sights[decision.tier] = seen_down(sights[decision.tier], NOW, asked=True)

    assert asked == ["third", "twin"]
    assert (decision.action, decision.next_at) == (Action.WAIT, NOW + 300)


def test_one_that_never_failed_comes_first_and_the_users_list_where_that_is_the_order() -> None:
    sights = {"twin": down(10), "spot": down(NOW)}
    listed = policy(SPOT, TWIN, THIRD, ON_DEMAND, probe_every=1800, order=Order.LISTED)

    assert at(THREE, job(), waiting(since=NOW)._replace(sights=sights), NOW) == ("ask", "third", Code.ASKED)
    assert at(listed, job(), waiting(since=NOW)._replace(sights=sights), NOW) == ("ask", "twin", Code.ASKED)


def test_where_all_are_seen_the_one_that_is_up_longest_is_taken() -> None:
    rule = policy(SPOT, TWIN, THIRD, ON_DEMAND)
    sights = {"spot": down(NOW), "twin": up(900), "third": up(800)}

    assert at(rule, job(), waiting(since=NOW)._replace(sights=sights), NOW) == ("move", "third", Code.EQUAL)


def test_a_tier_that_is_used_up_is_neither_asked_nor_taken() -> None:
    spent = job(failures=evicted(1, 2, 3, pool="third"))
    asking = {"spot": down(NOW), "twin": down(9_000, asked=9_000)}

    assert at(THREE, spent, waiting(since=NOW)._replace(sights=asking), NOW)[1] == "twin"
    seen = waiting(since=NOW, spot=down(NOW), twin=down(NOW), third=up())
    assert at(policy(SPOT, TWIN, THIRD, ON_DEMAND), spent, seen, NOW) == ("wait", "spot", Code.WAITING)


@pytest.mark.parametrize(
    ("waited", "answer"),
    [
        ((), ("move", "twin", Code.EQUAL)),
        (("spot", "twin"), ("move", "twin", Code.EQUAL)),
        (("spot", "twin", "spot", "twin"), ("wait", "spot", Code.WAITING)),
    ],
)
def test_an_equal_tier_that_answers_and_has_no_place_for_the_gang_is_taken_twice(
    waited: tuple[str, ...], answer: tuple[str, str, Code]
) -> None:
    """A probe of one node said yes each time, and a gang of eight never reached the tier after the equals."""
    seen = waiting(since=NOW, spot=down(NOW), twin=up())

    assert at(policy(SPOT, TWIN, ON_DEMAND), job(waited=waited), seen, NOW) == answer


def test_one_that_was_left_twice_is_not_asked_and_the_job_goes_on_to_on_demand() -> None:
    left = job(waited=("twin", "spot", "twin"))
    seen = waiting(since=NOW)._replace(sights={"spot": down(NOW), "twin": down(100, asked=100)})
    rule = policy(SPOT, TWIN, ON_DEMAND, probe_every=1800)

    assert at(rule, left, seen, NOW) == ("wait", "spot", Code.WAITING)
    assert at(rule, left, seen, NOW + HOUR) == ("move", "on-demand", Code.TIMEOUT)


def test_a_job_whose_own_tier_has_room_asks_nobody() -> None:
    assert at(THREE, job(), waiting(since=NOW, spot=up()), NOW) == ("wait", "spot", Code.PLACED)


def test_an_answer_of_before_is_not_moved_on() -> None:
    sights: dict[str, Sight] = {"spot": down(NOW), "twin": up(asked=NOW - 1), "third": down(asked=NOW - 1)}

    assert at(THREE, job(), waiting(since=NOW)._replace(sights=sights), NOW)[0] == "wait"
    assert at(THREE, job(), waiting(since=NOW)._replace(sights=sights), NOW + 299) == ("ask", "twin", Code.ASKED)


@pytest.mark.parametrize(
    ("words", "one", "other", "equal"),
    [
        ("10 % of the dearer", SPOT._replace(usd=9.0), TWIN._replace(usd=10.0), True),
        ("a cent more", SPOT._replace(usd=8.99), TWIN._replace(usd=10.0), False),
        ("spot and on-demand of one price", SPOT, ON_DEMAND._replace(usd=1.0), False),
        ("two without a price", SPOT._replace(usd=None), TWIN._replace(usd=None), True),
        ("one without a price", SPOT._replace(usd=None), TWIN, False),
        ("both free", SPOT._replace(usd=0.0), TWIN._replace(usd=0.0), True),
    ],
)
def test_prices_within_10_percent_are_equal(words: str, one: Tier, other: Tier, *, equal: bool) -> None:
    rule = policy(one, other)

    assert bool(rule.equals[one.pool]) is equal, words
    assert bool(rule.equals[other.pool]) is equal, words


def test_a_dearer_tier_is_not_asked_while_there_is_time_to_wait() -> None:
    rule = policy(SPOT, DEAR, ON_DEMAND, probe_every=1800)

    assert at(rule, job(), waiting(since=NOW, spot=down(NOW)), NOW + HOUR - 1) == ("wait", "spot", Code.WAITING)


def test_the_sentence_names_both() -> None:
    decision = decide(policy(SPOT, TWIN, ON_DEMAND), job(), waiting(since=NOW, spot=down(NOW), twin=up()), NOW)

    assert sentence(decision.reason) == "no place on spot, and twin has one for the same price: moving there"
