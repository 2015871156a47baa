"""The API server of a world answers as the real one: what the controller relies on when two write at once."""

import pytest

from spotproof.controller.api import Api
from spotproof.controller.kinds import JOBSET, POD, RUN
from spotproof.kube.client import Refused
from tests.world.jobs import Tier, jobset, pools
from tests.world.things import FOREGROUND, leaves, uid
from tests.world.world import NAMESPACE, World

TIERS = (Tier("spot-a"), Tier("on-demand", -1, capacity="on-demand"))
ABOUT = {"name": "one", "namespace": NAMESPACE}


@pytest.fixture
def world() -> World:
    return World(pools(TIERS))


def _as_asked(server: Api) -> Api:
    """The type checker is the test: a Server is an Api."""
    return server


def pod(**metadata: object) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**ABOUT, **metadata}, "spec": {}}


def refused(status: int) -> "pytest.RaisesExc[Refused]":
    return pytest.raises(Refused, check=lambda error: error.status == status)


def test_it_is_what_the_controller_asks_for(world: World) -> None:
    assert _as_asked(world.server).find(*POD, "one", NAMESPACE) is None


def test_a_failed_test_of_a_json_patch_is_422_without_a_word_and_nothing_is_written(world: World) -> None:
    world.server.create(pod())
    change = [
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "0"},
    ]
    with refused(422) as error:
        world.server.patch(*POD, "one", change, NAMESPACE)

    assert error.value.message == ""
    assert "labels" not in world.all(POD)[0]["metadata"]


def test_a_second_object_of_a_name_is_409_and_an_absent_one_404(world: World) -> None:
    world.server.create(pod())
    with refused(409):
        world.server.create(pod())
    with refused(404):
        world.server.delete(*POD, "another", NAMESPACE)


def test_a_delete_by_uid_leaves_another_object_of_the_name_alone(world: World) -> None:
    made = world.server.create(pod()).object
    with refused(409):
        world.server.delete(*POD, "one", NAMESPACE, uid="another")
    world.server.delete(*POD, "one", NAMESPACE, uid=uid(made))
    assert not world.all(POD)


def test_a_patch_without_a_change_is_no_write(world: World) -> None:
    made = world.server.create(pod(labels={"a": "b"})).object
    again = world.server.patch(*POD, "one", {"metadata": {"labels": {"a": "b"}}}, NAMESPACE).object
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_status_is_written_through_its_subresource_alone(world: World) -> None:
    world.server.create({"apiVersion": RUN.api_version, "kind": RUN.kind, "metadata": ABOUT, "spec": {}})
    world.server.patch(*RUN, "one", {"status": {"phase": "Running"}}, NAMESPACE)
    assert "status" not in world.all(RUN)[0]

    world.server.patch(
        *RUN, "one", {"status": {"phase": "Running"}, "spec": {"policy": "x"}}, NAMESPACE, subresource="status"
    )
    assert (world.all(RUN)[0]["status"], world.all(RUN)[0]["spec"]) == ({"phase": "Running"}, {})


def test_a_pod_that_a_job_still_counts_stays_until_it_is_let_go(world: World) -> None:
    world.server.create(pod(finalizers=["batch.kubernetes.io/job-tracking"]))
    world.server.delete(*POD, "one", NAMESPACE, grace_seconds=0)
    assert leaves(world.all(POD)[0])

    world.server.patch(*POD, "one", {"metadata": {"finalizers": None}}, NAMESPACE)
    assert not world.all(POD)


def test_what_an_object_owns_goes_first_where_that_is_asked(world: World) -> None:
    world.submit(jobset("train", "none", "spot-a"))
    world.run(1)
    job = world.store.all(JOBSET)[0]
    world.server.delete(*JOBSET, "train", NAMESPACE, propagation="Foreground")
    assert world.all(JOBSET)[0]["metadata"]["finalizers"] == [FOREGROUND]

    world.run(10)
    assert not world.all(JOBSET)
    assert not world.store.dependents(uid(job))


def test_selectors_of_a_running_jobset_are_immutable_and_those_of_a_suspended_one_are_not(world: World) -> None:
    world.submit(jobset("train", "none", "spot-a"))
    path = "/spec/replicatedJobs/0/template/spec/template/spec/nodeSelector"
    change = {"op": "replace", "path": path, "value": {"spotproof.dev/pool": "on-demand"}}
    with refused(422):
        world.server.patch(*JOBSET, "train", [change], NAMESPACE)

    world.server.patch(*JOBSET, "train", [{"op": "add", "path": "/spec/suspend", "value": True}, change], NAMESPACE)


def test_lists_heed_label_and_field_selectors(world: World) -> None:
    world.server.create(pod(labels={"a": "b"}))
    world.server.create(pod(name="two"))
    assert len(world.server.list(*POD, NAMESPACE, labels="a")) == 1
    assert len(world.server.list(*POD, NAMESPACE, labels="a!=b")) == 1
    assert len(world.server.list(*POD, NAMESPACE, fields="metadata.name=two")) == 1
    assert len(world.server.list(*POD)) == 2
