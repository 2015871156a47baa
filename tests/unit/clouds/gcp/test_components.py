"""Components in somebody else's program."""

import pulumi
import pytest

from spotproof.clouds.gcp import CheckpointBucket, NodePoolArgs, OnDemandNodePool, SpotNodePool, WorkspaceIdentity
from spotproof.preview.errors import ProgramError
from spotproof.preview.model import Resource
from tests.unit.clouds.programs import dig, of, only, run

POOL: NodePoolArgs = {
    "pool_name": "t4-spot",
    "cluster_name": "research",
    "region": "us-central1",
    "machine_type": "n1-standard-8",
    "max_nodes": 8,
    "zones": ["us-central1-a", "us-central1-b"],
    "service_account": "nodes@research-dev.iam.gserviceaccount.com",
    "accelerator_type": "nvidia-t4",
    "accelerator_count": 1,
}


def pool(**more: object) -> Resource:
    args: NodePoolArgs = {**POOL, **more}  # pyright: ignore[reportAssignmentType] - a key at a time
    return only(run(lambda: SpotNodePool("t4", args)), "NodePool")


def test_a_pool_stands_alone() -> None:
    one = pool()

    assert (one.inputs["name"], one.inputs["cluster"]) == ("t4-spot", "research")
    assert dig(one.inputs["nodeConfig"], "diskSizeGb") == 200
    assert dig(one.inputs["nodeConfig"], "spot") is True


def test_numbers_of_a_host_in_another_language_are_made_whole() -> None:
    one = pool(max_nodes=8.0, accelerator_count=2.0, disk_gib=300.0)

    assert dig(one.inputs["autoscaling"], "totalMaxNodeCount") == 8
    assert dig(one.inputs["nodeConfig"], "guestAccelerators", 0, "count") == 2
    assert isinstance(dig(one.inputs["nodeConfig"], "diskSizeGb"), int)


def test_accelerators_that_come_with_the_machine_need_not_be_said() -> None:
    args: NodePoolArgs = {
        "pool_name": "l4",
        "cluster_name": "research",
        "region": "us-central1",
        "machine_type": "g2-standard-24",
        "max_nodes": 8,
        "zones": ["us-central1-a", "us-central1-f"],
        "service_account": "nodes@research-dev.iam.gserviceaccount.com",
    }
    one = only(run(lambda: OnDemandNodePool("l4", args)), "NodePool")

    assert dig(one.inputs["nodeConfig"], "guestAccelerators", 0, "type") == "nvidia-l4"
    assert dig(one.inputs["nodeConfig"], "guestAccelerators", 0, "count") == 2
    assert one.inputs["nodeLocations"] == ["us-central1-a"], "f has no L4"


def test_an_argument_without_a_possible_value_is_refused() -> None:
    with pytest.raises(ProgramError, match="max_nodes"):
        pool(max_nodes=0)


def test_a_bucket_says_what_it_keeps_in_its_outputs() -> None:
    seen = run(lambda: CheckpointBucket("ckpt", {"bucket_name": "b", "region": "us-central1", "versioning": False}))
    bucket = only(seen, "Bucket")

    assert bucket.protect
    assert bucket.inputs["location"] == "US-CENTRAL1"
    assert only(seen, "CheckpointBucket").outputs == {
        "uri": "gs://b",
        "protect": True,
        "versioning": False,
        "retainDays": 30,
    }


def test_an_identity_stands_alone_and_waits_for_what_it_is_given() -> None:
    def program() -> None:
        bucket = CheckpointBucket("ckpt", {"bucket_name": "b", "region": "us-central1"})
        WorkspaceIdentity(
            "trainer",
            {
                "cluster_name": "research",
                "project": "research-dev",
                "project_number": "123456789012",
                "region": "us-central1",
                "namespace": "training",
                "service_account": "trainer",
                "bucket_name": bucket.bucket_name,
            },
            pulumi.ResourceOptions(depends_on=[bucket]),
        )

    seen = run(program)

    assert str(only(seen, "ManagedFolderIamMember").inputs["member"]).endswith("/subject/ns/training/sa/trainer")
    assert [one.inputs["name"] for one in of(seen, "ManagedFolder")] == ["training/"]
