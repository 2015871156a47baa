"""When half-placed gangs come again: each after a while of its own, the older before the younger."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from spotproof.controller.kinds import Object
from spotproof.controller.parking import ANSWER, APART_SECONDS, due, instants, resume_at
from spotproof.controller.visit import Visit
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.record import RunTier, TrainingRunStatus
from spotproof.fallback.run import Action, Decision
from tests.unit.controller.things import NOW, at

TIMEOUT = 600
WAITS = Decision(Action.WAIT, "last", Reason(Code.LAST, ("last", TIMEOUT)))
HALF = TrainingRunStatus(tier="last", waiting_since=NOW - TIMEOUT, nodes_held=2)
MOVE = {"id": "m", "from": "last", "to": "last", "reason": "HalfPlaced", "message": "m", "step": "Resuming"}


def run(name: str, made: int, comes_again: int | None = None, *, nodes: int = 0, waiting: int = -TIMEOUT) -> Object:
    """A TrainingRun that waits for the tier with so many of its nodes, or is parked until then."""
    move = {} if comes_again is None else {"move": {**MOVE, "since": at(), "resumeAt": at(comes_again)}}
    return {
        "metadata": {"name": name, "uid": name, "creationTimestamp": at(made)},
        "status": {"phase": "Waiting", "tier": "last", "waitingSince": at(waiting), "nodesHeld": nodes, **move},
    }


def here(*others: Object, made: int = -1000, jitter: float = 0.5) -> Visit:
    """A visit to a half-placed job of that age, whose time is over, beside these."""
    own = run("own", made)
    tier = SimpleNamespace(pool="last", pending_timeout=SimpleNamespace(total_seconds=lambda: float(TIMEOUT)))

    def waiting(pool: str) -> list[Object]:
        return [own, *others] if pool == "last" else []

    def half_placed(pool: str) -> list[Object]:
        return [each for each in waiting(pool) if each["status"]["nodesHeld"]]

    cache = SimpleNamespace(waiting=waiting, half_placed=half_placed)
    seen: Any = SimpleNamespace(run=own, tiers={"last": tier}, cache=cache, now=float(NOW), second=NOW, jitter=jitter)
    return cast("Visit", seen)


@pytest.mark.parametrize(("jitter", "after"), [(0.0, 301), (0.5, 601), (1.0, 901)])
def test_a_job_that_is_alone_comes_again_after_a_while_that_no_other_shares(jitter: float, after: int) -> None:
    assert resume_at(here(jitter=jitter), HALF, WAITS) == NOW + after


@pytest.mark.parametrize(
    ("words", "others", "made", "after"),
    [
        ("after the older one", [run("old", -2000, 800)], -1000, 800 + APART_SECONDS + 1),
        ("after the last of the older ones", [run("a", -3000, 650), run("b", -2000, 800)], -1000, 811),
        ("in its own time where that is later", [run("old", -2000, 20)], -1000, 601),
        ("before the younger one", [run("young", -500, 400)], -1000, 400 - APART_SECONDS - 1),
        ("at once where the younger one is about to come", [run("young", -500, 5)], -1000, 1),
        ("whoever is not parked changes nothing", [run("old", -2000), run("young", -500)], -1000, 601),
    ],
)
def test_jobs_that_gave_back_come_again_in_order_of_age(
    words: str, others: list[Object], made: int, after: int
) -> None:
    assert resume_at(here(*others, made=made), HALF, WAITS) == NOW + after, words


def test_a_job_none_of_whose_pods_waits_gives_nothing_back() -> None:
    """Others of its pods are not made yet, as under a quota: no clock runs."""
    assert resume_at(here(), HALF.model_copy(update={"waiting_paused": NOW - 5}), WAITS) is None


@pytest.mark.parametrize(
    ("words", "others", "made", "comes"),
    [
        ("alone", [], -1000, True),
        ("the older one keeps what it has while a younger one can give", [run("young", -500, nodes=1)], -1000, False),
        ("the younger one gives", [run("old", -2000, nodes=1)], -1000, True),
        ("one that holds nothing has nothing to give", [run("young", -500)], -1000, True),
    ],
)
def test_of_several_that_hold_nodes_the_oldest_keeps_them(
    words: str, others: list[Object], made: int, *, comes: bool
) -> None:
    assert (resume_at(here(*others, made=made), HALF, WAITS) is not None) is comes, words


@pytest.mark.parametrize(
    ("words", "asked", "ends"),
    [
        ("another tier may have room for all of it", -120, -120 + ANSWER),
        ("asked later than that: of several tiers one is always asked", -80, -100),
    ],
)
def test_it_waits_for_an_answer_to_what_was_asked_before_its_time_was_over(words: str, asked: int, ends: int) -> None:
    tiers = (RunTier(pool="other", asking_since=NOW + asked),)
    over = HALF.model_copy(update={"waiting_since": NOW - TIMEOUT - 100, "tiers": tiers})

    assert due(here(), over) == NOW + ends, words


@pytest.mark.parametrize(
    ("words", "others", "again"),
    [
        ("the other gives back as its own time ends", [run("young", -500, nodes=1, waiting=-100)], TIMEOUT - 100),
        ("it was to have given back by now", [run("young", -500, nodes=1)], 0),
        ("it has given back and comes again then", [run("young", -500, 400, nodes=1)], 400),
    ],
)
def test_who_keeps_its_nodes_past_its_time_looks_again_once_another_should_have_given_back(
    words: str, others: list[Object], again: int
) -> None:
    assert instants(here(*others), HALF) == [NOW + again + APART_SECONDS], words


def test_a_job_that_waits_is_looked_at_as_its_time_ends() -> None:
    waits = HALF.model_copy(update={"waiting_since": NOW - 100, "nodes_held": 0})

    assert instants(here(), waits) == [NOW - 100 + TIMEOUT]
