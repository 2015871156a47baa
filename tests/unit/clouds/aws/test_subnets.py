import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.clouds.aws.subnets import plan

ZONES = [f"us-west-2{letter}" for letter in "abcdef"]


@given(prefix=st.integers(16, 20), zones=st.integers(2, 6))
def test_no_two_subnets_overlap_and_all_are_in_the_vpc(prefix: int, zones: int) -> None:
    cidr = f"10.64.0.0/{prefix}"
    ranges = [ipaddress.IPv4Network(text) for one in plan(cidr, ZONES[:zones]) for text in (one.private, one.public)]

    assert all(one.subnet_of(ipaddress.IPv4Network(cidr)) for one in ranges)
    assert not any(a.overlaps(b) for i, a in enumerate(ranges) for b in ranges[:i])
    assert all(one.prefixlen <= 28 for one in ranges), "the smallest subnet of AWS is a /28"


@given(zones=st.integers(2, 5))
def test_a_further_zone_moves_nobody(zones: int) -> None:
    assert plan("10.64.0.0/16", ZONES[: zones + 1])[:zones] == plan("10.64.0.0/16", ZONES[:zones])


def test_nodes_and_pods_get_nearly_everything() -> None:
    first = plan("10.64.0.0/16", ZONES[:3])[0]

    assert (first.private, first.public) == ("10.64.0.0/19", "10.64.224.0/22")


def test_more_zones_than_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="Name fewer zones"):
        plan("10.64.0.0/16", [*ZONES, "us-west-2g", "us-west-2h"])
