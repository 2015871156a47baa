"""A whole environment, as it would be registered with the engine."""

import json
import re
from typing import Any

import pulumi_gcp as gcp
import pytest

from spotproof.clouds.contract import GPU_PLUGIN, Cluster
from spotproof.clouds.gcp.cluster import dns_endpoint, kubeconfig
from spotproof.clouds.gcp.environment import GkeEnvironment
from spotproof.clouds.gcp.names import Names
from spotproof.preview.model import UNKNOWN, Secret
from spotproof.settings import SettingsError
from tests.unit.clouds.gcp.seen import (
    ADMIN,
    FULL,
    GROUP,
    NUMBER,
    PERSON,
    PROJECT,
    REGION,
    SMALLEST,
    full,
    pools,
    smallest,
)
from tests.unit.clouds.programs import TODAY, build, cluster_of, dig, of, only, run, waits_for


def test_the_operators_have_two_on_demand_nodes_in_two_zones() -> None:
    system = pools(full())["spotproof-system"].inputs

    assert (system["nodeCount"], system["nodeLocations"]) == (1, [f"{REGION}-a", f"{REGION}-b"])
    assert dig(system["nodeConfig"]).get("spot") is None
    assert dig(system["nodeConfig"], "labels") == {"spotproof.dev/system": "true"}
    assert "autoscaling" not in system
    for release in of(full(), "Release"):
        assert "components.gke.io/gke-managed-components" in repr(release.inputs["values"])


def test_the_control_plane_is_private_regional_and_answers_by_name() -> None:
    cluster = only(full(), "Cluster").inputs

    assert cluster["location"] == REGION
    assert cluster["datapathProvider"] == "ADVANCED_DATAPATH"
    assert cluster["workloadIdentityConfig"] == {"workloadPool": f"{PROJECT}.svc.id.goog"}
    assert cluster["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "pods",
        "servicesSecondaryRangeName": "services",
    }
    assert dig(cluster["controlPlaneEndpointsConfig"], "dnsEndpointConfig") == {
        "allowExternalTraffic": True,
        "enableK8sTokensViaDns": False,
        "enableK8sCertsViaDns": False,
    }
    assert cluster["releaseChannel"] == {"channel": "REGULAR"}
    assert cluster["minMasterVersion"] == "1.36"
    assert cluster["enableShieldedNodes"] is True
    assert cluster["removeDefaultNodePool"] is True
    assert cluster["authenticatorGroupsConfig"] == {"securityGroup": "gke-security-groups@example.com"}
    assert "authenticatorGroupsConfig" not in only(smallest(), "Cluster").inputs


def test_the_api_server_has_no_public_address_unless_ranges_are_named() -> None:
    closed, named = only(smallest(), "Cluster").inputs, only(full(), "Cluster").inputs

    assert closed["privateClusterConfig"] == {"enablePrivateNodes": True, "enablePrivateEndpoint": True}
    assert dig(closed["masterAuthorizedNetworksConfig"]).get("cidrBlocks", []) == []
    assert named["privateClusterConfig"] == {"enablePrivateNodes": True, "enablePrivateEndpoint": False}
    assert dig(named["masterAuthorizedNetworksConfig"], "cidrBlocks") == [{"cidrBlock": "203.0.113.0/24"}]
    for one in (closed, named):
        assert dig(one["masterAuthorizedNetworksConfig"], "gcpPublicCidrsAccessEnabled") is False
        assert one["anonymousAuthenticationConfig"] == {"mode": "LIMITED"}


def test_the_control_plane_is_not_peered_so_webhooks_need_no_firewall_rule() -> None:
    assert "masterIpv4CidrBlock" not in dig(only(full(), "Cluster").inputs["privateClusterConfig"])
    assert not of(full(), "Firewall")


def test_nodes_are_not_upgraded_under_running_training() -> None:
    (exclusion,) = dig(only(full(), "Cluster").inputs["maintenancePolicy"], "maintenanceExclusions")

    assert exclusion["exclusionOptions"] == {
        "scope": "NO_MINOR_OR_NODE_UPGRADES",
        "endTimeBehavior": "UNTIL_END_OF_SUPPORT",
    }


def test_the_subnet_has_ranges_for_nodes_pods_and_services_within_the_networks() -> None:
    subnet = only(full(), "Subnetwork").inputs

    assert subnet["ipCidrRange"] == "10.64.128.0/18"
    assert subnet["secondaryIpRanges"] == [
        {"rangeName": "pods", "ipCidrRange": "10.64.0.0/17"},
        {"rangeName": "services", "ipCidrRange": "10.64.192.0/19"},
    ]
    assert subnet["privateIpGoogleAccess"] is True


def test_private_nodes_have_a_way_out_before_there_is_a_cluster() -> None:
    assert waits_for(full(), only(full(), "Cluster"), only(full(), "RouterNat"))


def test_the_bucket_has_versions_or_a_hierarchical_namespace_and_never_both() -> None:
    versions = only(full(), "Bucket").inputs
    folders = only(build({**SMALLEST, "checkpoints": {"versioning": False}}), "Bucket").inputs

    assert versions["versioning"] == {"enabled": True}
    assert "hierarchicalNamespace" not in versions
    assert folders["versioning"] == {"enabled": False}
    assert folders["hierarchicalNamespace"] == {"enabled": True}
    for bucket in (versions, folders):
        assert bucket["softDeletePolicy"] == {"retentionDurationSeconds": 0}
        assert bucket["publicAccessPrevention"] == "enforced"
        assert bucket["uniformBucketLevelAccess"] is True
    actions = [[dig(rule, "action", "type") for rule in dig(one["lifecycleRules"])] for one in (versions, folders)]
    assert actions == [["Delete", "AbortIncompleteMultipartUpload"], ["AbortIncompleteMultipartUpload"]]


def test_a_workspace_reaches_its_own_folder_and_no_other() -> None:
    seen = full()
    folders = {one.inputs["name"] for one in of(seen, "ManagedFolder")}
    members = {one.inputs["member"]: one for one in of(seen, "ManagedFolderIamMember")}
    pool = f"principal://iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools"

    assert folders == {"research/", "speech/"}
    assert set(members) == {
        f"{pool}/{PROJECT}.svc.id.goog/subject/ns/{one}/sa/trainer" for one in ("research", "speech")
    }
    for one in members.values():
        assert one.inputs["role"] == "roles/storage.objectUser"
        assert waits_for(seen, one, only(seen, "Cluster")), "the pool of identities is there with the first cluster"
    assert not of(seen, "BucketIAMMember")


def test_every_identity_is_plain_text_at_the_first_preview() -> None:
    kinds = ("IAMMember", "ManagedFolderIamMember")
    bound = [one.inputs[key] for kind in kinds for one in of(full(), kind) for key in ("member", "role")]

    assert len(bound) > 10
    assert all(isinstance(one, str) and UNKNOWN is not one for one in bound)


def test_people_get_one_role_with_two_permissions_and_the_rest_by_rbac() -> None:
    seen = full()
    role = only(seen, "IAMCustomRole").inputs
    name = f"projects/{PROJECT}/roles/{role['roleId']}"
    people = sorted(str(one.inputs["member"]) for one in of(seen, "IAMMember") if one.inputs["role"] == name)
    bound = {
        (dig(one.inputs["metadata"]).get("namespace"), subject["kind"], subject["name"])
        for one in of(seen, "RoleBinding")
        for subject in dig(one.inputs["subjects"])
        if subject["kind"] != "ServiceAccount"
    }

    assert role["permissions"] == ["container.clusters.connect", "container.clusters.get"]
    assert people == sorted([ADMIN, PERSON, GROUP])
    assert bound == {
        ("research", "User", "research@example.com"),
        ("speech", "User", "research@example.com"),
        ("speech", "Group", "speech@example.com"),
    }
    admins = [one for one in of(seen, "ClusterRoleBinding") if dig(one.inputs["roleRef"], "name") == "cluster-admin"]
    assert [dig(one.inputs["subjects"]) for one in admins] == [
        [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "platform@example.com"}]
    ]


def test_without_people_there_is_no_role_for_them() -> None:
    assert not of(smallest(), "IAMCustomRole")


def test_logs_go_to_a_bucket_of_their_own_and_to_no_other() -> None:
    seen = full()
    bucket, sink, exclusion = (only(seen, kind) for kind in ("ProjectBucketConfig", "ProjectSink", "ProjectExclusion"))

    assert bucket.inputs["retentionDays"] == 30
    place = f"projects/{PROJECT}/locations/{REGION}/buckets/{bucket.inputs['bucketId']}"
    assert sink.inputs["destination"] == f"logging.googleapis.com/{place}"
    assert sink.inputs["filter"] == exclusion.inputs["filter"]
    assert 'cluster_name="spotproof-dev"' in str(sink.inputs["filter"])
    assert waits_for(seen, exclusion, sink), "else lines were lost in between"
    assert waits_for(seen, sink, bucket)
    assert waits_for(seen, only(seen, "Cluster"), exclusion)
    assert set(dig(only(seen, "Cluster").inputs["loggingConfig"], "enableComponents")) >= {
        "SYSTEM_COMPONENTS",
        "WORKLOADS",
    }


def test_workspaces_go_first_then_pools_then_nodes_the_cluster_and_the_network() -> None:
    seen = full()
    cluster, system = only(seen, "Cluster"), pools(seen)["spotproof-system"]

    for namespace in of(seen, "Namespace"):
        assert all(waits_for(seen, namespace, one) for one in pools(seen).values())
        assert not namespace.deleted_with
    for name, one in pools(seen).items():
        assert waits_for(seen, one, cluster)
        if name != "spotproof-system":
            assert waits_for(seen, one, system)
            assert one.custom_timeouts["delete"] == "45m"
    for kind in ("Network", "Subnetwork", "RouterNat", "Account"):
        assert any(waits_for(seen, cluster, one) for one in of(seen, kind)), kind
    for release in of(seen, "Release"):
        assert release.deleted_with == cluster.urn


def test_what_holds_data_is_protected_where_the_settings_say_so() -> None:
    assert {one.type.rpartition(":")[2] for one in full().resources if one.protect} == {"Bucket", "Cluster"}
    assert only(full(), "Bucket").inputs["forceDestroy"] is False
    assert only(full(), "Cluster").inputs["deletionProtection"] is True


def test_an_unprotected_environment_goes_in_one_command() -> None:
    seen = build({**SMALLEST, "controlPlane": {"deletionProtection": False}, "checkpoints": {"protect": False}})

    assert not [one.urn for one in seen.resources if one.protect]
    assert only(seen, "Bucket").inputs["forceDestroy"] is True
    assert only(seen, "Cluster").inputs["deletionProtection"] is False


def test_deletion_protection_is_on_unless_the_settings_say_false() -> None:
    assert only(smallest(), "Cluster").inputs["deletionProtection"] is True
    assert only(smallest(), "Cluster").protect


def test_taking_the_protection_away_changes_those_inputs_and_replaces_nothing() -> None:
    open_ = {"controlPlane": {**FULL["controlPlane"], "deletionProtection": False}, "checkpoints": {"protect": False}}
    before = {one.urn: one for one in full().resources}
    after = {one.urn: one for one in build({**FULL, **open_}).resources}
    changed = {
        (one.type.rpartition(":")[2], key)
        for urn, one in before.items()
        for key in {*one.inputs, *after[urn].inputs}
        if one.inputs.get(key) != after[urn].inputs.get(key)
    }

    assert before.keys() == after.keys()
    assert changed == {
        ("Bucket", "forceDestroy"),
        ("CheckpointBucket", "protect"),
        ("Cluster", "deletionProtection"),
        ("GkeCluster", "deletionProtection"),
    }


def test_everything_lands_in_the_project_of_the_settings() -> None:
    provider = only(full(), "gcp")

    assert (provider.inputs["project"], provider.inputs["region"]) == (PROJECT, REGION)
    assert json.loads(str(provider.inputs["defaultLabels"])) == {"team": "research"}
    others = [one.urn for one in full().resources if one.type.startswith("gcp:") and provider.urn not in one.provider]
    assert not others


def test_the_kubeconfig_is_secret_and_runs_gkes_own_login() -> None:
    provider = only(build(FULL, mode="known"), "kubernetes")
    secret = provider.inputs["kubeconfig"]
    assert isinstance(secret, Secret)
    made: Any = json.loads(str(secret.value))

    assert provider.inputs["clusterIdentifier"] == f"projects/{PROJECT}/locations/{REGION}/clusters/spotproof-dev"
    plugin = made["users"][0]["user"]["exec"]
    assert plugin["command"] == "gke-gcloud-auth-plugin"
    assert plugin["args"] == ["--use_application_default_credentials"], "who makes the cluster also fills it"
    server = r"https://[0-9a-f]{8}\.dev-control-plane-cluster\.example\.com"
    assert re.fullmatch(server, made["clusters"][0]["cluster"]["server"]), "a preview has a name to go to"
    assert set(made["clusters"][0]["cluster"]) == {"server"}, "the DNS endpoint has a certificate all trust"


def test_the_kubeconfig_goes_to_the_clusters_dns_endpoint() -> None:
    outputs = gcp.container.outputs
    dns = outputs.ClusterControlPlaneEndpointsConfigDnsEndpointConfig(endpoint="abc.us-central1.gke.goog")
    endpoint = dns_endpoint(outputs.ClusterControlPlaneEndpointsConfig(dns_endpoint_config=dns))
    names = Names("spotproof-dev", PROJECT, REGION)

    server = json.loads(kubeconfig(names, endpoint))["clusters"][0]["cluster"]["server"]
    assert server == "https://abc.us-central1.gke.goog"


def test_the_cluster_brings_the_device_plugin_so_no_chart_does() -> None:
    def look(cluster: Cluster) -> None:
        assert cluster.provides == {GPU_PLUGIN}
        assert set(cluster.pools) == {"a100-spot", "a100", "t4-spot", "cpu", "arm-spot"}
        price = cluster.pools["t4-spot"].price
        assert price is not None
        assert price.usd_per_hour == pytest.approx(0.08 + 2 * 0.175), "machine and accelerators"
        keys = [[one["key"] for one in cluster.pools[name].tolerations] for name in ("t4-spot", "a100", "cpu")]
        assert keys == [["cloud.google.com/gke-spot", "nvidia.com/gpu"], ["nvidia.com/gpu"], []]

    cluster_of(FULL, look)
    assert {one.inputs["name"] for one in of(full(), "Release")} == {"jobset", "kuberay-operator"}


def test_the_cloud_is_asked_for_nothing() -> None:
    assert full().invokes == ()


def test_every_pool_has_all_that_policies_judge_at_preview() -> None:
    for one in [*of(full(), "NodePool"), only(full(), "Bucket")]:
        assert "<unknown>" not in repr(one.inputs), one.urn


def test_the_library_takes_the_same_mapping_as_a_stack_file() -> None:
    seen = run(lambda: GkeEnvironment("ours", {"environment": SMALLEST, "today": TODAY}))

    assert only(seen, "Cluster").inputs["name"] == "spotproof-ours"


def test_the_library_says_every_problem_of_the_mapping() -> None:
    with pytest.raises(SettingsError, match="spotPrice"):
        GkeEnvironment("ours", {"environment": {**SMALLEST, "spotPrice": 1}, "today": TODAY})


def test_exports_say_where_things_are() -> None:
    outputs = full().outputs

    assert outputs["configureKubectl"] == (
        "gcloud container clusters get-credentials spotproof-dev "
        f"--location {REGION} --project {PROJECT} --dns-endpoint"
    )
    assert outputs["checkpointUri"] == f"gs://spotproof-dev-ckpt-{NUMBER}-{REGION}"
    assert dig(outputs["workspaces"], "speech", "checkpoints") == f"gs://spotproof-dev-ckpt-{NUMBER}-{REGION}/speech/"
