import json
import re
from typing import Any

import pytest

from spotproof.clouds.aws.karpenter_iam import documents
from spotproof.clouds.aws.names import Names

NAMES = Names("spotproof-dev", "123456789012", "us-west-2")
LONGEST = Names("c" * 63, "123456789012", "ap-southeast-2")
DOCUMENTS = documents(NAMES, "nodes")


def statements(word: str) -> dict[str, dict[str, Any]]:
    return {statement["Sid"]: statement for statement in json.loads(DOCUMENTS[word])["Statement"]}


def test_there_are_six_documents() -> None:
    assert len(DOCUMENTS) == 6


@pytest.mark.parametrize("names", [NAMES, LONGEST], ids=["short", "longest"])
def test_each_document_is_within_the_6144_characters_of_a_managed_policy(names: Names) -> None:
    sizes = {word: len(re.sub(r"\s", "", text)) for word, text in documents(names, "r" * 64).items()}

    assert max(sizes.values()) <= 6144, sizes
    assert sum(sizes.values()) > 6144, "one policy would do, and the split could go"


@pytest.mark.parametrize("word", DOCUMENTS)
def test_no_action_is_a_wildcard(word: str) -> None:
    actions = [action for statement in statements(word).values() for action in statement["Action"]]

    assert actions
    assert not [action for action in actions if "*" in action]


def test_only_what_was_launched_for_this_cluster_can_be_ended() -> None:
    condition = statements("karpenter-nodes")["AllowScopedDeletion"]["Condition"]

    assert condition["StringEquals"] == {"aws:ResourceTag/kubernetes.io/cluster/spotproof-dev": "owned"}
    assert condition["StringLike"] == {"aws:ResourceTag/karpenter.sh/nodepool": "*"}


def test_only_the_node_role_can_be_handed_to_a_machine() -> None:
    statement = statements("karpenter-iam")["AllowPassingInstanceRole"]

    assert statement["Resource"] == "arn:aws:iam::123456789012:role/nodes"
    assert statement["Condition"]["StringEquals"]["iam:PassedToService"][0] == "ec2.amazonaws.com"


def test_resource_tags_of_a_profile_do_not_name_the_cluster_a_second_time() -> None:
    """Profiles made before 1.9 lack that tag, and Karpenter must be able to tag those."""
    equals = statements("karpenter-iam")["AllowScopedInstanceProfileTagActions"]["Condition"]["StringEquals"]

    assert "aws:RequestTag/eks:eks-cluster-name" in equals
    assert "aws:ResourceTag/eks:eks-cluster-name" not in equals


@pytest.mark.parametrize("read", ["InstanceStatus", "PlacementGroups", "CapacityReservations"])
def test_reads_that_came_after_the_first_template_are_there(read: str) -> None:
    assert f"ec2:Describe{read}" in statements("karpenter-discovery")["AllowRegionalReadActions"]["Action"]


def test_the_controller_may_not_make_the_spot_role() -> None:
    assert "CreateServiceLinkedRole" not in "".join(DOCUMENTS.values())
