import base64
from uuid import UUID

import pulumi_aws as aws
import pulumi_azure_native as azure
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s
import pytest

from spotproof.preview.invented import invent

URN = "urn:pulumi:dev::project::aws:eks/cluster:Cluster::main"


def test_outputs_have_the_form_of_their_names() -> None:
    assert aws.eks.Cluster
    identity, outputs = invent(URN, "aws:eks/cluster:Cluster", {"version": "1.33"})
    assert identity.startswith("main-")
    assert str(outputs["arn"]).startswith("arn:aws:eks:us-east-1:123456789012:main-")
    assert str(outputs["endpoint"]).startswith("https://")
    assert "version" not in outputs
    authority = outputs["certificateAuthority"]
    assert isinstance(authority, dict)
    assert base64.b64decode(authority["data"]).startswith(b"main-")


def test_a_kubernetes_object_gets_a_name_and_its_id_from_it() -> None:
    assert k8s.core.v1.ConfigMap
    urn = "urn:pulumi:dev::project::kubernetes:core/v1:ConfigMap::settings"
    identity, outputs = invent(urn, "kubernetes:core/v1:ConfigMap", {"metadata": {"namespace": "a"}})
    metadata = outputs["metadata"]
    assert isinstance(metadata, dict)
    assert identity == f"a/{metadata['name']}"


def test_a_class_no_sdk_has_gets_an_id_and_nothing_else() -> None:
    assert invent("urn:pulumi:dev::project::x:y:Z::main", "x:y:Z", {})[1] == {}


def test_outputs_of_gcp_have_the_form_of_gcp() -> None:
    assert gcp.serviceaccount.Account
    urn = "urn:pulumi:dev::project::gcp:serviceaccount/account:Account::nodes"
    _, outputs = invent(urn, "gcp:serviceaccount/account:Account", {"accountId": "nodes"})
    assert str(outputs["email"]).endswith("@example-project.iam.gserviceaccount.com")
    assert outputs["member"] == f"serviceAccount:{outputs['email']}"

    assert gcp.container.Cluster
    urn = "urn:pulumi:dev::project::gcp:container/cluster:Cluster::main"
    identity, outputs = invent(urn, "gcp:container/cluster:Cluster", {"name": "main"})
    assert identity == "projects/example-project/locations/us-central1/clusters/main"
    assert outputs["location"] == "us-central1"

    assert gcp.storage.Bucket
    urn = "urn:pulumi:dev::project::gcp:storage/bucket:Bucket::main"
    identity, outputs = invent(urn, "gcp:storage/bucket:Bucket", {"name": "checkpoints"})
    assert identity == "checkpoints"
    assert str(outputs["url"]).startswith("gs://")


def test_below_a_given_object_is_what_the_program_did_not_write() -> None:
    assert gcp.container.Cluster
    urn = "urn:pulumi:dev::project::gcp:container/cluster:Cluster::main"
    given = {"controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"allowExternalTraffic": True}}, "nodePools": [{}]}
    _, outputs = invent(urn, "gcp:container/cluster:Cluster", given)

    endpoints = outputs["controlPlaneEndpointsConfig"]
    assert isinstance(endpoints, dict)
    assert "allowExternalTraffic" not in endpoints["dnsEndpointConfig"]
    assert endpoints["dnsEndpointConfig"]["endpoint"].endswith(".main.example.com")
    assert "nodePools" not in outputs, "a list comes back as it was given"


def test_objects_of_kubernetes_get_nothing_below_what_was_written() -> None:
    assert k8s.core.v1.Service
    urn = "urn:pulumi:dev::project::kubernetes:core/v1:Service::web"
    assert "spec" not in invent(urn, "kubernetes:core/v1:Service", {"spec": {"type": "ClusterIP"}})[1]


def test_outputs_of_azure_have_the_form_of_azure() -> None:
    assert azure.managedidentity.UserAssignedIdentity
    urn = "urn:pulumi:dev::project::azure-native:managedidentity:UserAssignedIdentity::main"
    given = {"resourceGroupName": "ml", "resourceName": "trainer"}
    identity, outputs = invent(urn, "azure-native:managedidentity:UserAssignedIdentity", given)
    assert identity.startswith("/subscriptions/")
    assert identity.endswith("/resourceGroups/ml/providers/Microsoft.managedidentity/userAssignedIdentitys/trainer")
    assert outputs["name"] == "trainer"
    for key in ("clientId", "principalId", "tenantId"):
        assert str(UUID(str(outputs[key]))) == outputs[key]


@pytest.mark.parametrize(
    ("kind", "module", "inputs"),
    [
        ("StorageAccount", azure.storage, {"accountName": "a", "resourceGroupName": "g"}),
        ("BlobContainer", azure.storage, {"accountName": "b", "containerName": "a", "resourceGroupName": "g"}),
        ("AgentPool", azure.containerservice, {"resourceName": "c", "agentPoolName": "a", "resourceGroupName": "g"}),
        ("ResourceGroup", azure.resources, {"resourceGroupName": "a"}),
        (
            "FederatedIdentityCredential",
            azure.managedidentity,
            {"resourceName": "i", "federatedIdentityCredentialResourceName": "a"},
        ),
    ],
)
def test_an_azure_resource_has_the_name_the_program_gave_it(
    kind: str, module: object, inputs: dict[str, object]
) -> None:
    token = getattr(module, kind).pulumi_type
    assert invent(f"urn:pulumi:dev::project::{token}::main", token, inputs)[1]["name"] == "a"
