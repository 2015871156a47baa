"""Jobs on spot that nobody moves, and the one line that would help each."""

import pytest

from spotproof.controller.kinds import NODE, POLICY, RAYJOB, Kind
from spotproof.status.jobs import has_ended
from spotproof.status.without_policy import without_policy
from spotproof.status.world import NODE_POOL
from spotproof.vocabulary import ON_DEMAND_SELECTORS, SPOT_SELECTORS
from tests.unit.status.worlds import (
    BY_HAND,
    CAPACITY,
    EVERYTHING,
    OTHER_KEY,
    PLAIN,
    Object,
    job,
    jobset,
    of_jobset,
    pod,
    policy,
    rayjob,
    world,
)


@pytest.mark.parametrize(("key", "value"), SPOT_SELECTORS.items())
def test_every_label_by_which_people_select_spot_is_known(key: str, value: str) -> None:
    for thing in (
        jobset("x", {key: value}),
        rayjob("x", {key: value}),
        job("x", {"nodeSelector": {key: value}}),
        job("x", _affinity(key, [value])),
    ):
        (found,) = without_policy(world(thing))
        assert (found.name, found.kind, found.selects) == ("x", thing["kind"], f"{key}={value}")


@pytest.mark.parametrize(("key", "value"), [*ON_DEMAND_SELECTORS.items(), ("disk", "fast")])
def test_a_job_that_selects_no_spot_is_not_told(key: str, value: str) -> None:
    assert without_policy(world(jobset("x", {key: value}), job("y", {"nodeSelector": {key: value}}))) == ()


def test_affinity_that_leaves_a_choice_is_not_spot() -> None:
    assert without_policy(world(job("x", _affinity(CAPACITY, ["spot", "on-demand"])))) == ()


def test_the_label_of_a_spot_tier_is_spot_and_that_of_an_on_demand_tier_is_not() -> None:
    tiers = policy(spot="t4-spot", on_demand="t4")
    here, there = jobset("here", {"spotproof.dev/pool": "t4-spot"}), jobset("there", {"spotproof.dev/pool": "t4"})
    assert [each.name for each in without_policy(world(here, there, tiers))] == ["here"]
    assert without_policy(world(here)) == ()


@pytest.mark.parametrize("kind", [NODE, NODE_POOL])
def test_the_label_of_a_spot_pool_that_is_no_tier_is_spot(kind: Kind) -> None:
    def pool(name: str, capacity: str) -> Object:
        labels = {"spotproof.dev/pool": name, "spotproof.dev/capacity": capacity}
        thing: Object = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
        if kind == NODE:
            return {**thing, "metadata": {"name": name, "labels": labels}}
        return {**thing, "spec": {"template": {"metadata": {"labels": labels}}}}

    selecting = {"spotproof.dev/pool": "t4-spot"}
    jobs = (jobset("x", selecting), job("y", {"nodeSelector": selecting}), jobset("z", {"spotproof.dev/pool": "t4"}))
    found = without_policy(world(*jobs, pool("t4-spot", "spot"), pool("t4", "on-demand"), policy()))
    assert [each.name for each in found] == ["x", "y"]
    assert without_policy(world(*jobs, policy())) == ()


def test_jobs_with_a_policy_parts_of_others_and_jobs_that_are_over_are_not_told() -> None:
    spot = {CAPACITY: "spot"}
    owner = [{"kind": "JobSet", "name": "x", "uid": "1"}]
    part = job("part", {"nodeSelector": spot})
    part["metadata"]["ownerReferences"] = owner
    assert (
        without_policy(
            world(
                jobset("labelled", spot, labels={"spotproof.dev/fallback-policy": "a100"}),
                jobset("over", spot, conditions=[{"type": "Failed", "status": "True"}]),
                rayjob("done", spot, jobDeploymentStatus="Complete"),
                part,
            )
        )
        == ()
    )


@pytest.mark.parametrize("status", ["Complete", "Failed", "ValidationFailed"])
def test_a_rayjob_that_nothing_leads_back_from_is_over(status: str) -> None:
    assert has_ended(RAYJOB, rayjob("x", {}, jobDeploymentStatus=status))
    assert not has_ended(RAYJOB, rayjob("x", {}, jobDeploymentStatus="Retrying"))


def test_a_rayjob_without_a_spec_is_not_over_and_shown_nowhere() -> None:
    empty = {key: value for key, value in rayjob("x", {}).items() if key != "spec"}
    assert not has_ended(RAYJOB, empty)
    assert without_policy(world(empty)) == ()


def test_a_jobset_on_a_tier_is_put_under_its_policy_by_one_label() -> None:
    (found,) = without_policy(world(BY_HAND, policy()))
    assert (found.why_not, found.command) == (
        "", "kubectl label -n research jobset by-hand spotproof.dev/fallback-policy=a100",
    )  # fmt: skip


def test_a_job_that_the_policy_would_refuse_is_told_what_to_mend() -> None:
    (found,) = without_policy(world(jobset("x", {"spotproof.dev/pool": "a100-spot-a"}), policy()))
    assert found.command == ""
    assert found.why_not.startswith("policy a100 would refuse it: spec.replicatedJobs[0]")
    assert found.why_not.endswith("more)")


def test_a_job_that_saves_where_a_managed_one_does_is_refused_too() -> None:
    other = {
        **BY_HAND,
        "metadata": BY_HAND["metadata"] | {"name": "other", "uid": "o", "creationTimestamp": "2026-11-20T09:00:00Z"},
    }
    other["metadata"]["labels"] = other["metadata"]["labels"] | {"spotproof.dev/fallback-policy": "a100"}
    (found,) = without_policy(world(BY_HAND, other, policy()))
    assert "JobSet other" in found.why_not


def test_the_policy_is_the_one_whose_tier_the_job_selects() -> None:
    (found,) = without_policy(world(BY_HAND, policy("aaa", spot="t4-spot", on_demand="t4"), policy("zzz")))
    assert found.command.endswith("spotproof.dev/fallback-policy=zzz")


def test_a_job_that_selects_spot_by_another_label_is_told_what_to_select() -> None:
    (found,) = without_policy(world(OTHER_KEY, policy()))
    assert found.command == ""
    assert "write `spotproof.dev/pool: a100-spot-a` instead (first tier of policy a100)" in found.why_not


def test_a_plain_job_cannot_be_moved() -> None:
    (found,) = without_policy(world(PLAIN, policy()))
    assert found.why_not == "it is a Job, and a policy moves a JobSet or RayJob; `spotproof render` makes one"


def test_a_job_of_kueue_is_kueues() -> None:
    queued = jobset("x", {"spotproof.dev/pool": "a100-spot-a"}, labels={"kueue.x-k8s.io/queue-name": "gpu"})
    (found,) = without_policy(world(queued, policy()))
    assert found.why_not == "it is in Kueue's queue gpu, and `suspend` of such a job is Kueue's"


def test_without_policies_and_where_they_cannot_be_read_that_is_why() -> None:
    assert "there is no FallbackPolicy" in without_policy(world(OTHER_KEY))[0].why_not
    assert "cannot be read" in without_policy(world(OTHER_KEY, unseen=[POLICY]))[0].why_not


def test_a_policy_of_another_version_is_as_if_it_were_not_there() -> None:
    broken = {**policy(), "spec": {"tiers": "none"}}
    assert "there is no FallbackPolicy" in without_policy(world(OTHER_KEY, broken))[0].why_not


def test_waiting_pods_are_counted_and_the_first_says_since_when() -> None:
    found = {each.name: each for each in without_policy(EVERYTHING)}
    assert (found["by-hand"].pods_waiting, found["sweep"].pods_waiting, found["eval"].pods_waiting) == (2, 1, 0)
    assert found["by-hand"].waits_for == "free cpu and nvidia.com/gpu: what fits it otherwise is full"
    assert found["sweep"].waits_for == "room under the largest size of its node pool"
    assert found["by-hand"].since == found["sweep"].since
    assert (found["eval"].since, found["eval"].waits_for) == (None, "")


def test_a_suspended_job_is_told_as_one() -> None:
    stopped: Object = {**BY_HAND, "spec": BY_HAND["spec"] | {"suspend": True}}
    assert without_policy(world(stopped, policy(), pod("p", of_jobset("by-hand"))))[0].suspended


def _affinity(key: str, values: list[str]) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}
