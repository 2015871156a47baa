"""What a stack costs: known things are added up, guesses are marked, unknown prices are named and count nowhere."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from spotproof.preview.cost import CostEstimate, estimate
from spotproof.preview.model import UNKNOWN, Capture, Resource
from spotproof.prices import load_prices

PROVIDER = "urn:pulumi:s::p::pulumi:providers:aws::aws"


def resource(
    kind: str, name: str, inputs: Mapping[str, object] | None = None, dependencies: tuple[str, ...] = ()
) -> Resource:
    return Resource(
        urn=f"urn:pulumi:s::p::{kind}::{name}",
        type=kind,
        name=name,
        custom=True,
        parent="",
        provider=f"{PROVIDER}::id",
        inputs=inputs or {},
        dependencies=dependencies,
    )


AWS = Resource(
    PROVIDER, "pulumi:providers:aws", "aws", custom=True, parent="", provider="", inputs={"region": "us-east-1"}
)


def cost(*resources: Resource) -> CostEstimate:
    return estimate(Capture("p", "s", "unknown", (AWS, *resources)), load_prices())


def node_pool(capacity: list[str], types: list[str], nodes: int | None = 10) -> Resource:
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": capacity},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types},
    ]
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
    template = {"spec": {"requirements": requirements, "nodeClassRef": reference}}
    spec = {"limits": {} if nodes is None else {"nodes": nodes}, "template": template}
    return resource("kubernetes:karpenter.sh/v1:NodePool", "gpu-pool", {"metadata": {"name": "gpu"}, "spec": spec})


NODE_CLASS = resource(
    "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass",
    "gpu-class",
    {"metadata": {"name": "gpu"}, "spec": {"blockDeviceMappings": [{"ebs": {"volumeSize": "730Gi"}}]}},
)


def test_three_nat_gateways_are_one_line_with_a_count() -> None:
    found = cost(*(resource("aws:ec2/natGateway:NatGateway", f"nat-{zone}") for zone in "abc"))

    assert [(charge.count, charge.what) for charge in found.idle] == [(3, "NAT gateway (data apart)")]
    assert found.idle_usd == pytest.approx(0.135)


def test_a_node_group_costs_its_nodes_and_the_disks_of_its_launch_template() -> None:
    template = resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "lt", {"blockDeviceMappings": [{"ebs": {"volumeSize": 100}}]}
    )
    group = resource(
        "aws:eks/nodeGroup:NodeGroup",
        "system",
        {"instanceTypes": ["m7i.large"], "scalingConfig": {"desiredSize": 2}},
        dependencies=(template.urn,),
    )

    assert cost(template, group).idle_usd == pytest.approx(2 * 0.1008 + 200 * 0.08 / 730, rel=1e-4)


def test_a_full_pool_costs_its_limit_of_the_dearest_type_with_disk() -> None:
    found = cost(node_pool(["spot"], ["g6.xlarge", "g6.4xlarge"]), NODE_CLASS)

    pool = found.pools[0]
    assert (pool.instance_type, pool.nodes, pool.capacity) == ("g6.4xlarge", 10, "spot")
    assert found.full_usd("spot") == pytest.approx(10 * (1.3232 * 0.35 + 0.08), rel=1e-4)
    assert found.full_usd("on-demand") == 0
    assert pool.price is not None
    assert pool.price.assumed


def test_a_pool_of_both_capacities_is_billed_as_on_demand() -> None:
    assert cost(node_pool(["spot", "on-demand"], ["g6.xlarge"]), NODE_CLASS).pools[0].capacity == "on-demand"


def test_a_type_without_price_is_named_and_counts_nowhere() -> None:
    found = cost(node_pool(["spot"], ["x9.metal"]), resource("aws:rds/instance:Instance", "db"))

    assert found.unpriced == ("aws:rds/instance:Instance", "x9.metal")
    assert found.full_usd("spot") == 0
    assert "without a price, not counted: aws:rds/instance:Instance, x9.metal" in "\n".join(found.lines())


def test_free_resources_are_not_named_and_storage_is_billed_by_use() -> None:
    found = cost(resource("aws:iam/role:Role", "r"), resource("aws:s3/bucket:Bucket", "b"))

    assert found.unpriced == ()
    assert found.by_use == ("S3: stored and requested",)


def test_unknown_values_are_never_counted_as_something() -> None:
    found = cost(resource("kubernetes:karpenter.sh/v1:NodePool", "p", {"spec": UNKNOWN}))

    assert found.idle_usd == found.full_usd("spot") == found.full_usd("on-demand") == 0


def test_the_json_has_every_amount_with_its_source() -> None:
    found = cost(node_pool(["spot"], ["g6.xlarge"]), NODE_CLASS, resource("aws:eks/cluster:Cluster", "c")).as_json()

    assert found["full"] == {"spot": 3.616807, "onDemand": 0, "total": 3.716807}
    assert found["pools"] == [
        {
            "pool": "gpu", "capacity": "spot", "nodes": 10, "instanceType": "g6.xlarge",
            "usdPerNodeHour": 0.361681, "onDemandUsdPerNodeHour": 0.884801, "usdPerHourFull": 3.616807,
            "source": "0.35 of on-demand (karpenter-provider-aws generated on-demand table 2026-07-20)",
            "assumed": True, "unpriced": [],
        }
    ]  # fmt: skip


def test_lines_fit_a_terminal() -> None:
    lines = cost(node_pool(["spot"], ["g6.xlarge"]), NODE_CLASS, resource("aws:eks/cluster:Cluster", "c")).lines()

    assert max(map(len, lines)) <= 79


def test_lines_fit_a_narrow_terminal_too() -> None:
    lines = cost(node_pool(["spot"], ["g6.xlarge"]), NODE_CLASS, resource("aws:eks/cluster:Cluster", "c")).lines(58)

    assert max(map(len, lines)) <= 58


def test_a_stack_without_pools_has_no_lines_about_them() -> None:
    lines = cost(resource("aws:eks/cluster:Cluster", "c")).lines()

    assert not [line for line in lines if "full" in line or "spot" in line or "on-demand" in line]
    assert cost().lines() == []


def test_a_default_provider_is_in_the_region_of_the_configuration() -> None:
    nat = replace(resource("aws:ec2/natGateway:NatGateway", "n"), provider="")
    capture = Capture("p", "s", "unknown", (nat,))
    sources = [
        charge.price.source
        for region in ("eu-west-1", "us-east-1")
        for charge in estimate(capture, load_prices(), {"aws": region}).idle
        if charge.price
    ]

    assert ["price of" in source for source in sources] == [True, False]


def test_the_words_of_a_prices_file_are_never_taken_for_a_guess(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "asOf: 2026-11-01\nsource: price of the month, a tenth of on-demand\n"
        "prices: [{instanceType: g6.xlarge, usdPerHour: 1, spotUsdPerHour: 0.1}]"
    )
    pool = node_pool(["spot"], ["g6.xlarge"])

    found = estimate(Capture("p", "s", "unknown", (AWS, pool)), load_prices(file))

    assert found.pools[0].price is not None
    assert not found.pools[0].price.assumed
    assert not [line for line in found.lines() if line.startswith(("*", "~")) or line.endswith(("*", "~"))]


def test_a_guess_and_a_price_of_elsewhere_are_marked_each_in_its_own_way() -> None:
    elsewhere = replace(AWS, inputs={"region": "eu-west-1"})

    lines = estimate(
        Capture("p", "s", "unknown", (elsewhere, node_pool(["spot"], ["g6.xlarge"]))), load_prices()
    ).lines()

    assert any(" *~" in line for line in lines)
    assert [line[0] for line in lines if line.startswith(("* ", "~ "))] == ["*", "~"]


def test_a_pool_without_a_limit_is_named_and_never_counted_as_zero() -> None:
    found = cost(node_pool(["on-demand"], ["g6.xlarge"], nodes=None), NODE_CLASS)

    assert found.unpriced == ("pool gpu (no limit of nodes)",)
    assert [line.split()[-2:] for line in found.lines() if line.startswith("gpu full")] == [["no", "price"]]
    assert found.as_json()["pools"][0]["usdPerHourFull"] is None  # pyright: ignore[reportIndexIssue, reportUnknownVariableType]
