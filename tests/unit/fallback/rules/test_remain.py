from spotproof.fallback import NEVER, Code, decide, sentence
from tests.unit.fallback.samples import ON_DEMAND, SPOT, at, job, policy, running, up, waiting


def test_a_job_that_runs_stays_until_something_happens() -> None:
    decision = decide(policy(), job(), running(), 5)

    assert (decision.action.value, decision.reason.code, decision.next_at) == ("stay", Code.RUNNING, NEVER)
    assert sentence(decision.reason) == "runs on spot"


def test_a_job_whose_tier_has_room_is_being_placed() -> None:
    assert at(policy(), job(), waiting(spot=up()), 99_999) == ("wait", "spot", Code.PLACED)


def test_a_job_that_waits_says_how_long_and_what_it_holds() -> None:
    decision = decide(policy(), job(), waiting(held=2), 90)

    assert sentence(decision.reason) == (
        "waiting for spot for 1m, of 1h at most; 2 nodes are held and billed meanwhile"
    )


def test_on_the_last_tier_no_end_of_the_wait_is_promised() -> None:
    decision = decide(policy(SPOT, ON_DEMAND), job(), waiting("on-demand"), 90)

    assert sentence(decision.reason) == "waiting for on-demand, the last tier, for 1m"
