from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from spotproof.manifests.ec2_node_class import EBS_STARTUP_TAINT
from spotproof.settings.pools import Accelerator, Pool
from spotproof.vocabulary import CAPACITY_LABEL, GPU_TAINT, POOL_LABEL, RESERVED_LABEL_DOMAINS, SPOT_TAINT, SPOT_TAINTS
from tests.unit.manifests.crds import errors, read_crd, schema_of
from tests.unit.manifests.samples import Json, node_class_of, node_pool_of, pool, pools

A100 = Accelerator(type="nvidia-a100-40gb", count=8)
CPU: Json = {"name": "cpu", "capacity": "on-demand", "accelerator": None, "instance_types": ("m7i.2xlarge",)}


@pytest.fixture(scope="session")
def schemas(shared: Path) -> dict[str, Json]:
    folder = shared / "crds" / "karpenter-provider-aws"
    return {
        "NodePool": schema_of(read_crd(folder / "karpenter.sh_nodepools.yaml")),
        "EC2NodeClass": schema_of(read_crd(folder / "karpenter.k8s.aws_ec2nodeclasses.yaml")),
    }


CASES: dict[str, tuple[Pool, Json, Json]] = {
    "determined-g4dn-metal": (pool(), {}, {}),
    "a100-one-zone": (
        pool(name="a100-spot", instance_types=("p4d.24xlarge",), accelerator=A100, zones=("us-west-2a",), disk_gib=500),
        {},
        {"startup_taints": [EBS_STARTUP_TAINT]},
    ),
    "a100-on-demand": (
        pool(name="a100", capacity="on-demand", instance_types=("p4d.24xlarge",), accelerator=A100, max_nodes=16),
        {},
        {"startup_taints": [EBS_STARTUP_TAINT]},
    ),
    "cpu-bottlerocket": (
        pool(**CPU | {"instance_types": ("m7i.2xlarge", "m7g.2xlarge")}),
        {"ami_alias": "bottlerocket@1.50.0", "tags": {}},
        {},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pools_two_objects_are_as_reviewed(case: str, golden: Callable[[str, object], None]) -> None:
    each, node_class, node_pool = CASES[case]
    golden(f"manifests/{case}.yaml", [node_class_of(each, **node_class), node_pool_of(each, **node_pool)])


@pytest.mark.parametrize("case", CASES)
def test_both_objects_fit_karpenters_crds(case: str, schemas: dict[str, Json]) -> None:
    each, node_class, node_pool = CASES[case]
    assert errors(schemas["EC2NodeClass"], node_class_of(each, **node_class)) == []
    assert errors(schemas["NodePool"], node_pool_of(each, **node_pool)) == []


def test_a_field_karpenter_does_not_know_would_be_found(schemas: dict[str, Json]) -> None:
    damaged = node_pool_of(pool())
    damaged["spec"]["template"]["spec"]["maxPrice"] = 3
    damaged["spec"]["disruption"]["expireAfter"] = "Never"
    found = errors(schemas["NodePool"], damaged)
    assert len(found) == 2
    assert "maxPrice" in " ".join(found)


@given(pools())
@settings(max_examples=60)
def test_every_pool_fits_the_crds(schemas: dict[str, Json], pool: Pool) -> None:
    assert errors(schemas["NodePool"], node_pool_of(pool)) == []
    assert errors(schemas["EC2NodeClass"], node_class_of(pool)) == []


@given(pools())
@settings(max_examples=60)
def test_what_holds_for_every_pool(pool: Pool) -> None:
    spec = node_pool_of(pool)["spec"]
    template = spec["template"]
    taints = template["spec"].get("taints", [])
    labels: dict[str, object] = template["metadata"]["labels"]
    assert [taint for taint in taints if taint in SPOT_TAINTS] == ([SPOT_TAINT] if pool.is_spot else [])
    assert (GPU_TAINT in taints) == (pool.accelerator is not None)
    assert labels == {POOL_LABEL: pool.name, CAPACITY_LABEL: pool.capacity}
    assert all(isinstance(value, str) for value in labels.values())
    assert all(type(value) is int for value in spec["limits"].values())
    assert requirement(template, "karpenter.sh/capacity-type") == [pool.capacity]


def test_no_label_is_in_a_domain_the_api_server_keeps() -> None:
    labels = node_pool_of(pool())["spec"]["template"]["metadata"]["labels"]
    domains = {label.partition("/")[0] for label in labels}
    assert not [domain for domain in domains for kept in RESERVED_LABEL_DOMAINS if domain.endswith(kept)]


def requirement(template: Json, key: str) -> list[str]:
    (found,) = (each for each in template["spec"]["requirements"] if each["key"] == key)
    assert found["operator"] == "In"
    return found["values"]


def test_gpus_of_all_nodes_are_the_gpu_limit() -> None:
    assert node_pool_of(pool())["spec"]["limits"] == {"nodes": 10, "nvidia.com/gpu": 80}


@pytest.mark.parametrize(
    ("types", "cpus"),
    [
        (("m7i.2xlarge",), 80),
        (("m7i.large", "m7i.xlarge"), 40),
        (("c4.8xlarge", "c5.9xlarge"), 360),
        (("m7i.metal-24xl",), 960),
        (("m5.metal",), None),
        (("m5.metal", "m5.large"), None),
    ],
)
def test_cpus_of_all_nodes_are_a_limit_where_there_are_no_gpus(types: tuple[str, ...], cpus: int | None) -> None:
    limits = node_pool_of(pool(**CPU | {"instance_types": types}))["spec"]["limits"]
    assert limits == {"nodes": 10} | ({"cpu": cpus} if cpus else {})


def test_a_node_goes_only_when_it_is_empty() -> None:
    spec = node_pool_of(pool())["spec"]
    assert spec["disruption"]["consolidationPolicy"] == "WhenEmpty"
    budgets = {reason: budget["nodes"] for budget in spec["disruption"]["budgets"] for reason in budget["reasons"]}
    assert budgets == {"Drifted": "0", "Underutilized": "0", "Empty": "100%"}
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert "terminationGracePeriod" not in spec["template"]["spec"]
    assert "do-not-disrupt" not in repr(spec)


def test_a_pools_own_zones_win_over_the_networks() -> None:
    template = node_pool_of(pool(zones=("us-west-2c",)))["spec"]["template"]
    assert requirement(template, "topology.kubernetes.io/zone") == ["us-west-2c"]


@pytest.mark.parametrize(
    ("types", "arch"),
    [(("m7i.large",), ["amd64"]), (("m7g.large",), ["arm64"]), (("m7g.large", "m7i.large"), ["amd64", "arm64"])],
)
def test_the_architectures_are_those_of_the_types(types: tuple[str, ...], arch: list[str]) -> None:
    template = node_pool_of(pool(**CPU | {"instance_types": types}))["spec"]["template"]
    assert requirement(template, "kubernetes.io/arch") == arch


def disks(node_class: Json) -> dict[str, str]:
    return {each["deviceName"]: each["ebs"]["volumeSize"] for each in node_class["spec"]["blockDeviceMappings"]}


def test_images_and_pods_live_on_the_disk_that_is_set() -> None:
    assert disks(node_class_of(pool(disk_gib=500))) == {"/dev/xvda": "500Gi"}
    bottlerocket = node_class_of(pool(disk_gib=500), ami_alias="bottlerocket@v1.50.0")
    assert disks(bottlerocket) == {"/dev/xvda": "4Gi", "/dev/xvdb": "500Gi"}


def test_every_disk_is_encrypted_and_goes_with_its_node() -> None:
    for mapping in node_class_of(pool(), ami_alias="bottlerocket@v1.50.0")["spec"]["blockDeviceMappings"]:
        assert mapping["ebs"] | {"volumeSize": ""} == {
            "deleteOnTermination": True,
            "encrypted": True,
            "volumeSize": "",
            "volumeType": "gp3",
        }


@pytest.mark.parametrize(
    ("types", "policy"),
    [
        (("p4d.24xlarge",), "RAID0"),
        (("m6id.2xlarge", "c5d.2xlarge"), "RAID0"),
        (("p3.16xlarge",), None),
        (("m6id.2xlarge", "m7i.2xlarge"), None),
    ],
)
def test_local_nvme_is_used_where_every_type_has_it(types: tuple[str, ...], policy: str | None) -> None:
    spec = node_class_of(pool(**CPU | {"instance_types": types}))["spec"]
    assert spec.get("instanceStorePolicy") == policy


def test_pods_cannot_reach_the_nodes_credentials() -> None:
    options = node_class_of(pool())["spec"]["metadataOptions"]
    assert options["httpTokens"] == "required"
    assert options["httpPutResponseHopLimit"] == 1


def test_terms_may_hold_what_is_not_known_yet() -> None:
    unknown: Any = object()
    spec = node_class_of(pool(), subnet_terms=[{"id": unknown}])["spec"]
    assert spec["subnetSelectorTerms"] == [{"id": unknown}]
