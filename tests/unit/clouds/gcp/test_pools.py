"""Node pools of a whole environment."""

from spotproof.settings.gcp import Gcp
from tests.unit.clouds.gcp.seen import (
    PROJECT,
    REGION,
    config,
    full,
    pools,
)
from tests.unit.clouds.programs import dig, of, only


def test_a_spot_pool_carries_gkes_spot_taint_and_its_gpu_taint_and_no_other() -> None:
    taints = {name: dig(one.inputs["nodeConfig"]).get("taints", []) for name, one in pools(full()).items()}
    spot = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
    gpu = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}

    assert taints == {
        "a100-spot": [spot, gpu],
        "a100": [gpu],
        "t4-spot": [spot, gpu],
        "cpu": [],
        "arm-spot": [spot],
        "spotproof-system": [
            {"key": "components.gke.io/gke-managed-components", "value": "true", "effect": "NO_SCHEDULE"}
        ],
    }


def test_a_pool_stays_itself_when_its_capacity_changes_so_that_the_old_one_goes_first() -> None:
    parent = "urn:pulumi:dev::spotproof::spotproof:gcp:GkeEnvironment$spotproof:gcp"
    aliases = {one.name: one.aliases for one in full().resources if one.type.endswith("NodePool") and not one.custom}

    assert aliases["dev-a100-spot"] == (f"{parent}:OnDemandNodePool::dev-a100-spot",)
    assert aliases["dev-a100"] == (f"{parent}:SpotNodePool::dev-a100",)


def test_every_pool_is_labelled_with_its_name_and_capacity() -> None:
    for name, one in pools(full()).items():
        if name != "spotproof-system":
            capacity = "spot" if dig(one.inputs["nodeConfig"], "spot") else "on-demand"
            labels = {"spotproof.dev/pool": name, "spotproof.dev/capacity": capacity}
            assert dig(one.inputs["nodeConfig"], "labels") == labels


def test_a_pool_grows_from_nothing_to_its_limit_wherever_there_is_capacity() -> None:
    one = pools(full())["a100-spot"].inputs

    assert one["autoscaling"] == {"locationPolicy": "ANY", "totalMaxNodeCount": 16, "totalMinNodeCount": 0}
    assert one["initialNodeCount"] == 0
    assert "nodeCount" not in one


def test_a_pool_gets_only_the_zones_that_sell_its_accelerator() -> None:
    zones = {name: one.inputs["nodeLocations"] for name, one in pools(full()).items()}

    assert zones["a100"] == [f"{REGION}-a", f"{REGION}-c"], "b has no A100 of 80 GB"
    assert zones["t4-spot"] == [f"{REGION}-a"]
    assert zones["cpu"] == [f"{REGION}-a", f"{REGION}-b", f"{REGION}-c"]


def test_gpus_are_written_with_their_driver() -> None:
    driver = {"gpuDriverVersion": "DEFAULT"}

    assert config("a100")["guestAccelerators"] == [
        {"type": "nvidia-a100-80gb", "count": 8, "gpuDriverInstallationConfig": driver}
    ]
    assert config("t4-spot")["guestAccelerators"] == [
        {"type": "nvidia-tesla-t4", "count": 2, "gpuDriverInstallationConfig": driver}
    ]
    assert "guestAccelerators" not in config("cpu")


def test_machines_with_local_ssds_say_how_many() -> None:
    assert config("a100")["ephemeralStorageLocalSsdConfig"] == {"localSsdCount": 8}
    assert "ephemeralStorageLocalSsdConfig" not in config("t4-spot")


def test_spot_nodes_have_the_longest_shutdown_and_others_have_none_of_ours() -> None:
    for name, one in pools(full()).items():
        kubelet = dig(one.inputs["nodeConfig"], "kubeletConfig")
        given = (kubelet.get("shutdownGracePeriodSeconds"), kubelet.get("shutdownGracePeriodCriticalPodsSeconds"))
        assert given == ((120, 15) if name.endswith("-spot") else (None, None)), name
    assert Gcp.grace_seconds == 120 - 15


def test_arm_nodes_get_no_taint_that_nobody_tolerates() -> None:
    assert config("arm-spot")["taintConfig"] == {"architectureTaintBehavior": "NONE"}
    assert "taintConfig" not in config("cpu")
    assert config("arm-spot")["diskType"] == "hyperdisk-balanced"


def test_every_node_is_shielded_private_and_has_an_account_of_its_own() -> None:
    email = f"{only(full(), 'Account').inputs['accountId']}@{PROJECT}.iam.gserviceaccount.com"

    for name, one in pools(full()).items():
        node = dig(one.inputs["nodeConfig"])
        assert node["serviceAccount"] == email, name
        assert node["shieldedInstanceConfig"] == {"enableSecureBoot": True, "enableIntegrityMonitoring": True}
        assert node["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
        assert node["oauthScopes"] == ["https://www.googleapis.com/auth/cloud-platform"]
        assert node["resourceLabels"] == {"team": "research"}
        assert one.inputs["networkConfig"] == {"enablePrivateNodes": True}
    roles = {one.inputs["role"] for one in of(full(), "IAMMember") if str(one.inputs["member"]).endswith(email)}
    assert roles == {"roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader"}
