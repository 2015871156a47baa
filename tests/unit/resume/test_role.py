"""The role that the S3 server of the proofs plays is the one a workspace gets."""

import json

import pytest

from spotproof.clouds.aws.workspace_identity import prefix_document
from tests.resume.role import Role

ROLE = Role("checkpoints", "research")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/checkpoints?list-type=2&prefix=research/run/"),
        ("GET", "/checkpoints?list-type=2&prefix=research%2F"),
        ("HEAD", "/checkpoints/research/run/step-000000020/.metadata"),
        ("PUT", "/checkpoints/research/run/step-000000020/__0_0.distcp"),
        ("POST", "/checkpoints?delete"),
    ],
)
def test_it_lists_and_writes_its_own_prefix(method: str, path: str) -> None:
    assert ROLE.may(method, path)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("HEAD", "/checkpoints"),
        ("PUT", "/checkpoints"),
        ("GET", "/checkpoints?location"),
        ("GET", "/checkpoints?list-type=2"),
        ("GET", "/checkpoints?list-type=2&prefix=research-2/"),
        ("PUT", "/checkpoints/research-2/run/step-000000020/.metadata"),
    ],
)
def test_it_does_nothing_else(method: str, path: str) -> None:
    assert not ROLE.may(method, path)


def test_it_is_not_told_that_an_object_is_not_there() -> None:
    assert ROLE.hides("/checkpoints/research/run/.metadata", 404)
    assert not ROLE.hides("/checkpoints/research/run/.metadata", 200)


def test_a_workspace_may_list_its_prefix_and_ask_nothing_else_of_its_bucket() -> None:
    statements = json.loads(prefix_document("checkpoints", "us-west-2", "research"))["Statement"]
    of_the_bucket = [each for each in statements if not each["Resource"].endswith("/*")]

    assert [each["Action"] for each in of_the_bucket] == [["s3:ListBucket"]]
    assert of_the_bucket[0]["Condition"] == {"StringLike": {"s3:prefix": ["research", "research/*"]}}
