"""Pools and environments the tests of manifests share."""

from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

from spotproof.manifests.ec2_node_class import NODE_CLASS, ec2_node_class
from spotproof.manifests.karpenter import node_pool
from spotproof.settings import Environment, load_environment
from spotproof.settings.aws import Aws
from spotproof.settings.aws.instances import accelerator
from spotproof.settings.pools import Accelerator, Pool

ZONES = ("us-west-2a", "us-west-2b", "us-west-2c")
PROVIDER = {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}
TODAY = date(2026, 11, 20)

Json = dict[str, Any]


def environment(**settings: object) -> Environment:
    return load_environment({"provider": PROVIDER, **settings}, today=TODAY)


def pool(**changes: Any) -> Pool:
    """The pool of Determined's fragment, changed."""
    fragment: Json = {
        "name": "aws-spot-g4dn-metal",
        "capacity": "spot",
        "instance_types": ("g4dn.metal",),
        "accelerator": Accelerator(type="nvidia-t4", count=8),
        "max_nodes": 10,
    }
    return Pool(**(fragment | changes))


def node_class_of(pool: Pool, **changes: Any) -> Json:
    arguments: Json = {
        "name": pool.name,
        "ami_alias": "al2023@v20260903",
        "node_role_name": "aws-dev-karpenter-node",
        "subnet_terms": [{"id": "subnet-0a1b2c3d4e5f60718"}, {"id": "subnet-0f1e2d3c4b5a69788"}],
        "security_group_terms": [{"id": "sg-0a1b2c3d4e5f60718"}],
        "tags": {"team": "research"},
    }
    return ec2_node_class(pool, **(arguments | changes))


def node_pool_of(pool: Pool, **changes: Any) -> Json:
    arguments: Json = {
        "node_class": NODE_CLASS,
        "node_class_name": pool.name,
        "zones": ZONES,
        "machine": Aws.machine,
    }
    return node_pool(pool, **(arguments | changes))


FAMILIES = (
    ("g4dn.metal",),
    ("g4dn.12xlarge", "g5.12xlarge"),
    ("p4d.24xlarge",),
    ("p3.16xlarge",),
    ("g5g.xlarge",),
    ("m7i.2xlarge", "m6i.2xlarge", "m7g.2xlarge"),
    ("c5d.4xlarge", "m6id.4xlarge"),
)


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Any pool the settings accept, of types whose accelerators are known."""
    types = draw(st.sampled_from(FAMILIES))
    known = accelerator(types[0])
    return Pool(
        name=draw(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)),
        capacity=draw(st.sampled_from(["spot", "on-demand"])),
        instance_types=types,
        accelerator=Accelerator(type=known[0], count=known[1]) if known else None,
        zones=draw(st.none() | st.lists(st.sampled_from(ZONES), min_size=1, unique=True).map(tuple)),
        max_nodes=draw(st.integers(1, 5000)),
        disk_gib=draw(st.integers(50, 16384)),
        consolidate_after=timedelta(seconds=draw(st.integers(1, 7 * 24 * 3600))),
    )
