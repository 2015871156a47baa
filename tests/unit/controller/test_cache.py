"""The cache: what it finds and whom it wakes is what a look at all objects would give."""

import pytest

from spotproof.controller.cache import Cache, Key, labels, version
from spotproof.controller.kinds import (
    JOBSET,
    NAMESPACE,
    NODE,
    NODE_CLAIM,
    POD,
    POLICY,
    RAY_CLUSTER,
    RAYJOB,
    RUN,
    Object,
)
from spotproof.vocabulary import (
    FALLBACK_POLICY_LABEL,
    PROBE_LABEL,
    SYSTEM_NAMESPACE,
)
from tests.unit.controller.objects import (
    RAY,
    A,
    claim,
    cluster,
    interrupted_run,
    jobset,
    of_cluster,
    of_jobset,
    pod,
    probe,
    rayjob,
    thing_of,
    waiting_run,
)


def test_an_older_version_changes_nothing_and_wakes_nobody() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(at=5, policy="new"))
    assert cache.put(JOBSET, jobset(at=4, policy="old")) == set()
    assert labels(cache.job(A) or {})[FALLBACK_POLICY_LABEL] == "new"


def test_an_equal_object_takes_the_place_of_that_very_version_and_of_no_newer_one() -> None:
    cache = Cache()
    first, equal = pod(of_jobset("a"), at=1), pod(of_jobset("a"), at=1)
    cache.put(POD, first)
    cache.exchange(POD, first, equal)
    assert cache.get(POD, "team", "p") is equal
    assert cache.pods(A)[0] is equal

    newer = pod(of_jobset("a"), at=2)
    cache.put(POD, newer)
    cache.exchange(POD, equal, first)
    assert cache.pods(A)[0] is newer


def test_an_answer_that_comes_after_the_end_of_its_object_does_not_bring_it_back() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(at=5))
    cache.drop(JOBSET, jobset(at=9))
    assert cache.put(JOBSET, jobset(at=8)) == set()
    assert cache.job(A) is None
    assert cache.put(JOBSET, jobset(at=10)) == {A}, "another one of that name"


def test_an_end_that_was_seen_before_the_object_holds() -> None:
    cache = Cache()
    assert cache.drop(JOBSET, jobset(at=9)) == set()
    assert cache.put(JOBSET, jobset(at=8)) == set()
    assert cache.job(A) is None


def test_what_was_written_after_a_list_was_taken_outlives_the_list() -> None:
    cache = Cache()
    cache.put(RUN, thing_of(RUN, "team", "a", 20))
    cache.put(RUN, thing_of(RUN, "team", "b", 10))
    cache.replace(RUN, [], listed_at=15)
    assert cache.run(A) is not None
    assert cache.run(Key("JobSet", "team", "b")) is None


def test_a_list_of_one_watch_leaves_the_objects_of_another_alone() -> None:
    cache = Cache()
    cache.put(POD, pod(of_jobset("a"), "worker"))
    cache.put(POD, probe())
    cache.replace(POD, [], PROBE_LABEL)
    assert [each["metadata"]["name"] for each in cache.all(POD)] == ["worker"]


def test_a_version_that_says_the_same_wakes_nobody_and_its_own_echo_does() -> None:
    cache = Cache()
    cache.put(POD, pod(of_jobset("a"), at=1))
    assert cache.put(POD, pod(of_jobset("a"), at=2)) == set()
    assert version(cache.all(POD)[0]) == 2, "a patch must name the newest version"
    assert cache.put(POD, pod(of_jobset("a"), at=2)) == {A}


def test_a_record_wakes_its_job_unless_the_job_has_just_written_it() -> None:
    cache = Cache()
    for kind in (JOBSET, RAYJOB):
        cache.put(kind, {"kind": kind.kind, "metadata": {"name": "a", "namespace": "team", "resourceVersion": "1"}})
    record = {
        "metadata": {"name": "a", "namespace": "team", "resourceVersion": "2"},
        "spec": {"job": {"kind": "JobSet"}},
    }
    of_its_name = Key("RayJob", "team", "a")
    assert cache.put(RUN, record) == {A, of_its_name}
    assert cache.put(RUN, record) == {of_its_name}
    record = {**record, "metadata": {**record["metadata"], "resourceVersion": "3"}, "status": {"phase": "Running"}}
    assert cache.put(RUN, record) == {A, of_its_name}


def test_pods_that_come_before_their_ray_cluster_are_found_when_it_comes() -> None:
    cache = Cache()
    assert cache.put(POD, pod(of_cluster("c"))) == set()
    assert cache.put(RAY_CLUSTER, cluster()) == {RAY}
    assert len(cache.pods(RAY)) == 1
    assert cache.put(POD, pod(of_cluster("c"), at=2, node="n2")) == {RAY}


def test_pods_of_a_ray_cluster_that_is_gone_are_its_jobs_until_the_last_goes() -> None:
    cache = Cache()
    cache.put(RAY_CLUSTER, cluster())
    for name in ("p", "q"):
        cache.put(POD, pod(of_cluster("c"), name))
    cache.drop(RAY_CLUSTER, cluster(at=3))
    assert len(cache.pods(RAY)) == 2
    assert cache.drop(POD, pod(of_cluster("c"), "p", at=4)) == {RAY}
    assert cache.drop(POD, pod(of_cluster("c"), "q", at=5)) == {RAY}
    assert cache.pods(RAY) == []
    assert {each["metadata"]["name"] for each in cache.departed.pods_of(RAY)} == {"p", "q"}


def test_a_node_claim_concerns_those_who_ask_its_pool_before_it_has_a_node() -> None:
    cache = Cache()
    cache.put(POD, probe(pool="spot"))
    assert cache.put(NODE_CLAIM, claim(pool="spot")) == {A}
    assert cache.put(NODE_CLAIM, claim("other", pool="od")) == set()


@pytest.mark.parametrize(
    ("before", "after", "wakes"),
    [
        ([], claim("k", 2), True),
        ([claim("j")], claim("k", 2), False),
        ([claim("k")], claim("k", 2, Launched="True"), False),
        ([claim("k", Launched="True")], claim("k", 2, node="n", Launched="True", Initialized="True"), True),
        ([claim("k"), claim("j")], claim("k", 2, node="n", Launched="True", Initialized="True"), False),
        ([claim("k"), claim("j")], claim("k", 2, Launched="False"), True),
        ([claim("k"), claim("j")], claim("k", 2, Launched="Unknown"), True),
        ([], claim("k", 2, pool="another"), False),
    ],
    ids=(
        "the first that is coming",
        "another one",
        "one that is launched",
        "the last has come",
        "one of two has come",
        "one that is refused",
        "one that fails for now",
        "another pool's",
    ),
)
def test_who_waits_for_a_pool_is_woken_by_what_a_claim_changes_for_him(
    before: list[Object], after: Object, *, wakes: bool
) -> None:
    cache = Cache()
    cache.put(RUN, waiting_run(pool="spot"))
    for each in before:
        cache.put(NODE_CLAIM, each)

    assert cache.put(NODE_CLAIM, after) == ({A} if wakes else set())


@pytest.mark.parametrize(("finding", "wakes"), [("undecided", True), ("unexplained", True), ("eviction", False)])
def test_a_node_that_goes_after_its_last_pod_wakes_whoever_does_not_know_why_the_pod_went(
    finding: str, *, wakes: bool
) -> None:
    cache = Cache()
    cache.put(NODE, thing_of(NODE, "", "n", 1))
    cache.put(RUN, interrupted_run("n", finding))

    assert cache.drop(NODE, thing_of(NODE, "", "n", 2)) == ({A} if wakes else set())


@pytest.mark.parametrize(
    ("last", "wakes"),
    [(claim("k", 2), True), (claim("k", 2, node="n", Launched="True", Initialized="True"), False)],
    ids=("it came to nothing", "its node goes"),
)
def test_who_waits_for_a_pool_is_woken_by_a_claim_that_goes_only_if_it_came_to_nothing(
    last: Object, *, wakes: bool
) -> None:
    cache = Cache()
    for each in (claim("j"), {**last, "metadata": {**last["metadata"], "resourceVersion": "1"}}):
        cache.put(NODE_CLAIM, each)
    cache.put(RUN, waiting_run(pool="spot"))

    assert cache.drop(NODE_CLAIM, last) == ({A} if wakes else set())


def test_a_claim_that_its_karpenter_has_not_looked_at_yet_is_not_refused() -> None:
    fresh = claim("k", 2)
    fresh["status"]["conditions"] = [{"type": "Launched", "status": "Unknown", "reason": "AwaitingReconciliation"}]
    cache = Cache()
    cache.put(NODE_CLAIM, claim("j"))
    cache.put(RUN, waiting_run(pool="spot"))

    assert cache.put(NODE_CLAIM, fresh) == set()


def test_a_probe_concerns_the_job_that_asks() -> None:
    cache = Cache()
    assert cache.put(POD, probe("RayJob/team/a")) == {RAY}
    assert cache.put(NODE, thing_of(NODE, "", "n1", 1)) == set()
    assert cache.put(POD, probe("RayJob/team/a", at=2, node="n1")) == {RAY}
    assert cache.put(NODE, thing_of(NODE, "", "n1", 2, labels={"a": "b"})) == {RAY}


def test_a_namespace_concerns_its_jobs_and_the_systems_own_all_of_them() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(namespace="team"))
    cache.put(RAYJOB, rayjob(namespace="other"))
    assert cache.put(NAMESPACE, thing_of(NAMESPACE, "", "team", 1)) == {A}
    assert cache.put(NAMESPACE, thing_of(NAMESPACE, "", SYSTEM_NAMESPACE, 1)) == {A, Key("RayJob", "other", "a")}


def test_a_policy_concerns_the_jobs_that_name_it_also_when_it_goes() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(policy="standard"))
    cache.put(JOBSET, jobset("b", policy="other"))
    itself = Key("FallbackPolicy", "", "standard")
    assert cache.put(POLICY, thing_of(POLICY, "", "standard", 1)) == {A, itself}
    assert cache.drop(POLICY, thing_of(POLICY, "", "standard", 2)) == {A, itself}


def test_what_is_said_of_a_policy_concerns_no_job() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(policy="standard"))
    policy = thing_of(POLICY, "", "standard", 1) | {"spec": {"tiers": []}}
    cache.put(POLICY, policy)
    said = thing_of(POLICY, "", "standard", 2) | {"spec": {"tiers": []}, "status": {"conditions": []}}
    for _ in ("written", "heard of by its watch"):
        assert cache.put(POLICY, said) == {Key("FallbackPolicy", "", "standard")}
    assert cache.policy("standard") is said
    edited = thing_of(POLICY, "", "standard", 3) | {"spec": {"tiers": [1]}, "status": {"conditions": []}}
    assert A in cache.put(POLICY, edited)


def test_who_begins_looks_at_what_is_left_of_jobs_that_are_not_there() -> None:
    cache = Cache()
    cache.put(RUN, thing_of(RUN, "team", "a", 1) | {"spec": {"job": {"kind": "JobSet", "name": "a"}}})
    cache.put(POD, probe("RayJob/team/b", at=2))
    assert cache.everything() == {A, Key("RayJob", "team", "b")}


def test_a_run_concerns_every_job_of_its_name() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset())
    cache.put(RAYJOB, rayjob())
    run = thing_of(RUN, "team", "a", 1) | {"spec": {"job": {"kind": "JobSet", "name": "a"}}}
    assert cache.put(RUN, run) == {A, RAY}
    cache.drop(RAYJOB, rayjob(at=3))
    assert cache.drop(RUN, thing_of(RUN, "team", "a", 2)) == {A}


def test_a_kind_is_served_once_it_was_listed_and_not_when_it_was_withdrawn() -> None:
    cache = Cache()
    assert not cache.serves(JOBSET)
    cache.replace(JOBSET, [jobset()])
    assert cache.serves(JOBSET)
    assert cache.withdraw(JOBSET) == {A}
    assert not cache.serves(JOBSET)
    assert cache.job(A) is None


def test_a_removed_label_takes_a_job_out_of_its_policy() -> None:
    cache = Cache()
    cache.put(JOBSET, jobset(policy="standard"))
    cache.put(JOBSET, jobset(at=2, policy="other"))
    assert cache.put(POLICY, thing_of(POLICY, "", "standard", 1)) == {Key("FallbackPolicy", "", "standard")}


def test_nothing_is_left_of_what_is_gone() -> None:
    cache = Cache()
    things = {
        JOBSET: jobset(),
        RAYJOB: rayjob(),
        RAY_CLUSTER: cluster(),
        POD: pod(of_cluster("c")),
        NODE_CLAIM: claim(node="n1"),
    }
    for kind, thing in things.items():
        cache.put(kind, thing)
    for kind in things:
        cache.replace(kind, [], listed_at=9)
    assert cache.links() == 0
