"""One writer to one checkpoint: of two jobs the one that has the place keeps it."""

from typing import Any

import pytest

from spotproof.controller.cache import Cache, Key
from spotproof.controller.kinds import JOBSET as KIND
from spotproof.controller.preflight import Finding, preflight
from spotproof.controller.relations import holdings
from tests.unit.controller.preflight.samples import (
    GONE,
    HEAD,
    JOBSET,
    POD_SPEC,
    RAYJOB,
    WORKER,
    Json,
    changed,
    policy,
    stored,
)

OLD, NEW = "2026-11-21T09:00:00Z", "2026-11-21T10:00:00Z"
ENV = (*POD_SPEC, "containers", 0, "env")


def named(manifest: Json, name: str, created: str = NEW, uid: str = "b", run: str | None = None) -> Json:
    made = stored(manifest, created=created, uid=uid)
    made["metadata"]["name"] = name
    made["metadata"]["labels"] |= {"spotproof.dev/run": run or name}
    return made


def saving_to(uri: str, name: str, created: str = NEW, **env: str) -> Json:
    values = [*({"name": key, "value": value} for key, value in env.items()), {"name": "CHECKPOINT_URI", "value": uri}]
    return named(changed(JOBSET, ENV, values), name, created)


def found(job: Json, *others: Json) -> list[Finding]:
    return [each for each in preflight(job, policy(), others) if each.refuses]


def test_two_jobs_on_one_place_are_one_too_many_and_the_newer_is_refused() -> None:
    first, second = saving_to("s3://a/run", "first", OLD), saving_to("s3://a/run/", "second", NEW)

    assert found(first, second) == []
    (refused,) = found(second, first)

    field = "spec.replicatedJobs[0].template.spec.template.spec.containers[0].env[0]"
    assert (refused.code, refused.field) == ("SameCheckpoint", field)
    assert refused.message.startswith('has CHECKPOINT_URI "s3://a/run", where JobSet first saves too; two jobs')


@pytest.mark.parametrize(
    ("managed", "refused"),
    [
        ((), ["newer"]),
        (("newer",), ["older"]),
        (("older",), ["newer"]),
        (("older", "newer"), ["newer"]),
        (("somebody",), ["newer"]),
    ],
)
@pytest.mark.parametrize("shared", ["SameCheckpoint", "SameRun", "SameName"])
def test_a_job_that_is_managed_keeps_its_place_and_else_the_older_one_does(
    shared: str, managed: tuple[str, ...], refused: list[str]
) -> None:
    places = {"SameCheckpoint": ("s3://a", "s3://a")}.get(shared, ("s3://a", "s3://b"))
    older, newer = saving_to(places[0], "older", OLD), saving_to(places[1], "newer", NEW)
    older["metadata"]["uid"], newer["metadata"]["uid"] = "older", "newer"
    if shared == "SameRun":
        newer["metadata"]["labels"]["spotproof.dev/run"] = "older"
    if shared == "SameName":
        newer["metadata"]["name"] = "older"

    said = {
        job["metadata"]["uid"]: [each.code for each in preflight(job, policy(), [other], managed=frozenset(managed))]
        for job, other in ((older, newer), (newer, older))
    }

    assert {uid: codes for uid, codes in said.items() if codes} == {uid: [shared] for uid in refused}


def test_of_two_jobs_of_one_second_exactly_one_is_refused() -> None:
    one, other = saving_to("s3://a", "one"), saving_to("s3://a", "other")
    one["metadata"]["uid"], other["metadata"]["uid"] = "a", "b"
    assert [len(found(one, other)), len(found(other, one))] == [0, 1]


@pytest.mark.parametrize(
    ("kind", "status", "is_refused"),
    [
        (JOBSET, {"terminalState": "Completed"}, False),
        (JOBSET, {"terminalState": "Failed"}, False),
        (JOBSET, {"restarts": 3}, True),
        (RAYJOB, {"jobDeploymentStatus": "Complete"}, False),
        (RAYJOB, {"jobDeploymentStatus": "Failed"}, False),
        (RAYJOB, {"jobDeploymentStatus": "ValidationFailed"}, True),
        (RAYJOB, {"jobDeploymentStatus": "Suspended"}, True),
    ],
)
def test_a_job_that_has_ended_writes_no_more(kind: Json, status: Json, *, is_refused: bool) -> None:
    """The same run is submitted again under another name, or by the other operator."""
    older = named(kind, "older", OLD) | {"status": status}
    assert bool(found(named(kind, "newer"), older)) is is_refused


def test_a_place_is_known_whichever_container_names_it() -> None:
    on_head = changed(RAYJOB, (*WORKER, "containers", 0, "env"), [])
    assert [each.code for each in found(named(on_head, "newer"), named(JOBSET, "older", OLD))] == ["SameCheckpoint"]


def test_variables_are_filled_in_as_the_kubelet_does() -> None:
    one = saving_to("s3://a/$(RUN)", "one", OLD, RUN="one")
    assert found(saving_to("s3://a/$(RUN)", "two", RUN="two"), one) == []
    assert [each.code for each in found(saving_to("s3://$(B)/one", "two", B="a"), one)] == ["SameCheckpoint"]
    # the dollar of a literal, and a name that is not there, stay as they are
    assert found(saving_to("s3://a/$$(RUN)", "two", RUN="one"), one) == []
    assert found(saving_to("s3://a/$(GONE)", "two", RUN="one"), one) == []


def test_what_only_the_cluster_knows_is_compared_with_nothing() -> None:
    secret: list[Any] = [
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "CHECKPOINT_URI", "value": "s3://$(B)/x"},
    ]
    one, two = named(changed(JOBSET, ENV, secret), "one", OLD), named(changed(JOBSET, ENV, secret), "two")
    assert preflight(two, policy(), [one]) == ()


def test_two_jobs_of_one_run_are_refused_wherever_they_save() -> None:
    one = saving_to("s3://a", "one", OLD)
    two = saving_to("s3://b", "two")
    two["metadata"]["labels"]["spotproof.dev/run"] = "one"
    (refused,) = found(two, one)
    assert (refused.code, refused.field) == ("SameRun", "metadata.labels['spotproof.dev/run']")


def test_a_jobset_and_a_rayjob_of_one_name_would_share_a_training_run_even_after_one_has_ended() -> None:
    older = named(RAYJOB, "demo", OLD) | {"status": {"jobDeploymentStatus": "Complete"}}
    (refused,) = found(named(JOBSET, "demo"), older)
    assert (refused.code, refused.field) == ("SameName", "metadata.name")
    assert found(named(JOBSET, "demo", OLD, uid="a"), named(RAYJOB, "demo")) == []


@pytest.mark.parametrize(
    ("job", "is_told"),
    [
        (changed(JOBSET, ENV, []), True),
        (changed(JOBSET, ENV, [{"name": "CHECKPOINT_URI", "valueFrom": {"configMapKeyRef": {}}}]), False),
        (changed(RAYJOB, (*WORKER, "containers", 0, "env"), []), False),
        (changed(changed(RAYJOB, (*WORKER, "containers", 0, "env"), []), (*HEAD, "containers", 0, "env"), []), False),
    ],
)
def test_a_job_that_nobody_tells_where_to_save_is_told_so_once(job: Json, *, is_told: bool) -> None:
    """With Ray the program runs on the head; a submitter's variables reach it too."""
    assert [each.code for each in preflight(job, policy(), ())] == (["NoCheckpoint"] if is_told else [])


def test_rays_runtime_environment_may_tell_it_too() -> None:
    bare = changed(changed(RAYJOB, (*WORKER, "containers", 0, "env"), []), (*HEAD, "containers", 0, "env"), [])
    bare = changed(bare, ("spec", "submitterPodTemplate"), GONE)
    assert [each.code for each in preflight(bare, policy(), ())] == ["NoCheckpoint"]
    told = changed(bare, ("spec", "runtimeEnvYAML"), "env_vars:\n  CHECKPOINT_URI: s3://a/b\n")
    assert preflight(told, policy(), ()) == ()


def in_runtime_env(text: str, name: str, created: str = NEW) -> Json:
    quiet = changed(RAYJOB, (*WORKER, "containers", 0, "env"), [])
    return named(changed(quiet, ("spec", "runtimeEnvYAML"), text), name, created)


def test_a_place_that_a_ray_runtime_environment_names_is_compared_too() -> None:
    first = saving_to("s3://a/run", "first", OLD)
    second = in_runtime_env("env_vars:\n  CHECKPOINT_URI: s3://a/run/\n", "second")
    head = changed(second, (*HEAD, "containers", 0, "env"), [])

    (refused,) = found(head, first)
    assert (refused.code, refused.field) == ("SameCheckpoint", "spec.runtimeEnvYAML")


@pytest.mark.parametrize(
    "text",
    ["CHECKPOINT_URI: [", "CHECKPOINT_URI", "env_vars: [CHECKPOINT_URI]", "env_vars: {CHECKPOINT_URI: 's3://${X}'}"],
)
def test_a_runtime_environment_that_cannot_be_read_names_no_place(text: str) -> None:
    job = changed(in_runtime_env(text, "second"), (*HEAD, "containers", 0, "env"), [])
    assert found(job, saving_to("s3://${X}", "first", OLD)) == []


@pytest.mark.parametrize(
    ("uri", "is_refused"), [("s3://a/run", True), ("GS://a/run", True), ("/mnt/run", False), ("file:///mnt/run", False)]
)
def test_a_job_of_another_namespace_is_in_the_way_only_at_a_place_that_both_can_reach(
    uri: str, *, is_refused: bool
) -> None:
    first, second = saving_to(uri, "train", OLD), saving_to(uri, "train", NEW)
    first["metadata"] |= {"namespace": "team-a", "uid": "a", "resourceVersion": "1"}
    second["metadata"] |= {"namespace": "team-b", "uid": "b", "resourceVersion": "2"}
    cache, key = Cache(), Key("JobSet", "team-b", "train")
    cache.put(KIND, first)
    cache.put(KIND, second)

    rivals = cache.rivals(key, holdings(second))
    assert [each.code for each in found(second, *rivals)] == (["SameCheckpoint"] if is_refused else [])
    cache.drop(KIND, first)
    assert cache.rivals(key, holdings(second)) == []
