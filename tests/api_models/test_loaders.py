"""What the loaders read out of three different kinds of model."""

from typing import Any

import pytest

from tests.api_models import aws, azure, gcp
from tests.api_models.request import Request, Schema, Steps, fields


def at(request: Request, *names: str) -> Schema:
    """Return the schema of a field, by the names on the way; of lists that of an item."""
    schema = request.resolved(request.schema)
    for name in names:
        schema = request.resolved(fields(schema)[name])
        schema = request.resolved(schema["items"]) if schema.get("type") == "array" else schema
    return schema


def errors(request: Request, document: dict[str, Any]) -> list[tuple[Steps, str]]:
    return [(steps, keyword) for steps, keyword, _ in request.errors(document)]


NODE_POOLS = "container.v1:projects.locations.clusters.nodePools.create"
AGENT_POOLS = "containerservice:AgentPoolsOperations.begin_create_or_update"
ROLES = "authorization.v2022_04_01:RoleAssignmentsOperations.create"


def test_a_botocore_shape_keeps_enum_pattern_range_and_required() -> None:
    cluster, nodes = aws.load("eks:CreateCluster"), aws.load("eks:CreateNodegroup")

    assert at(nodes, "capacityType")["enum"] == ["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"]
    assert at(cluster, "name") == {
        "type": "string",
        "minLength": 1,
        "maxLength": 100,
        "pattern": at(cluster, "name")["pattern"],
    }
    assert at(nodes, "scalingConfig", "minSize") == {"type": "integer", "minimum": 0}
    assert cluster.schema["$defs"]["CreateClusterRequest"]["required"] == ["name", "resourcesVpcConfig", "roleArn"]


def test_a_pattern_is_of_the_whole_text_and_in_the_models_own_dialect() -> None:
    role = aws.load("iam:CreateRole")
    tags = [{"Key": "équipe", "Value": "ok"}, {"Key": "a!", "Value": "ok"}]

    right: dict[str, Any] = {"RoleName": "r", "AssumeRolePolicyDocument": "{}"}
    assert errors(role, {**right, "Tags": tags}) == [(("Tags", 1, "Key"), "pattern")]
    assert errors(role, {**right, "RoleName": "a b"}) == [(("RoleName",), "pattern")]


def test_a_discovery_document_keeps_enums_and_takes_long_numbers_as_text_or_number() -> None:
    pools = gcp.load(NODE_POOLS)

    assert "NO_SCHEDULE" in at(pools, "nodePool", "config", "taints", "effect")["enum"]
    assert at(pools, "nodePool", "config", "diskSizeGb")["maximum"] == 2**31 - 1
    accelerators = [{"acceleratorCount": count} for count in (1, "1", "one", 1.5)]
    found = errors(pools, {"nodePool": {"config": {"accelerators": accelerators}}})
    assert [(steps[3], keyword) for steps, keyword in found] == [(2, "pattern"), (3, "type")]


def test_a_discovery_document_says_what_a_method_requires_and_what_is_only_answered() -> None:
    assert gcp.load("compute.v1:routers.insert").schema["required"] == ["name", "network"]
    assert gcp.load("iam.v1:projects.serviceAccounts.create").schema["required"] == ["accountId"]
    assert "selfLink" not in fields(at(gcp.load(NODE_POOLS), "nodePool"))


@pytest.mark.parametrize("text", ["3600", "1h", "-"])
def test_a_duration_of_a_discovery_document_is_seconds(text: str) -> None:
    assert errors(gcp.load(NODE_POOLS), {"nodePool": {"config": {"maxRunDuration": text}}})
    assert not errors(gcp.load(NODE_POOLS), {"nodePool": {"config": {"maxRunDuration": "3600s"}}})


def test_a_model_of_azure_keeps_types_enums_ranges_and_what_it_requires() -> None:
    pools, account = azure.load(AGENT_POOLS), azure.load("storage:StorageAccountsOperations.begin_create")

    assert at(pools, "properties", "scaleSetPriority") == {"type": "string", "enum": ["Spot", "Regular"]}
    assert at(pools, "properties", "spotMaxPrice") == {"type": "number"}
    assert at(pools, "properties", "osDiskSizeGB") == {"type": "integer", "minimum": 0, "maximum": 2048}
    assert account.schema["required"] == ["kind", "location", "sku"]
    assert "provisioningState" not in fields(at(pools, "properties"))


def test_a_name_in_azures_address_has_the_rules_that_the_request_is_built_with() -> None:
    name = at(azure.load(AGENT_POOLS), "agent_pool_name")

    assert name == {"type": "string", "minLength": 1, "maxLength": 12, "pattern": "^[a-z][a-z0-9]{0,11}$"}


def test_what_azure_requires_in_the_envelope_makes_the_envelope_required() -> None:
    role = azure.load(ROLES)

    assert at(role, "properties")["required"] == ["principalId", "roleDefinitionId"]
    assert "ServicePrincipal" in at(role, "properties", "principalType")["enum"]
    assert role.schema["required"] == ["properties"]
