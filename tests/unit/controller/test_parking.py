"""When half-placed gangs come again: each after a while of its own, the older before the younger."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from spotproof.controller.kinds import Object
from spotproof.controller.parking import APART_SECONDS, resume_at
from spotproof.controller.visit import Visit
from spotproof.fallback.reasons import Code, Reason
from spotproof.fallback.record import TrainingRunStatus
from spotproof.fallback.run import Action, Decision
from tests.unit.controller.things import NOW, at

TIMEOUT = 600
WAITS = Decision(Action.WAIT, "last", Reason(Code.LAST, ("last", TIMEOUT)))
HALF = TrainingRunStatus(tier="last", waiting_since=NOW - TIMEOUT, nodes_held=2)
MOVE = {"id": "m", "from": "last", "to": "last", "reason": "HalfPlaced", "message": "m", "step": "Resuming"}


def run(name: str, made: int, comes_again: int | None = None) -> Object:
    """A TrainingRun that waits for the tier, or is parked until then."""
    move = {} if comes_again is None else {"move": {**MOVE, "since": at(), "resumeAt": at(comes_again)}}
    return {
        "metadata": {"name": name, "uid": name, "creationTimestamp": at(made)},
        "status": {"phase": "Waiting", "tier": "last", "waitingSince": at(-TIMEOUT), **move},
    }


def here(*others: Object, made: int = -1000, jitter: float = 0.5) -> Visit:
    """A visit to a half-placed job of that age, whose time is over, beside these."""
    own = run("own", made)
    tier = SimpleNamespace(pool="last", pending_timeout=SimpleNamespace(total_seconds=lambda: float(TIMEOUT)))

    def waiting(pool: str) -> list[Object]:
        return [own, *others] if pool == "last" else []

    cache = SimpleNamespace(waiting=waiting)
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
