"""Everything refused on Azure: under which key, and what it says to write instead."""

from datetime import date
from typing import Any

import pytest

from spotproof.settings import SettingsError, load_environment, warnings
from tests.unit.settings.azure.samples import CLASSIC, FULL, PROVIDER, SMALLEST, TODAY, classic, environment, pool

T4 = {"instanceTypes": ["Standard_NC4as_T4_v3"]}
WEST: dict[str, Any] = {"provider": {**PROVIDER, "location": "westus"}}


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # what is changed, the key of the problem, a part of what it says
    ({"access": {"admins": [5]}}, "access.admins[0]", "as in 00000000-0000-4000-8000-000000000003"),
    (
        {"access": {"admins": ["ABCDEF00-0000-4000-8000-000000000003"]}},
        "access.admins[0]",
        "Write it in small letters, abcdef00-0000-4000-8000-000000000003",
    ),
    ({"provider": {**PROVIDER, "tenantId": PROVIDER["tenantId"].replace("0", "A")}}, "provider.tenantId", "in small"),
    ({"provider": {**PROVIDER, "location": "us-east1"}}, "provider.location", "a short name"),
    ({"pools": {}}, "pools", "instanceTypes: [Standard_D8s_v5]"),
    ({"pools": [pool(zones="eastus-1")]}, "pools[0].zones", "Write `zones: [eastus-1]`"),
    ({"pools": [pool(instanceTypes=["n2-standard-8"])]}, "pools[0].instanceTypes[0]", "as in Standard_D8s_v5"),
    ({"tags": {"\x1b": "x"}}, 'tags."\\u001b"', "control character"),
    ({"provider": {**PROVIDER, "location": "eastuss"}}, "provider.location", "Write `location: eastus`"),
    ({"provider": {**PROVIDER, "location": "East US"}}, "provider.location", "no region"),
    ({"provider": {**PROVIDER, "location": "chinanorth3"}}, "provider.location", "public cloud"),
    ({"provider": {**PROVIDER, "subscriptionId": "research"}}, "provider.subscriptionId", "form"),
    ({"provider": {**PROVIDER, "region": "eastus"}}, "provider.region", "Known here: cloud, location"),
    (
        {"pools": [pool(instanceTypes=["Standard_D8s"]), pool("b", instanceTypes=["Standard_NC4asT4_v3"])]},
        "pools[1].instanceTypes[0]",
        "Write Standard_NC4as_T4_v3",
    ),
    ({"pools": [pool(instanceTypes=["p4d.24xlarge"])]}, "pools[0].instanceTypes[0]", "form of a VM size"),
    (
        {
            "pools": [pool(instanceTypes=["Standard_ND96isr_MI300X_v5"])],
            "provider": {**PROVIDER, "location": "westus3"},
        },
        "pools[0].instanceTypes[0]",
        "AMD",
    ),
    ({"pools": [pool(instanceTypes=["Standard_NV6ads_A10_v5"])]}, "pools[0].instanceTypes[0]", "part of a GPU"),
    ({"pools": [pool(instanceTypes=["Standard_D8s_v5", "Standard_D8ps_v5"])]}, "pools[0].instanceTypes", "arm64"),
    (
        {"pools": [pool(instanceTypes=["Standard_NC8as_T4_v3", "Standard_NC64as_T4_v3"])]},
        "pools[0].instanceTypes[1]",
        "4 x nvidia-t4",
    ),
    ({"pools": [pool(spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "on-demand has one price"),
    ({"pools": [pool(capacity="spot", spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "nothing that keeps it"),
    ({"pools": [pool(capacity="spot", spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "autoscaler: cluster-autoscaler"),
    ({"pools": [classic(capacity="spot", spotMaxPrice=0.1234567)]}, "pools[0].spotMaxPrice", "Write 0.12346"),
    ({"pools": [classic(capacity="spot", spotMaxPrice=0.000001)]}, "pools[0].spotMaxPrice", "Write 0.00001"),
    ({"pools": [classic(spotMaxPrice=1.5)]}, "pools[0].spotMaxPrice", "one price"),
    ({"pools": [classic(), pool("b")]}, "pools[1].autoscaler", "on every pool, or on none"),
    (
        {"pools": [pool("b", autoscaler="node-auto-provisioning"), classic()]},
        "pools[0].autoscaler",
        "takes no autoscaled",
    ),
    ({"pools": [classic(instanceTypes=["Standard_D8s_v5", "Standard_D4s_v5"])]}, "pools[0].instanceTypes", "has one"),
    ({"pools": [classic(maxNodes=1001)]}, "pools[0].maxNodes", "at most 1000"),
    ({"pools": [classic(consolidateAfter="90s")]}, "pools[0].consolidateAfter", "whole minutes"),
    ({"pools": [classic(), classic("b", consolidateAfter="20m")]}, "pools[1].consolidateAfter", "pools[0] has 10m"),
    ({"pools": [pool(diskGib=4096)]}, "pools[0].diskGib", "2048"),
    ({"pools": [pool(zones=["eastus-4"])]}, "pools[0].zones[0]", "eastus-1"),
    ({"pools": [pool(nodeLabels={"a": "b"})]}, "pools[0].nodeLabels", "no effect"),
    ({"network": {"zones": ["eastus-1", "westus2-1"]}}, "network.zones[1]", "no zone of eastus"),
    ({"network": {"zones": ["1", "2"]}}, "network.zones[0]", "as in eastus-1"),
    ({"network": {"zones": 4}}, "network.zones", "eastus has 3"),
    ({"network": {"zones": ["westus-1", "westus-2"]}, **WEST}, "network.zones[0]", "that region has none"),
    ({"pools": [pool(zones=["westus-1"])], **WEST}, "pools[0].zones", "westus has no zones"),
    ({"network": {"natGateways": "per-zone"}}, "network.natGateways", "no effect"),
    ({"network": {"cidr": "10.244.0.0/16"}}, "network.cidr", "pods"),
    ({"network": {"cidr": "172.20.0.0/16"}}, "network.cidr", "services"),
    ({"network": {"cidr": "172.31.0.0/16"}}, "network.cidr", "AKS itself"),
    ({"controlPlane": {"support": "standard"}}, "controlPlane.support", "no effect"),
    (
        {"controlPlane": {"publicAccessCidrs": [f"203.0.{n}.0/24" for n in range(200)]}},
        "controlPlane.publicAccessCidrs",
        "takes 200",
    ),
    ({"spotServiceLinkedRole": "create"}, "spotServiceLinkedRole", "no effect"),
    ({"access": {"admins": ["platform@example.com"]}}, "access.admins[0]", "az ad group show"),
    ({"workspaces": [{"namespace": "research", "members": ["Research"]}]}, "workspaces[0].members[0]", "object id"),
    ({"workspaces": [{"namespace": "ml"}]}, "workspaces[0].namespace", "3 to 63"),
    ({"workspaces": [{"namespace": "team--a"}]}, "workspaces[0].namespace", "single hyphens"),
    ({"workspaces": [{"namespace": "gatekeeper-system"}]}, "workspaces[0].namespace", "AKS keeps"),
    ({"logs": {"retainDays": 7}}, "logs.retainDays", "Write 30"),
    ({"logs": {"retainDays": 1000}}, "logs.retainDays", "Write 730"),
    ({"operators": {"gpuPlugin": {"mode": "off"}}}, "operators.gpuPlugin.mode", "never offer nvidia.com/gpu"),
    ({"tags": {"a/b": "c"}}, "tags.a/b", "as in `team`"),
    ({"tags": {"microsoft-team": "c"}}, "tags.microsoft-team", "begins with"),
    ({"tags": {f"t{n}": "x" for n in range(41)}}, "tags", "Keep 40"),
    ({"checkpoints": {"uri": "abfss://else@where"}}, "checkpoints.uri", "no effect"),
]


@pytest.mark.parametrize(("changes", "key", "says"), REFUSED, ids=[f"{n}-{row[1]}" for n, row in enumerate(REFUSED)])
def test_what_azure_would_not_take_is_refused_with_its_remedy(changes: dict[str, Any], key: str, says: str) -> None:
    with pytest.raises(SettingsError) as stopped:
        environment(**changes)

    found = [problem for problem in stopped.value.problems if problem.key == key]
    assert found, str(stopped.value)
    assert any(says in str(problem) for problem in found), str(stopped.value)


@pytest.mark.parametrize(
    "raw", [SMALLEST, FULL, CLASSIC, {**SMALLEST, **WEST}], ids=["smallest", "full", "classic", "west"]
)
def test_what_it_takes_is_taken(raw: dict[str, Any]) -> None:
    assert load_environment(raw, today=TODAY).provider.cloud == "azure"


def test_a_price_cap_of_an_aks_pool_is_kept_as_written() -> None:
    assert load_environment(CLASSIC, today=TODAY).pool("a100-spot").spot_max_price == 9.5


def test_pools_of_the_smallest_environment_offer_what_their_sizes_have() -> None:
    env = environment(spot=True)

    assert [(one.name, one.accelerator and one.accelerator.type) for one in env.pools] == [
        ("cpu-spot", None),
        ("cpu", None),
        ("gpu-spot", "nvidia-t4"),
        ("gpu", "nvidia-t4"),
    ]


def test_a_private_cluster_in_a_network_made_here_is_warned_of() -> None:
    assert [problem.key for problem in warnings(environment(), TODAY)] == ["controlPlane.publicAccessCidrs"]
    assert not list(warnings(load_environment(FULL, today=TODAY), TODAY))


def test_a_size_without_a_price_in_the_region_is_warned_of_and_not_refused() -> None:
    public = {"controlPlane": {"publicAccessCidrs": ["203.0.113.0/24"]}}
    h200 = environment(pools=[pool(instanceTypes=["Standard_ND96isr_H200_v5"])], **public)

    (problem,) = warnings(h200, TODAY)
    assert problem.key == "pools[0].instanceTypes[0]"
    assert "has no price in eastus" in str(problem)
    assert "az vm list-skus --location eastus --size Standard_ND96isr_H200_v5" in str(problem)


@pytest.mark.parametrize(("day", "warned"), [(date(2026, 12, 20), False), (date(2027, 1, 1), True)])
def test_the_end_of_a_versions_support_is_warned_of(day: date, warned: bool) -> None:  # noqa: FBT001
    env = load_environment({**FULL, "kubernetesVersion": "1.35"}, today=TODAY)

    assert bool(list(warnings(env, day))) is warned
