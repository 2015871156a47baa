import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.clouds.aws.names import Names, cluster_name
from spotproof.clouds.naming import shortened
from spotproof.settings.aws.model import partition

ACCOUNT = "123456789012"
REGIONS = ("us-east-1", "us-west-2", "ap-southeast-2", "us-gov-west-1", "cn-northwest-1")
stacks = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", min_size=1, max_size=100)
words = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=50)

LIMITED: dict[str, tuple[Callable[[Names, str], str], int, str]] = {
    "cluster": (lambda names, _: names.cluster, 63, r"[A-Za-z0-9][A-Za-z0-9_-]*"),
    "role": (lambda names, word: names.role(word), 64, r"[\w+=,.@-]+"),
    "policy": (lambda names, word: names.policy(word), 128, r"[\w+=,.@-]+"),
    "queue": (lambda names, _: names.queue, 80, r"[\w-]+"),
    "rule": (lambda names, word: names.rule(word), 64, r"[.\w-]+"),
    "bucket": (lambda names, _: names.bucket, 63, r"[a-z0-9][a-z0-9-]*[a-z0-9]"),
    "node group": (lambda names, word: names.node_group(word, "fingerprint"), 63, r"[A-Za-z0-9][\w-]*"),
    "key alias": (lambda names, _: names.key_alias, 256, r"alias/[\w/-]+"),
    "log group": (lambda names, word: names.container_logs(word), 512, r"[\w/.#-]+"),
}


@pytest.mark.parametrize("what", LIMITED)
@given(stack=stacks, word=words, region=st.sampled_from(REGIONS))
def test_every_name_is_within_its_limit_and_alphabet(what: str, stack: str, word: str, region: str) -> None:
    name, limit, pattern = LIMITED[what]
    made = name(Names(cluster_name(stack), ACCOUNT, region), word)

    assert len(made) <= limit
    assert re.fullmatch(pattern, made, re.ASCII)


@pytest.mark.parametrize("what", LIMITED)
@given(one=stacks, other=stacks)
def test_two_stacks_of_one_account_and_region_share_no_name(what: str, one: str, other: str) -> None:
    name = LIMITED[what][0]
    names = [name(Names(cluster_name(stack), ACCOUNT, "us-west-2"), "word") for stack in (one, other)]

    assert (names[0] == names[1]) == (one == other)


@given(stack=stacks)
def test_one_stack_name_in_two_regions_has_two_roles(stack: str) -> None:
    """IAM has no regions."""
    roles = {Names(cluster_name(stack), ACCOUNT, region).role("karpenter") for region in REGIONS}

    assert len(roles) == len(REGIONS)


@given(stack=stacks, region=st.sampled_from(REGIONS))
def test_a_bucket_name_always_has_account_and_region_whole(stack: str, region: str) -> None:
    assert Names(cluster_name(stack), ACCOUNT, region).bucket.endswith(f"-{ACCOUNT}-{region}")


def test_a_short_stack_keeps_its_name() -> None:
    names = Names(cluster_name("aws-dev"), ACCOUNT, "us-west-2")

    assert names.cluster == "spotproof-aws-dev"
    assert names.queue == "spotproof-aws-dev"
    assert names.role("karpenter") == "spotproof-aws-dev-us-west-2-karpenter"
    assert names.bucket == "spotproof-aws-dev-ckpt-123456789012-us-west-2"


def test_a_node_group_that_cannot_change_in_place_gets_another_name() -> None:
    names = Names("spotproof-dev", ACCOUNT, "us-west-2")

    assert names.node_group("system", "m7i.large") != names.node_group("system", "m7i.xlarge")


@pytest.mark.parametrize(
    ("region", "expected"),
    [("us-west-2", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-east-1", "aws-us-gov")],
)
def test_the_region_decides_the_partition(region: str, expected: str) -> None:
    assert partition(region) == expected
    assert Names("c", ACCOUNT, region).cluster_arn == f"arn:{expected}:eks:{region}:{ACCOUNT}:cluster/c"


def test_china_has_a_service_principal_of_its_own() -> None:
    assert Names("c", ACCOUNT, "cn-north-1").ec2_principal == "ec2.amazonaws.com.cn"
    assert Names("c", ACCOUNT, "eu-west-1").ec2_principal == "ec2.amazonaws.com"


@given(text=st.text("abc-", min_size=1, max_size=200), limit=st.integers(20, 80))
def test_shortening_twice_is_shortening_once(text: str, limit: int) -> None:
    once = shortened(text, limit)

    assert len(once) <= limit
    assert shortened(once, limit) == once
