"""Environments built in this process, and questions about what was registered."""

from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from typing import Any

import pulumi

from spotproof import clouds, operators
from spotproof.clouds.contract import Cluster
from spotproof.preview.model import Capture, Mode, Resource
from spotproof.preview.run import Target, capture
from spotproof.prices import load_prices
from spotproof.settings import Environment, load_environment

TODAY = date(2026, 11, 20)
ACCOUNT, REGION = "123456789012", "us-west-2"
PROVIDER = {"cloud": "aws", "region": REGION, "accountId": ACCOUNT}
SMALLEST: dict[str, Any] = {"provider": PROVIDER, "spot": True}
PERSON = f"arn:aws:iam::{ACCOUNT}:role/Research"
ADMIN = f"arn:aws:iam::{ACCOUNT}:role/Platform"
FULL: dict[str, Any] = {
    "provider": PROVIDER,
    "access": {"admins": [ADMIN]},
    "network": {"cidr": "10.64.0.0/16", "zones": 3, "natGateways": "per-zone"},
    "controlPlane": {"publicAccessCidrs": ["203.0.113.0/24"], "deletionProtection": True},
    "pools": [
        {
            "name": "a100-spot",
            "capacity": "spot",
            "instanceTypes": ["p4d.24xlarge"],
            "zones": [f"{REGION}a"],
            "maxNodes": 16,
        },
        {"name": "a100", "capacity": "on-demand", "instanceTypes": ["p4d.24xlarge"], "maxNodes": 16},
        {"name": "cpu", "capacity": "on-demand", "instanceTypes": ["m7i.2xlarge"], "maxNodes": 8},
    ],
    "workspaces": [{"namespace": "research", "members": [PERSON]}, {"namespace": "speech", "members": [PERSON]}],
    "fallbackPolicies": [{"name": "standard", "tiers": [{"pool": "a100-spot"}, {"pool": "a100"}]}],
    "tags": {"team": "research"},
}
EXISTING: dict[str, Any] = {
    **SMALLEST,
    "network": {
        "zones": [f"{REGION}a", f"{REGION}b"],
        "existing": {
            "vpcId": "vpc-0a1b2c3d4e5f60718",
            "subnetIds": ["subnet-0a1b2c3d4e5f60718", "subnet-0f1e2d3c4b5a69788"],
        },
    },
}


def environment(raw: Mapping[str, Any]) -> Environment:
    return load_environment(dict(raw), today=TODAY)


def build(raw: Mapping[str, Any], stack: str = "dev", mode: Mode = "unknown") -> Capture:
    """The whole program of a stack, as infra has it."""
    env = environment(raw)

    def program() -> None:
        cluster = clouds.provision(stack, env, load_prices())
        operators.install(stack, env, cluster)
        for key, value in cluster.exports.items():
            pulumi.export(key, value)

    return capture(program, Target("spotproof", stack), mode)


def cluster_of(raw: Mapping[str, Any], look: Callable[[Cluster], None]) -> None:
    """Look at the record a cloud hands over, while its program runs."""
    env = environment(raw)
    capture(lambda: look(clouds.provision("dev", env, load_prices())), Target("spotproof", "dev"))


@cache
def full() -> Capture:
    return build(FULL)


@cache
def smallest() -> Capture:
    return build(SMALLEST)


def run(program: Callable[[], object], mode: Mode = "unknown") -> Capture:
    """A program that makes a component or two."""

    def nothing_returned() -> None:
        program()

    return capture(nothing_returned, Target("spotproof", "dev"), mode)


def of(seen: Capture, kind: str) -> list[Resource]:
    """Resources by the last word of their type token, as `Bucket` or `EC2NodeClass`."""
    return [one for one in seen.resources if one.type.rpartition(":")[2] == kind]


def only(seen: Capture, kind: str) -> Resource:
    found = of(seen, kind)
    assert len(found) == 1, [one.urn for one in found]
    return found[0]


def waits_for(seen: Capture, later: Resource, sooner: Resource) -> bool:
    """Whether one resource depends on another, through others or as its parent's child."""
    by_urn = {one.urn: one for one in seen.resources}
    to_visit, done = [later.urn], set[str]()
    while to_visit:
        urn = to_visit.pop()
        if urn == sooner.urn:
            return True
        if urn in done or urn not in by_urn:
            continue
        done.add(urn)
        one = by_urn[urn]
        to_visit += [*one.dependencies, one.provider.rpartition("::")[0]]
    return False


def dig(value: object, *path: str | int) -> Any:
    """What stands at a path of plain values."""
    for part in path:
        value = value[part]  # pyright: ignore[reportIndexIssue]
    return value
