"""Components as somebody else's program uses them, one at a time."""

import json
from collections.abc import Callable
from typing import Any, cast

import pulumi
import pulumi_aws as aws

import spotproof.clouds.aws as library
from spotproof.clouds.aws.cluster import kubeconfig
from spotproof.clouds.aws.names import Names
from spotproof.preview.model import Secret
from tests.unit.clouds.programs import dig, of, only, run, waits_for

PLACE = {"cluster_name": "theirs", "account_id": "123456789012", "region": "us-west-2"}
POOL = library.NodePoolArgs(
    pool_name="t4-spot",
    instance_types=["g4dn.xlarge"],
    max_nodes=4,
    zones=["us-west-2a"],
    node_role_name="TheirNodes",
    subnet_terms=[{"tags": {"team": "theirs"}}],
    security_group_terms=[{"id": "sg-0a1b2c3d4e5f60718"}],
    ami_alias="al2023@v20260903",
)


def bucket(**args: Any) -> Callable[[], object]:
    given = cast("library.CheckpointBucketArgs", {"bucket_name": "theirs", "region": "us-west-2", **args})
    return lambda: library.CheckpointBucket("checkpoints", given)


def test_a_bucket_is_private_encrypted_versioned_and_protected_by_default() -> None:
    seen = run(bucket())

    assert only(seen, "Bucket").protect
    assert set(only(seen, "BucketPublicAccessBlock").inputs.values()) >= {True}
    assert dig(only(seen, "BucketVersioning").inputs, "versioningConfiguration", "status") == "Enabled"
    assert "AES256" in repr(only(seen, "BucketServerSideEncryptionConfiguration").inputs)
    denied = json.loads(str(only(seen, "BucketPolicy").inputs["policy"]))["Statement"][0]
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert only(seen, "CheckpointBucket").inputs == {"protect": True, "versioning": True, "retainDays": 30}


def test_old_versions_and_unfinished_uploads_do_not_pile_up() -> None:
    seen = run(bucket(retain_days=14))
    rules = {rule["id"]: rule for rule in dig(only(seen, "BucketLifecycleConfiguration").inputs, "rules")}

    assert dig(rules["old-versions"], "noncurrentVersionExpiration", "noncurrentDays") == 14
    assert dig(rules["unfinished-uploads"], "abortIncompleteMultipartUpload", "daysAfterInitiation") == 7
    assert waits_for(seen, only(seen, "BucketLifecycleConfiguration"), only(seen, "BucketVersioning"))


def test_numbers_that_arrive_as_floats_are_made_whole() -> None:
    """As a host for other languages sends them."""
    pool = cast("library.NodePoolArgs", {**POOL, "max_nodes": 4.0, "disk_gib": 300.0})
    seen = run(lambda: library.SpotNodePool("pool", pool))

    limits = dig(only(seen, "NodePool").inputs["spec"], "limits")
    assert limits == {"nodes": 4, "nvidia.com/gpu": 4}
    assert "300Gi" in repr(only(seen, "EC2NodeClass").inputs)


def test_a_pool_knows_the_accelerators_of_its_type() -> None:
    seen = run(lambda: library.OnDemandNodePool("pool", {**POOL, "pool_name": "t4"}))

    taints = dig(only(seen, "NodePool").inputs["spec"], "template", "spec", "taints")
    assert [taint["key"] for taint in taints] == ["nvidia.com/gpu"]


def test_a_pool_waits_for_the_ebs_driver_only_where_there_is_one() -> None:
    waiting: library.NodePoolArgs = {**POOL, "wait_for_ebs_driver": True}
    seen = [run(lambda given=given: library.SpotNodePool("pool", given)) for given in (POOL, waiting)]

    assert ["ebs.csi.aws.com" in repr(only(one, "NodePool").inputs) for one in seen] == [False, True]


def test_what_a_component_waits_for_its_children_wait_for() -> None:
    def program() -> None:
        gate = aws.sqs.Queue("gate")
        library.SpotNodePool("pool", POOL, pulumi.ResourceOptions(depends_on=[gate]))

    seen = run(program)

    assert waits_for(seen, only(seen, "EC2NodeClass"), only(seen, "Queue"))


def test_two_pools_of_one_program_do_not_collide() -> None:
    def program() -> None:
        library.SpotNodePool("a", {**POOL, "pool_name": "a"})
        library.SpotNodePool("a-class", {**POOL, "pool_name": "a-class"})

    assert len(of(run(program), "NodePool")) == 2


def test_the_queue_admits_these_five_rules_and_nobody_without_tls() -> None:
    seen = run(lambda: library.InterruptionQueue("queue", library.InterruptionQueueArgs(**PLACE)))
    allowed, denied = json.loads(str(only(seen, "QueuePolicy").inputs["policy"]))["Statement"]
    rules = {str(rule.inputs["name"]) for rule in of(seen, "EventRule")}

    assert len(rules) == 5
    assert {arn.rpartition("/")[2] for arn in allowed["Condition"]["ArnEquals"]["aws:SourceArn"]} == rules
    assert allowed["Principal"] == {"Service": ["events.amazonaws.com"]}
    assert (denied["Effect"], denied["Action"]) == ("Deny", "sqs:*")
    assert all(waits_for(seen, target, only(seen, "QueuePolicy")) for target in of(seen, "EventTarget"))


def test_a_kubeconfig_asks_for_a_token_and_holds_none() -> None:
    made = kubeconfig(Names("theirs", "123456789012", "us-west-2"), "https://example.com", "Q0E=")
    (user,) = json.loads(made)["users"]

    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["args"][:4] == ["--region", "us-west-2", "eks", "get-token"]
    assert not any(word in made for word in ("profile", "role-arn", "AWS_PROFILE"))


def test_the_kubernetes_provider_has_an_identifier_that_never_changes() -> None:
    args = library.EksClusterArgs(
        cluster_name="theirs",
        account_id="123456789012",
        region="us-west-2",
        kubernetes_version="1.36",
        subnet_ids=["subnet-1", "subnet-2"],
    )
    seen = run(lambda: library.EksCluster("cluster", args), "known")
    provider = only(seen, "kubernetes")

    assert provider.inputs["clusterIdentifier"] == "arn:aws:eks:us-west-2:123456789012:cluster/theirs"
    assert isinstance(provider.inputs["kubeconfig"], Secret)
    assert only(seen, "Cluster").protect
    assert only(seen, "Key").protect


def test_a_single_nat_gateway_serves_all_zones_and_tables_stay_when_there_are_more() -> None:
    def network(*, per_zone: bool) -> Callable[[], object]:
        args = library.NetworkArgs(
            cluster_name="theirs",
            region="us-west-2",
            cidr="10.0.0.0/16",
            zones=["us-west-2a", "us-west-2b", "us-west-2c"],
            nat_per_zone=per_zone,
        )
        return lambda: library.Network("net", args)

    one, three = run(network(per_zone=False)), run(network(per_zone=True))

    assert (len(of(one, "NatGateway")), len(of(three, "NatGateway"))) == (1, 3)
    assert [table.urn for table in of(one, "RouteTable")] == [table.urn for table in of(three, "RouteTable")]
    assert all(subnet.inputs["mapPublicIpOnLaunch"] is False for subnet in of(one, "Subnet"))
