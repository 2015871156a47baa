"""A whole environment, as it would be registered with the engine."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from spotproof.clouds.aws.environment import EksEnvironment
from spotproof.preview.model import UNKNOWN, Capture, Resource
from spotproof.settings import SettingsError
from tests.unit.clouds.programs import (
    ACCOUNT,
    ADMIN,
    EXISTING,
    FULL,
    PERSON,
    REGION,
    SMALLEST,
    TODAY,
    build,
    dig,
    full,
    of,
    only,
    run,
    smallest,
    waits_for,
)

DOCUMENT_KEYS = ("policy", "assumeRolePolicy", "eventPattern")
NAMED = ("name", "bucket", "nodeGroupName", "aliasName")


def iam_documents(seen: Capture) -> Iterator[tuple[Resource, object]]:
    for one in seen.resources:
        for key in DOCUMENT_KEYS:
            if one.type.startswith("aws:") and key in one.inputs:
                yield one, one.inputs[key]


def test_every_iam_document_is_plain_text_at_the_first_preview() -> None:
    documents = list(iam_documents(full()))

    assert len(documents) >= 20
    assert all(isinstance(text, str) and json.loads(text) for _, text in documents)


def test_no_document_allows_a_wildcard_action() -> None:
    for one, text in iam_documents(full()):
        for statement in json.loads(str(text)).get("Statement", []):
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            assert statement["Effect"] == "Deny" or not any("*" in action for action in actions), one.urn


@pytest.mark.parametrize("kind", ["Role", "Policy", "Queue", "EventRule", "Bucket", "Cluster", "LogGroup", "Alias"])
def test_two_environments_in_one_account_and_region_share_no_name(kind: str) -> None:
    names = [
        {str(one.inputs[key]) for one in of(build(SMALLEST, stack), kind) for key in NAMED if key in one.inputs}
        for stack in ("team-a", "team-b")
    ]

    assert names[0]
    assert not names[0] & names[1]


def test_nothing_lands_in_another_account() -> None:
    provider = only(full(), "aws")

    assert provider.inputs["allowedAccountIds"] == json.dumps([ACCOUNT])
    assert provider.inputs["region"] == REGION
    assert json.loads(str(provider.inputs["defaultTags"])) == {"tags": {"team": "research"}}


def test_every_aws_resource_uses_that_provider() -> None:
    provider = only(full(), "aws")
    others = [one.urn for one in full().resources if one.type.startswith("aws:") and provider.urn not in one.provider]

    assert not others


def test_every_kubernetes_object_uses_the_clusters_provider() -> None:
    provider = only(full(), "kubernetes")
    inside = [one for one in full().resources if one.type.startswith("kubernetes:")]

    assert len(inside) > 20
    assert all(one.provider.startswith(provider.urn) for one in inside)


def test_pools_go_before_their_class_the_class_before_karpenter_karpenter_before_nodes_and_network() -> None:
    seen = full()
    releases = {str(one.inputs["name"]): one for one in of(seen, "Release")}
    karpenter, crds = releases["karpenter"], releases["karpenter-crd"]

    assert waits_for(seen, karpenter, crds)
    assert karpenter.inputs["skipCrds"] is True
    for pool in of(seen, "NodePool"):
        (node_class,) = (one for one in of(seen, "EC2NodeClass") if one.parent == pool.parent)
        assert waits_for(seen, pool, node_class)
        assert waits_for(seen, node_class, karpenter)
        assert node_class.custom_timeouts["delete"] == pool.custom_timeouts["delete"] == "45m"
    for kind in ("NodeGroup", "NatGateway", "Route", "RouteTableAssociation", "Cluster", "QueuePolicy", "AccessEntry"):
        assert any(waits_for(seen, karpenter, one) for one in of(seen, kind)), kind
    assert all(waits_for(seen, only(seen, "NodeGroup"), one) for one in of(seen, "Route"))


def test_workspaces_go_first_and_operators_last() -> None:
    """Jobs in them have finalizers that only a running operator lifts."""
    seen = full()
    cluster = only(seen, "Cluster")

    for namespace in of(seen, "Namespace"):
        assert all(waits_for(seen, namespace, pool) for pool in of(seen, "NodePool"))
        assert not namespace.deleted_with
    for release in of(seen, "Release"):
        ours = str(release.inputs["name"]).startswith("karpenter")
        assert release.deleted_with == ("" if ours else cluster.urn)


def test_what_holds_data_is_protected_where_the_settings_say_so() -> None:
    protected = {one.type.rpartition(":")[2] for one in full().resources if one.protect}

    assert protected == {"Bucket", "Cluster", "Key"}
    assert only(full(), "Bucket").inputs["forceDestroy"] is False
    assert only(full(), "Cluster").inputs["deletionProtection"] is True


def test_an_unprotected_environment_goes_in_one_command() -> None:
    seen = build(
        {**SMALLEST, "controlPlane": {"deletionProtection": False}, "checkpoints": {"protect": False}},
    )

    assert not [one.urn for one in seen.resources if one.protect]
    assert only(seen, "Bucket").inputs["forceDestroy"] is True
    assert only(seen, "Cluster").inputs["deletionProtection"] is False


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
        ("EksCluster", "deletionProtection"),
    }


def test_the_api_server_is_closed_to_the_outside_unless_ranges_are_named() -> None:
    closed, named = (only(seen, "Cluster").inputs["vpcConfig"] for seen in (smallest(), full()))

    assert dig(closed, "endpointPublicAccess") is False
    assert dig(closed, "endpointPrivateAccess") is True
    assert "publicAccessCidrs" not in dict(closed)  # pyright: ignore[reportCallIssue,reportArgumentType]
    assert dig(named, "endpointPublicAccess") is True
    assert dig(named, "publicAccessCidrs") == ["203.0.113.0/24"]


@pytest.mark.parametrize(("raw", "range_"), [(FULL, "10.64.0.0/16"), (EXISTING, UNKNOWN)])
def test_machines_of_the_vpc_reach_the_private_endpoint(raw: dict[str, object], range_: object) -> None:
    seen = build(raw)
    rule = only(seen, "SecurityGroupIngressRule")

    assert rule.inputs["cidrIpv4"] == range_
    assert (rule.inputs["fromPort"], rule.inputs["toPort"], rule.inputs["ipProtocol"]) == (443, 443, "tcp")
    assert all(waits_for(seen, release, rule) for release in of(seen, "Release")), "`up` itself may run in the VPC"


def test_a_vpc_that_exists_is_looked_up_by_its_id() -> None:
    assert "aws:ec2/getVpc:getVpc" in build(EXISTING).invokes


def test_a_system_node_group_that_cannot_change_in_place_gets_another_name() -> None:
    """The new one is made before the old one goes, and EKS refuses two of one name."""
    names = {
        str(only(build({**SMALLEST, "network": {"zones": zones}}), "NodeGroup").inputs["nodeGroupName"])
        for zones in (2, 3)
    } | {str(only(build(EXISTING), "NodeGroup").inputs["nodeGroupName"])}

    assert len(names) == 3


def test_the_control_plane_is_as_the_settings_have_it() -> None:
    cluster = only(full(), "Cluster").inputs

    assert cluster["accessConfig"] == {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True}
    assert cluster["bootstrapSelfManagedAddons"] is False
    assert len(dig(cluster["enabledClusterLogTypes"])) == 5
    assert dig(cluster["encryptionConfig"], "resources") == ["secrets"]
    assert cluster["upgradePolicy"] == {"supportType": "EXTENDED"}
    assert only(full(), "Key").inputs["enableKeyRotation"] is True


def test_an_existing_network_makes_and_tags_none() -> None:
    seen = build(EXISTING)
    network = ("Vpc", "Subnet", "NatGateway", "RouteTable", "Eip", "InternetGateway", "VpcEndpoint", "Network")

    assert not [one.urn for kind in network for one in of(seen, kind)]
    assert dig(of(seen, "EC2NodeClass")[0].inputs["spec"], "subnetSelectorTerms") == [
        {"id": "subnet-0a1b2c3d4e5f60718"},
        {"id": "subnet-0f1e2d3c4b5a69788"},
    ]
    tag = only(seen, "Tag")
    assert waits_for(seen, tag, only(seen, "Cluster")), "the one tag is on the security group that EKS makes"


def test_nodes_find_what_we_made_by_one_tag_of_ours() -> None:
    ours = {"karpenter.sh/discovery": "spotproof-dev"}
    spec = of(full(), "EC2NodeClass")[0].inputs["spec"]

    assert dig(spec, "subnetSelectorTerms") == [{"tags": ours}]
    assert dig(spec, "securityGroupSelectorTerms") == [{"tags": ours}]
    tagged = [one for one in of(full(), "Subnet") if ours.items() <= dig(one.inputs["tags"]).items()]
    assert len(tagged) == 3
    assert all("private" in one.name for one in tagged)


def test_karpenters_nodes_have_a_role_and_an_entry_of_their_own() -> None:
    seen = full()
    (entry,) = (one for one in of(seen, "AccessEntry") if one.inputs["type"] == "EC2_LINUX")
    role = str(entry.inputs["principalArn"])

    assert only(seen, "NodeGroup").inputs["nodeRoleArn"] != role
    assert {dig(one.inputs["spec"], "role") for one in of(seen, "EC2NodeClass")} == {role.rpartition("/")[2]}


def test_every_pool_has_all_that_policies_judge_at_preview() -> None:
    for one in [*of(full(), "EC2NodeClass"), *of(full(), "NodePool")]:
        assert "<unknown>" not in repr(one.inputs)


def test_a_person_with_two_workspaces_has_one_entry() -> None:
    seen = full()
    entries = {str(one.inputs["principalArn"]): one for one in of(seen, "AccessEntry")}
    scopes = {
        str(one.inputs["policyArn"]).rpartition("/")[2]: one.inputs["accessScope"]
        for one in of(seen, "AccessPolicyAssociation")
    }

    assert len(dig(entries[PERSON].inputs["kubernetesGroups"])) == 2
    assert "kubernetesGroups" not in entries[ADMIN].inputs
    assert scopes == {"AmazonEKSClusterAdminPolicy": {"type": "cluster"}}


def test_the_groups_of_members_are_those_that_role_bindings_name() -> None:
    bound = {
        subject["name"]
        for one in of(full(), "RoleBinding")
        for subject in dig(one.inputs["subjects"])
        if subject["kind"] == "Group"
    }
    granted = {group for one in of(full(), "AccessEntry") for group in dig(one.inputs.get("kubernetesGroups", []))}

    assert bound == granted
    assert bound


def test_a_workspace_reaches_its_own_prefix_and_no_other() -> None:
    (policy,) = (one for one in of(full(), "Policy") if "workspace-speech" in str(one.inputs["name"]))
    listing, using = json.loads(str(policy.inputs["policy"]))["Statement"]

    assert using["Resource"].endswith("/speech/*")
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["speech", "speech/*"]}}
    assert "s3:DeleteObjectVersion" not in using["Action"]


def test_a_role_for_pods_is_taken_by_one_service_account_of_this_cluster() -> None:
    taken = [
        tuple(statement["Condition"]["StringEquals"].values())
        for one in of(full(), "Role")
        if "assumeRolePolicy" in one.inputs  # Kubernetes has roles too
        for statement in json.loads(str(one.inputs["assumeRolePolicy"]))["Statement"]
        if statement["Principal"]["Service"] == "pods.eks.amazonaws.com"
    ]
    cluster = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/spotproof-dev"

    assert sorted(taken) == [
        (cluster, "amazon-cloudwatch", "cloudwatch-agent"),
        (cluster, "kube-system", "ebs-csi-controller-sa"),
        (cluster, "kube-system", "karpenter"),
        (cluster, "research", "trainer"),
        (cluster, "speech", "trainer"),
    ]


def test_spot_pools_wait_for_the_account_to_have_the_spot_role() -> None:
    component = only(full(), "SpotServiceLinkedRole")

    assert component.inputs == {"mode": "existing", "accountId": ACCOUNT, "retainOnDelete": True}
    assert full().invokes == ("aws:iam/getRoles:getRoles",)


def test_an_environment_without_spot_does_not_ask_for_the_spot_role() -> None:
    seen = build({"provider": SMALLEST["provider"]})

    assert not of(seen, "SpotServiceLinkedRole")
    assert seen.invokes == ()


def test_a_mirror_serves_every_chart_and_image() -> None:
    seen = build({**SMALLEST, "imageRegistry": "mirror.example.org"})
    charts = {str(one.inputs["chart"]) for one in of(seen, "Release")}

    assert charts == {
        "oci://mirror.example.org/nvidia.github.io/k8s-device-plugin/nvidia-device-plugin",
        "oci://mirror.example.org/public.ecr.aws/karpenter/karpenter",
        "oci://mirror.example.org/public.ecr.aws/karpenter/karpenter-crd",
        "oci://mirror.example.org/ray-project.github.io/kuberay-helm/kuberay-operator",
        "oci://mirror.example.org/registry.k8s.io/jobset/charts/jobset",
    }
    images = [repr(one.inputs["values"]) for one in of(seen, "Release") if one.inputs["name"] != "karpenter-crd"]
    assert all("mirror.example.org/" in values for values in images)


def test_the_log_groups_are_there_before_the_add_on_that_would_make_them_without_an_end() -> None:
    seen = full()
    groups = {str(one.inputs["name"]): one for one in of(seen, "LogGroup")}
    (collector,) = (one for one in of(seen, "Addon") if one.inputs["addonName"] == "amazon-cloudwatch-observability")

    assert set(groups) == {
        "/aws/eks/spotproof-dev/cluster",
        *(
            f"/aws/containerinsights/spotproof-dev/{kind}"
            for kind in ("application", "dataplane", "host", "performance")
        ),
    }
    assert all(one.inputs["retentionInDays"] == 30 for one in groups.values())
    assert all(waits_for(seen, collector, one) for name, one in groups.items() if "containerinsights" in name)
    assert waits_for(seen, only(seen, "Cluster"), groups["/aws/eks/spotproof-dev/cluster"])


def test_name_service_waits_for_nodes_and_the_network_plugin_does_not() -> None:
    seen = full()
    addons = {str(one.inputs["addonName"]): one for one in of(seen, "Addon")}
    nodes = only(seen, "NodeGroup")

    for name in ("coredns", "aws-ebs-csi-driver", "eks-node-monitoring-agent", "amazon-cloudwatch-observability"):
        assert waits_for(seen, addons[name], nodes), name
    for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
        assert waits_for(seen, nodes, addons[name]), name
    assert "aws-mountpoint-s3-csi-driver" not in addons


def test_what_an_add_on_runs_once_lands_on_tainted_system_nodes() -> None:
    """Their charts give these no toleration, and at the first `up` there is no other node."""
    manager = configuration("amazon-cloudwatch-observability")["manager"]

    assert manager["tolerations"] == [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
    assert manager["nodeSelector"]["spotproof.dev/system"] == "true"


def test_what_reads_gpus_tolerates_the_taints_of_gpu_pools() -> None:
    tolerated = {one["key"] for one in configuration("eks-node-monitoring-agent")["dcgmAgent"]["tolerations"]}
    tainted = {
        taint["key"]
        for pool in of(full(), "NodePool")
        for taint in dig(pool.inputs["spec"], "template", "spec").get("taints", [])
    }

    assert tainted <= tolerated


def configuration(addon: str) -> Any:
    (found,) = (one for one in of(full(), "Addon") if one.inputs["addonName"] == addon)
    return json.loads(str(found.inputs["configurationValues"]))


def test_the_library_takes_the_same_mapping_as_a_stack_file() -> None:
    seen = run(lambda: EksEnvironment("ours", {"environment": SMALLEST, "today": TODAY}))

    assert only(seen, "Cluster").inputs["name"] == "spotproof-ours"


def test_the_library_says_every_problem_of_the_mapping() -> None:
    with pytest.raises(SettingsError, match="spotPrice"):
        EksEnvironment("ours", {"environment": {**SMALLEST, "spotPrice": 1}, "today": TODAY})


def test_exports_say_where_things_are() -> None:
    assert full().outputs["clusterName"] == "spotproof-dev"
    assert full().outputs["configureKubectl"] == "aws eks update-kubeconfig --region us-west-2 --name spotproof-dev"
    assert dig(full().outputs["workspaces"], "speech", "checkpoints") == (
        "s3://spotproof-dev-ckpt-123456789012-us-west-2/speech/"
    )
