"""The two objects of a pool on AKS, judged by the CRDs of Azure's own Karpenter."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.manifests.aks_node_class import NODE_CLASS, aks_node_class
from spotproof.manifests.karpenter import node_pool
from spotproof.settings.azure import Azure
from spotproof.settings.pools import Accelerator, Pool
from spotproof.vocabulary import AKS_SPOT_TAINT
from tests.unit.manifests.crds import errors, read_crd, schema_of

Json = dict[str, Any]
SUBNET = (
    "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/spotproof-dev-eastus"
    "/providers/Microsoft.Network/virtualNetworks/spotproof-dev/subnets/nodes"
)
SIZES = (
    ("Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3"),
    ("Standard_ND96asr_v4",),
    ("Standard_D8s_v5", "Standard_D8ps_v5"),
    ("Standard_ND128isr_NDR_GB200_v6",),
)


@pytest.fixture(scope="session")
def schemas(shared: Path) -> dict[str, Json]:
    folder = shared / "crds" / "karpenter-provider-azure"
    return {
        "NodePool": schema_of(read_crd(folder / "karpenter.sh_nodepools.yaml")),
        "AKSNodeClass": schema_of(read_crd(folder / "karpenter.azure.com_aksnodeclasses.yaml")),
    }


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Any pool the settings accept."""
    sizes = draw(st.sampled_from(SIZES))
    known = Azure.machine(sizes[0])
    has = known.accelerator if known else None
    return Pool(
        name=draw(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)),
        capacity=draw(st.sampled_from(["spot", "on-demand"])),
        instance_types=sizes,
        accelerator=Accelerator(type=has, count=known.accelerator_count) if known and has else None,
        zones=draw(st.sampled_from([None, ("eastus-1",)])),
        max_nodes=draw(st.integers(1, 5000)),
        disk_gib=draw(st.integers(50, 2048)),
    )


def class_of(pool: Pool, **tags: str) -> Json:
    return dict(aks_node_class(pool, name=pool.name, subnet_id=SUBNET, tags=tags))


def pool_of(pool: Pool, zones: tuple[str, ...] = ("eastus-1", "eastus-2")) -> Json:
    return dict(
        node_pool(
            pool,
            node_class=NODE_CLASS,
            node_class_name=pool.name,
            zones=zones,
            machine=Azure.machine,
            spot_taint=AKS_SPOT_TAINT,
        )
    )


@given(pools(), st.sampled_from([("eastus-1", "eastus-2"), ()]))
@settings(max_examples=60)
def test_every_pool_fits_the_crds(schemas: dict[str, Json], pool: Pool, zones: tuple[str, ...]) -> None:
    assert errors(schemas["NodePool"], pool_of(pool, zones)) == []
    assert errors(schemas["AKSNodeClass"], class_of(pool, team="research")) == []
    assert errors(schemas["AKSNodeClass"], class_of(pool)) == []


def test_a_field_the_class_does_not_have_would_be_found(schemas: dict[str, Json]) -> None:
    damaged = class_of(Pool(name="a", capacity="spot", instance_types=SIZES[0], max_nodes=1))
    damaged["spec"] |= {"spotMaxPrice": 1, "gpu": {"mode": "driver"}, "vnetSubnetID": "nodes", "osDiskSizeGB": 4096}

    assert len(errors(schemas["AKSNodeClass"], damaged)) == 4


def test_a_spot_pools_objects_are_as_reviewed(golden: Callable[[str, object], None]) -> None:
    pool = Pool(
        name="a100-spot-1",
        capacity="spot",
        instance_types=("Standard_ND96asr_v4",),
        accelerator=Accelerator(type="nvidia-a100-40gb", count=8),
        zones=("eastus-1",),
        max_nodes=16,
        disk_gib=500,
    )

    golden("manifests/aks-a100-spot.yaml", [class_of(pool, team="research"), pool_of(pool)])


def test_without_zones_the_pool_names_none() -> None:
    pool = Pool(name="a", capacity="on-demand", instance_types=SIZES[2], max_nodes=1)
    requirements = pool_of(pool, ())["spec"]["template"]["spec"]["requirements"]

    assert {one["key"] for one in requirements} == {
        "karpenter.sh/capacity-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/arch",
        "kubernetes.io/os",
    }
    assert all(one["values"] for one in requirements)
