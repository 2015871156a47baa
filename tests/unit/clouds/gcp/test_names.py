import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.clouds.gcp.names import Names, cluster_name
from spotproof.settings.gcp.regions import ZONES

PROJECT, NUMBER = "a-project-of-thirty-characters", "1234567890123"
REGIONS = tuple(ZONES)
stacks = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", min_size=1, max_size=100)

RFC1035 = r"[a-z]([a-z0-9-]*[a-z0-9])?"
LIMITED: dict[str, tuple[Callable[[Names], str], int, str]] = {
    "cluster": (lambda names: names.cluster, 40, RFC1035),
    "network": (lambda names: names.network, 63, RFC1035),
    "subnet": (lambda names: names.part("nodes"), 63, RFC1035),
    "node account": (lambda names: names.node_account, 30, RFC1035),
    "role": (lambda names: names.people_role, 64, r"[a-zA-Z0-9_.]{3,}"),
    "logs": (lambda names: names.logs, 100, r"[A-Za-z0-9][A-Za-z0-9_.-]*"),
    "bucket": (lambda names: names.bucket, 63, r"[a-z0-9][a-z0-9-]*[a-z0-9]"),
}


def names_of(stack: str, region: str = "us-central1") -> Names:
    return Names(cluster_name(stack), PROJECT, region, NUMBER)


@pytest.mark.parametrize("what", LIMITED)
@given(stack=stacks, region=st.sampled_from(REGIONS))
def test_every_name_is_within_its_limit_and_alphabet(what: str, stack: str, region: str) -> None:
    name, limit, pattern = LIMITED[what]
    made = name(names_of(stack, region))

    assert len(made) <= limit
    assert re.fullmatch(pattern, made, re.ASCII)


@pytest.mark.parametrize("what", LIMITED)
@given(one=stacks, other=stacks)
def test_two_stacks_of_one_project_and_region_share_no_name(what: str, one: str, other: str) -> None:
    name = LIMITED[what][0]

    assert (name(names_of(one)) == name(names_of(other))) == (one == other)


@pytest.mark.parametrize("what", LIMITED)
def test_stack_names_of_80_letters_that_differ_in_the_last_differ(what: str) -> None:
    name = LIMITED[what][0]

    assert name(names_of("x" * 79 + "a")) != name(names_of("x" * 79 + "b"))


@pytest.mark.parametrize("what", ["network", "node account", "role", "logs", "bucket"])
@given(stack=stacks)
def test_what_is_the_whole_projects_differs_between_two_regions(what: str, stack: str) -> None:
    name = LIMITED[what][0]

    assert len({name(names_of(stack, region)) for region in REGIONS}) == len(REGIONS)


@given(stack=stacks, region=st.sampled_from(REGIONS))
def test_a_bucket_name_always_has_project_number_and_region_whole(stack: str, region: str) -> None:
    assert names_of(stack, region).bucket.endswith(f"-{NUMBER}-{region}")


def test_a_short_stack_keeps_its_name() -> None:
    names = Names(cluster_name("gcp-dev"), "research-dev", "us-central1", "123456789012")

    assert names.cluster == "spotproof-gcp-dev"
    assert names.network == "spotproof-gcp-dev-us-central1"
    assert names.bucket == "spotproof-gcp-dev-ckpt-123456789012-us-central1"
    assert names.people_role == "spotproof_gcp_dev_us_central1_people"


def test_a_bucket_is_never_called_after_google() -> None:
    """Cloud Storage refuses such names."""
    assert "goog" not in names_of("google").bucket
    assert names_of("google").bucket != names_of("googol").bucket
