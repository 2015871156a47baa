"""Azure: resource type -> operation, and what the provider names or spreads differently."""

from typing import Final

from tests.api_models.rows import Own, Row, Table, To


def _keys(value: object) -> object:
    """The API takes a map from identity to nothing; the provider takes the list of its keys."""
    return {str(each): {} for each in value} if isinstance(value, list) else value


_STREAMS: Final = "the model lists the streams of virtual machines only, not those of Container insights"

AZURE: Final[Table] = {
    "azure-native:authorization:RoleAssignment": Row("authorization.v2022_04_01:RoleAssignmentsOperations.create"),
    "azure-native:containerservice:AgentPool": Row("containerservice:AgentPoolsOperations.begin_create_or_update"),
    "azure-native:containerservice:ManagedCluster": Row(
        "containerservice:ManagedClustersOperations.begin_create_or_update",
        {"identity.userAssignedIdentities": To("userAssignedIdentities", by=_keys)},
    ),
    "azure-native:managedidentity:FederatedIdentityCredential": Row(
        "msi.v2024_11_30:FederatedIdentityCredentialsOperations.create_or_update"
    ),
    "azure-native:managedidentity:UserAssignedIdentity": Row(
        "msi.v2024_11_30:UserAssignedIdentitiesOperations.create_or_update"
    ),
    "azure-native:monitor:DataCollectionRule": Row(
        "monitor.v2022_06_01:DataCollectionRulesOperations.create",
        unlisted={"dataFlows.streams": _STREAMS, "dataSources.extensions.streams": _STREAMS},
    ),
    "azure-native:monitor:DataCollectionRuleAssociation": Row(
        "monitor.v2022_06_01:DataCollectionRuleAssociationsOperations.create"
    ),
    "azure-native:monitor:DiagnosticSetting": Row(
        "monitor.v2021_05_01_preview:DiagnosticSettingsOperations.create_or_update"
    ),
    "azure-native:network:NatGateway": Row("network:NatGatewaysOperations.begin_create_or_update"),
    "azure-native:network:PublicIPAddress": Row("network:PublicIPAddressesOperations.begin_create_or_update"),
    "azure-native:network:Subnet": Row("network:SubnetsOperations.begin_create_or_update"),
    "azure-native:network:VirtualNetwork": Row("network:VirtualNetworksOperations.begin_create_or_update"),
    "azure-native:operationalinsights:Workspace": Row("loganalytics:WorkspacesOperations.begin_create_or_update"),
    "azure-native:resources:ResourceGroup": Row("resource.resources:ResourceGroupsOperations.create_or_update"),
    "azure-native:storage:BlobContainer": Row("storage:BlobContainersOperations.create"),
    "azure-native:storage:BlobServiceProperties": Row(
        "storage:BlobServicesOperations.set_service_properties",
        {"blobServicesName": Own("a part of the call's address that is always default")},
    ),
    "azure-native:storage:ManagementPolicy": Row("storage:ManagementPoliciesOperations.create_or_update"),
    "azure-native:storage:StorageAccount": Row(
        "storage:StorageAccountsOperations.begin_create",
        {
            "enableHttpsTrafficOnly": "properties/supportsHttpsTrafficOnly",
            "networkRuleSet": "properties/networkAcls",
            "networkRuleSet.ipRules.iPAddressOrRange": "value",
            "networkRuleSet.virtualNetworkRules.virtualNetworkResourceId": "id",
        },
    ),
}
