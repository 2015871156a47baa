"""What Azure resources cost: idle clusters, full pools, disks by tier."""

from collections.abc import Mapping

import pytest

from spotproof.preview.cost import CostEstimate, estimate
from spotproof.preview.model import UNKNOWN, Capture, Resource
from spotproof.prices import load_prices

PROVIDER = "urn:pulumi:s::p::pulumi:providers:azure-native::azure"
PLAN_MONTH = 730
P10, P15, P20 = 19.71 / PLAN_MONTH, 38.01 / PLAN_MONTH, 73.22 / PLAN_MONTH


def resource(kind: str, name: str, inputs: Mapping[str, object] | None = None) -> Resource:
    return Resource(
        urn=f"urn:pulumi:s::p::{kind}::{name}",
        type=kind,
        name=name,
        custom=True,
        parent="",
        provider=f"{PROVIDER}::id",
        inputs=inputs or {},
    )


def cost(*resources: Resource, location: str = "eastus") -> CostEstimate:
    provider = Resource(
        PROVIDER,
        "pulumi:providers:azure-native",
        "azure",
        custom=True,
        parent="",
        provider="",
        inputs={"location": location},
    )
    return estimate(Capture("p", "s", "unknown", (provider, *resources)), load_prices())


def cluster(tier: str = "Standard", **pool: object) -> Resource:
    system = {"name": "system", "vmSize": "Standard_D4ds_v5", "count": 2, "osDiskType": "Ephemeral"} | pool
    inputs = {"sku": {"name": "Base", "tier": tier}, "agentPoolProfiles": [system]}
    return resource("azure-native:containerservice:ManagedCluster", "cluster", inputs)


def node_pool(capacity: str = "spot", *sizes: str, nodes: object = 10) -> Resource:
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [capacity]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(sizes)},
    ]
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "gpu"}
    spec = {
        "limits": {"nodes": nodes},
        "template": {"spec": {"requirements": requirements, "nodeClassRef": reference}},
    }
    return resource("kubernetes:karpenter.sh/v1:NodePool", "gpu-pool", {"metadata": {"name": "gpu"}, "spec": spec})


def node_class(gib: object) -> Resource:
    inputs = {"metadata": {"name": "gpu"}, "spec": {"osDiskSizeGB": gib}}
    return resource("kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass", "gpu-class", inputs)


def agent_pool(**changes: object) -> Resource:
    inputs = {
        "agentPoolName": "gpu",
        "vmSize": "Standard_NC4as_T4_v3",
        "enableAutoScaling": True,
        "count": 0,
        "maxCount": 5,
        "osDiskSizeGB": 200,
        "nodeLabels": {"spotproof.dev/pool": "gpu-spot"},
        "scaleSetPriority": "Spot",
    }
    return resource("azure-native:containerservice:AgentPool", "gpu-pool", {**inputs, **changes})


def test_a_cluster_costs_its_control_plane_and_its_own_nodes() -> None:
    assert [(charge.what, charge.count) for charge in cost(cluster()).idle] == [
        ("AKS control plane", 1),
        ("system: Standard_D4ds_v5 on-demand", 2),
    ]
    assert cost(cluster()).idle_usd == pytest.approx(0.10 + 2 * 0.226)


def test_the_free_tier_is_free_and_a_managed_disk_is_not() -> None:
    assert cost(cluster("Free")).idle_usd == pytest.approx(2 * 0.226)
    assert cost(cluster("Free", osDiskType="Managed")).idle_usd == pytest.approx(2 * (0.226 + P10), abs=1e-4)


@pytest.mark.parametrize(("gib", "disk"), [(100, P10), (200, P15), (500, P20), (UNKNOWN, P10)])
def test_a_full_pool_costs_its_dearest_size_and_the_whole_tier_of_its_disk(gib: object, disk: float) -> None:
    pool = node_pool("on-demand", "Standard_NC4as_T4_v3", "Standard_NC16as_T4_v3")
    (charge,) = cost(node_class(gib), pool).pools

    assert charge.instance_type == "Standard_NC16as_T4_v3"
    assert charge.full_usd == pytest.approx(10 * (1.204 + disk), abs=1e-3)


def test_spot_is_a_marked_guess_beside_on_demand() -> None:
    (charge,) = cost(node_class(200), node_pool("spot", "Standard_ND96asr_v4")).pools

    assert charge.price is not None
    assert charge.on_demand is not None
    assert charge.price.guessed
    assert charge.price.usd_per_hour == pytest.approx(27.197 * 0.35 + P15, abs=1e-4)
    assert charge.on_demand.usd_per_hour == pytest.approx(27.197 + P15, abs=1e-4)


def test_a_pool_of_aks_is_billed_like_one_of_node_auto_provisioning() -> None:
    (charge,) = cost(agent_pool()).pools

    assert (charge.pool, charge.capacity, charge.nodes) == ("gpu-spot", "spot", 5)
    assert charge.full_usd == pytest.approx(5 * (0.526 * 0.35 + P15), abs=1e-3)


def test_a_pool_without_autoscaling_costs_its_count() -> None:
    (charge,) = cost(agent_pool(enableAutoScaling=False, count=3, scaleSetPriority="Regular")).pools

    assert (charge.capacity, charge.nodes) == ("on-demand", 3)


def test_a_size_without_a_price_and_a_pool_without_a_limit_are_named() -> None:
    assert cost(node_pool("spot", "Standard_ND128isr_NDR_GB200_v6")).unpriced == ("Standard_ND128isr_NDR_GB200_v6",)
    assert "no limit" in " ".join(cost(node_pool("spot", "Standard_D8s_v5", nodes=None)).unpriced)


def test_another_regions_prices_are_borrowed_and_say_so() -> None:
    (charge,) = cost(node_pool("on-demand", "Standard_D8s_v5"), location="westeurope").pools

    assert charge.price is not None
    assert charge.price.borrowed


def test_what_is_free_is_not_named_what_is_billed_by_use_is_and_the_rest_has_no_price() -> None:
    found = cost(
        resource("azure-native:network:VirtualNetwork", "a"),
        resource("azure-native:authorization:RoleAssignment", "b"),
        resource("azure-native:storage:StorageAccount", "c"),
        resource("azure-native:operationalinsights:Workspace", "d"),
        resource("azure-native:network:AzureFirewall", "e"),
    )

    assert found.unpriced == ("azure-native:network:AzureFirewall",)
    assert len(found.by_use) == 2
    assert found.idle_usd == 0
