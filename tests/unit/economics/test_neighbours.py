from dataclasses import replace

from spotproof.economics.neighbours import Fit, neighbourhood
from spotproof.fallback.policy import Policy
from tests.unit.economics.requests import ON_DEMAND, SPOT, policy

PLAIN = Fit(720, 1800, None)
DEADLINE = Fit(720, 1800, 0.2)


def names(written: Policy, fit: Fit = PLAIN) -> list[str]:
    return [one.name for one in neighbourhood(written, ON_DEMAND, fit)]


def test_the_neighbourhood_is_one_setting_more_or_less_and_two_yardsticks() -> None:
    assert names(policy()) == [
        "as written", "maxFailures 0", "maxFailures 1", "maxFailures 6", "maxFailures -1", "pendingTimeout 15m",
        "pendingTimeout 1h", "return 2h", "maxFailures -1, return 2h", "on-demand alone", "spot alone",
    ]  # fmt: skip


def test_with_a_deadline_its_modes_are_compared_too() -> None:
    found = names(policy(mode="guard"), DEADLINE)
    assert [name for name in found if "deadline" in name] == ["deadline off", "deadline pace"]
    assert "maxFailures -1, return 2h, guard" in found


def test_without_a_deadline_the_mode_makes_no_neighbours() -> None:
    assert names(policy(mode="pace")) == names(policy())


def test_pace_with_one_spot_tier_reads_no_counts_so_they_are_no_neighbours() -> None:
    assert names(policy(mode="pace"), DEADLINE) == [
        "as written", "deadline off", "deadline guard", "maxFailures -1, return 2h, guard", "on-demand alone",
        "spot alone",
    ]  # fmt: skip


def test_minus_one_is_halved_and_doubled_as_the_default() -> None:
    never = policy(tiers=(SPOT._replace(max_failures=-1), ON_DEMAND))
    assert [name for name in names(never) if name.startswith("maxFailures") and "," not in name] == [
        "maxFailures 0", "maxFailures 2", "maxFailures 5", "maxFailures 10",
    ]  # fmt: skip


def test_several_tiers_keep_their_own_numbers() -> None:
    two = policy(tiers=(SPOT, SPOT._replace(pool="other", max_failures=5, pending_timeout=3600), ON_DEMAND))
    assert "maxFailures 6/10" in names(two)
    assert "pendingTimeout 1h/2h" in names(two)


def test_a_timeout_is_not_halved_below_a_healthy_launch() -> None:
    short = policy(tiers=(SPOT._replace(pending_timeout=900), ON_DEMAND))
    assert [name for name in names(short) if name.startswith("pending")] == ["pendingTimeout 30m"]


def test_a_policy_with_return_is_compared_with_one_without() -> None:
    assert "return off" in names(policy(min_stay=3600))


def test_neighbours_count_on_the_jobs_own_restart_and_the_policy_as_written_does_not() -> None:
    found = neighbourhood(policy(restart=300), ON_DEMAND, DEADLINE)
    assert found[1].name == "with this job's restart"
    assert {one.policy.restart for one in found[1:-2]} == {720}
    assert found[0].policy.restart == 300


def test_a_roomy_deadline_allows_a_longer_timeout() -> None:
    def together(slack: float) -> int:
        (one, *_) = [each for each in neighbourhood(policy(), ON_DEMAND, Fit(720, 1800, slack)) if "," in each.name]
        return one.policy.tiers[0].pending_timeout

    assert (together(0.2), together(0.3)) == (3600, 7200)


def test_spot_alone_has_no_count_and_no_on_demand() -> None:
    last = neighbourhood(policy(), ON_DEMAND, PLAIN)[-1].policy
    assert last.on_demand is None
    assert last.tiers == (replace(policy(), tiers=(SPOT._replace(max_failures=-1),)).tiers)
