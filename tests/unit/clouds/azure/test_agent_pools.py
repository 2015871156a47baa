"""Pools of AKS's own, where the settings choose the cluster autoscaler."""

import pulumi_azure_native as azure

from spotproof.preview.sdk_metadata import inputs_of
from tests.unit.clouds.azure.seen import classic, cluster
from tests.unit.clouds.programs import dig, of, only, waits_for


def test_pools_of_aks_come_without_node_auto_provisioning() -> None:
    inputs = cluster(classic())

    assert inputs["nodeProvisioningProfile"] == {"mode": "Manual"}
    assert inputs["autoScalerProfile"]["scaleDownUnneededTime"] == "10m"
    assert dig(inputs, "autoUpgradeProfile", "nodeOSUpgradeChannel") == "None"
    assert of(classic(), "NodePool") == of(classic(), "AKSNodeClass") == []


def test_a_spot_pool_of_aks_keeps_its_cap_and_lists_what_aks_adds() -> None:
    spot, *others = sorted(of(classic(), "AgentPool"), key=lambda one: "spotMaxPrice" not in one.inputs)

    assert (spot.inputs["scaleSetPriority"], spot.inputs["scaleSetEvictionPolicy"]) == ("Spot", "Delete")
    assert spot.inputs["spotMaxPrice"] == 9.5
    assert spot.inputs["nodeLabels"] == {
        "spotproof.dev/pool": "a100-spot",
        "spotproof.dev/capacity": "spot",
        "kubernetes.azure.com/scalesetpriority": "spot",
    }
    assert spot.inputs["nodeTaints"] == [
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        "nvidia.com/gpu=true:NoSchedule",
    ]
    assert spot.inputs["availabilityZones"] == ["1"]
    assert (spot.inputs["minCount"], spot.inputs["maxCount"], spot.ignore_changes) == (0, 16, ("count",))
    assert len(others) == 2
    for one in others:
        assert not {"scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice"} & set(one.inputs)


def test_what_aks_cannot_change_in_place_makes_a_pool_anew_after_the_old_one() -> None:
    fixed = {"vmSize", "spotMaxPrice", "scaleSetPriority", "scaleSetEvictionPolicy"}

    for pool in of(classic(), "AgentPool"):
        assert fixed <= set(pool.replace_on_changes)
        assert pool.delete_before_replace
        assert set(pool.replace_on_changes) <= set(agent_pool_inputs())


def agent_pool_inputs() -> list[str]:
    shape = inputs_of(azure.containerservice.AgentPool)
    assert shape is not None
    return list(shape.types)


def test_pools_of_aks_wait_for_the_cluster_and_workspaces_for_them() -> None:
    seen = classic()

    for pool in of(seen, "AgentPool"):
        assert waits_for(seen, pool, only(seen, "ManagedCluster"))
        assert all(waits_for(seen, namespace, pool) for namespace in of(seen, "Namespace"))
