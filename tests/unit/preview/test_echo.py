"""What a program reads back of its own inputs: as a provider would answer, at a preview and after it."""

import pulumi
import pulumi_aws as aws
import pulumi_azure_native as azure

from spotproof.preview import Resource, capture
from spotproof.preview.echo import fitting, previewed
from spotproof.preview.model import UNKNOWN, Mode, Secret
from spotproof.preview.wire import decode, encode

CLUSTER = "azure-native:containerservice:ManagedCluster"
IDENTITY = "/subscriptions/a/identity"
_ = (aws.eks.Cluster, azure.containerservice.ManagedCluster)  # loads the classes


def program() -> None:
    eks = aws.eks.Cluster("eks", role_arn="a", vpc_config={"subnet_ids": ["subnet-1"]})
    pulumi.export("group", eks.vpc_config.cluster_security_group_id)
    pulumi.export("subnets", eks.vpc_config.subnet_ids)
    aks = azure.containerservice.ManagedCluster(
        "aks",
        resource_group_name="group",
        dns_prefix="prefix",
        identity={
            "type": azure.containerservice.ResourceIdentityType.USER_ASSIGNED,
            "user_assigned_identities": [IDENTITY],
        },
        oidc_issuer_profile={"enabled": True},
    )
    pulumi.export("issuer", aks.oidc_issuer_profile.apply(lambda profile: profile and profile.issuer_url))
    pulumi.export("prefix", aks.dns_prefix)


def stack(mode: Mode) -> Resource:
    return next(one for one in capture(program, mode=mode).resources if one.type == "pulumi:pulumi:Stack")


def test_below_an_object_what_nobody_wrote_is_unknown_at_a_preview_and_what_was_written_is_known() -> None:
    outputs = stack("unknown").outputs

    assert outputs["group"] is UNKNOWN
    assert outputs["issuer"] is UNKNOWN
    assert outputs["subnets"] == ["subnet-1"]


def test_an_input_of_another_shape_than_its_output_hides_no_other_input() -> None:
    # azure takes a list of identities and answers with a map
    assert stack("unknown").outputs["prefix"] == "prefix"
    assert stack("known").outputs["prefix"] == "prefix"
    assert str(stack("known").outputs["issuer"]).startswith("https://")


def test_a_list_where_the_output_is_a_map_is_unknown_at_a_preview_and_left_out_after_it() -> None:
    inputs = encode({"identity": {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]}})

    before, after = decode(previewed(CLUSTER, inputs)), decode(fitting(CLUSTER, inputs))

    assert before == {
        "identity": {
            "type": "UserAssigned",
            "userAssignedIdentities": UNKNOWN,
            "delegatedResources": UNKNOWN,
            "principalId": UNKNOWN,
            "tenantId": UNKNOWN,
        }
    }
    assert after == {"identity": {"type": "UserAssigned"}}
    assert decode(inputs)["identity"] == {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]}


def test_elements_of_a_list_are_completed_too() -> None:
    (profile,) = decode(previewed(CLUSTER, encode({"agentPoolProfiles": [{"name": "system"}]})))["agentPoolProfiles"]  # pyright: ignore[reportGeneralTypeIssues]

    assert profile["name"] == "system"
    assert profile["provisioningState"] is UNKNOWN


def test_a_secret_is_answered_as_it_came() -> None:
    inputs = encode({"identity": Secret({"type": "SystemAssigned"})})

    assert decode(previewed(CLUSTER, inputs)) == {"identity": Secret({"type": "SystemAssigned"})}


def test_objects_of_kubernetes_are_answered_as_they_were_written() -> None:
    inputs = encode({"metadata": {"name": "a"}})

    assert previewed("kubernetes:core/v1:Namespace", inputs) is inputs
