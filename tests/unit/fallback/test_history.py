import pytest

from spotproof.fallback import Failure, Observation, Sight
from spotproof.fallback.history import created, interrupted, moved, seen_down, seen_up, started
from tests.unit.fallback.samples import DEAR, HOUR, ON_DEMAND, SPOT, TWIN, evicted, job, policy, running

RULE = policy(SPOT, TWIN, DEAR, ON_DEMAND, restart=720, checkpoint_every=1800)


def test_a_job_begins_on_its_first_wait_with_nothing_behind_it() -> None:
    state = created(7, work=5, deadline=9)

    assert (state.created, state.arrived, state.work, state.deadline) == (7, 7, 5, 9)
    assert (state.failures, state.waited, state.moves, state.done) == ((), (), (), 0)


@pytest.mark.parametrize(
    ("words", "ran", "seen", "saved"),
    [
        ("less its restart and a checkpoint interval", 10_000, 0, 10_000 - 720 - 1800),
        ("with the restarts it has seen", 10_000, 900, 10_000 - 900 - 1800),
        ("never less than nothing", 2_519, 0, 0),
    ],
)
def test_an_attempt_is_taken_to_have_saved_its_running_time(words: str, ran: int, seen: int, saved: int) -> None:
    state = job(done=50, restart_seen=seen)

    assert interrupted(RULE, state, running(since=100), 100 + ran).done == 50 + saved, words


def test_an_end_that_nobody_is_charged_for_counts_no_failure_and_keeps_what_was_saved() -> None:
    state = job(failures=evicted(1))
    seen = running("twin", since=0)

    assert interrupted(RULE, state, seen, HOUR, "eviction").failures == (*state.failures, Failure(HOUR, "twin"))
    assert interrupted(RULE, state, seen, HOUR, "error").failures[-1].kind == "error"
    assert interrupted(RULE, state, seen, HOUR, None).failures == state.failures
    assert interrupted(RULE, state, seen, HOUR, None).done == interrupted(RULE, state, seen, HOUR).done


def test_counts_start_afresh_on_another_price_and_are_kept_among_equals() -> None:
    """A job that alternates between two equals would never use either up."""
    state = job(failures=evicted(1, 2))

    assert moved(RULE, state, before="spot", after="twin", now=5).failures == state.failures
    assert moved(RULE, state, before="spot", after="dear", now=5).failures == ()
    assert moved(RULE, state, before="spot", after="on-demand", now=5).failures == ()


def test_what_was_waited_for_in_vain_is_remembered_among_equals_until_the_job_runs() -> None:
    state = moved(RULE, job(), before="spot", after="twin", now=5)

    assert state.waited == ("spot",)
    assert moved(RULE, state, before="twin", after="dear", now=9).waited == ()
    assert started(state).waited == ()


def test_of_each_equal_tier_that_was_left_no_more_is_remembered_than_the_rules_count() -> None:
    """A TrainingRun holds 32: a gang that went to and fro in a dry market for hours could not be written any more."""
    state = job()
    for _ in range(40):
        state = moved(RULE, state, before="spot", after="twin", now=5)
        state = moved(RULE, state, before="twin", after="spot", now=5)

    assert state.waited == ("spot", "twin", "spot", "twin")


def test_moves_of_the_last_hour_are_kept_and_older_ones_forgotten() -> None:
    state = job(moves=(100, 101, 3_000))

    assert moved(RULE, state, before="spot", after="dear", now=100 + HOUR).moves == (101, 3_000, 100 + HOUR)
    assert moved(RULE, state, before="spot", after="dear", now=100 + HOUR).arrived == 100 + HOUR


def test_a_move_to_the_same_tier_is_none() -> None:
    assert moved(RULE, job(), before="spot", after="spot", now=5) == job()


WATCHED: list[tuple[str, Sight, Sight, Sight]] = [
    ("first seen up", Sight(), seen_up(Sight(), 50), Sight(there=True, up=50, down=50)),
    ("seen up again", Sight(there=True, up=40, down=9), seen_up(Sight(there=True, up=40, down=9), 50),
     Sight(there=True, up=50, down=9)),
    ("came back as one watched", Sight(up=10, down=49), seen_up(Sight(up=10, down=49), 50),
     Sight(there=True, up=50, down=50)),
    ("first seen down", Sight(), seen_down(Sight(), 50), Sight(up=None, down=50)),
    ("was lost as one watched", Sight(there=True, up=10, down=5), seen_down(Sight(there=True, up=10, down=5), 50),
     Sight(up=50, down=50)),
    ("still down", Sight(up=10, down=20), seen_down(Sight(up=10, down=20), 50), Sight(up=10, down=50)),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), [row[1:] for row in WATCHED], ids=[row[0] for row in WATCHED])
def test_a_tier_that_is_watched_changes_when_it_is_seen_to(before: Sight, after: Sight, expected: Sight) -> None:
    assert after == expected != before


def test_one_that_was_asked_came_back_in_the_middle_and_left_nobody_knows_when() -> None:
    no = seen_down(Sight(), 1000, asked=True)
    yes = seen_up(no, 2800, asked=True)
    gone = seen_down(yes, 4600, asked=True)

    assert no == Sight(there=False, up=None, down=1000, asked=1000)
    assert yes == Sight(there=True, up=2800, down=1900, asked=2800)
    assert gone == Sight(there=False, up=2800, down=4600, asked=4600)


def test_a_second_yes_keeps_the_age_and_notes_that_it_was_asked() -> None:
    yes = seen_up(Sight(there=True, up=2800, down=1900, asked=2800), 4600, asked=True)

    assert yes == Sight(there=True, up=4600, down=1900, asked=4600)


def test_a_look_without_a_question_leaves_the_time_of_the_last_question() -> None:
    assert seen_up(Sight(asked=7), 9).asked == 7
    assert seen_down(Sight(there=True, asked=7), 9).asked == 7


def test_an_outage_is_counted_from_the_moment_the_job_left_a_tier_that_was_up() -> None:
    """It was watched until then: only what came after is not known."""
    watched = seen_up(Sight(there=True, up=100, down=100), 5_000)

    assert seen_down(watched, 6_800, asked=True).up == 5_000


def test_what_is_written_needs_the_observation_of_the_attempt_that_ended() -> None:
    seen: Observation = running("dear", since=0)

    assert interrupted(RULE, job(), seen, HOUR).failures[0].pool == "dear"
