"""GCP: resource type -> method, and what the provider names or spreads differently."""

from typing import Final

from tests.api_models.rows import Own, Row, Table, To


def _one(value: object) -> object:
    return [value]


def _boolean(value: object) -> object:
    """The provider takes a text where a third state, unset, is meant."""
    return {"TRUE": True, "FALSE": False}.get(str(value), value)


def _live(state: object) -> object:
    """A lifecycle condition of the provider names the state of an object, the API asks whether it is live."""
    return {"LIVE": True, "ARCHIVED": False}.get(str(state), state)


def _by_name(exclusions: object) -> object:
    """The API keys exclusions of maintenance by the name that the provider has inside."""
    if not isinstance(exclusions, list):
        return exclusions
    return {one["exclusionName"]: {k: v for k, v in one.items() if k != "exclusionName"} for one in exclusions}


_PARENT: Final = Own("a part of the parent in the call's address")
_READONLY_PORT: Final = "insecureKubeletReadonlyPortEnabled"

GCP: Final[Table] = {
    "gcp:compute/network:Network": Row("compute.v1:networks.insert", {"routingMode": "routingConfig/routingMode"}),
    "gcp:compute/router:Router": Row("compute.v1:routers.insert"),
    "gcp:compute/routerNat:RouterNat": Row(
        "compute.v1:routers.patch",
        {
            "router": "/router",
            "region": "/region",
            "subnetworks.sourceIpRangesToNats": "sourceIpRangesToNat",
        },
        root="nats",
    ),
    "gcp:compute/subnetwork:Subnetwork": Row("compute.v1:subnetworks.insert"),
    "gcp:container/cluster:Cluster": Row(
        "container.v1:projects.locations.clusters.create",
        {
            "datapathProvider": "networkConfig/datapathProvider",
            "defaultMaxPodsPerNode": "defaultMaxPodsConstraint/maxPodsPerNode",
            "deletionProtection": Own("whether the provider refuses to delete"),
            "enableLegacyAbac": "legacyAbac/enabled",
            "enableShieldedNodes": "shieldedNodes/enabled",
            "location": _PARENT,
            "loggingConfig.enableComponents": "componentConfig/enableComponents",
            "maintenancePolicy": "maintenancePolicy/window",
            "maintenancePolicy.maintenanceExclusions": To("maintenanceExclusions", by=_by_name),
            "maintenancePolicy.maintenanceExclusions.exclusionOptions": "maintenanceExclusionOptions",
            "minMasterVersion": "initialClusterVersion",
            "monitoringConfig.enableComponents": "componentConfig/enableComponents",
            "monitoringConfig.managedPrometheus": "managedPrometheusConfig",
            "networkingMode": Own("the provider sets ipAllocationPolicy.useIpAliases by it"),
            f"nodeConfig.kubeletConfig.{_READONLY_PORT}": To(_READONLY_PORT, by=_boolean),
            "nodeLocations": "locations",
            f"nodePoolDefaults.nodeConfigDefaults.{_READONLY_PORT}": To(
                f"nodeKubeletConfig/{_READONLY_PORT}", by=_boolean
            ),
            "removeDefaultNodePool": Own("whether the provider deletes the first pool"),
        },
        root="cluster",
    ),
    "gcp:container/nodePool:NodePool": Row(
        "container.v1:projects.locations.clusters.nodePools.create",
        {
            "cluster": _PARENT,
            "location": _PARENT,
            "maxPodsPerNode": "maxPodsConstraint/maxPodsPerNode",
            "nodeConfig": "config",
            "nodeConfig.guestAccelerators": "accelerators",
            "nodeConfig.guestAccelerators.count": "acceleratorCount",
            "nodeConfig.guestAccelerators.type": "acceleratorType",
            f"nodeConfig.kubeletConfig.{_READONLY_PORT}": To(_READONLY_PORT, by=_boolean),
            "nodeCount": "initialNodeCount",
            "nodeLocations": "locations",
        },
        root="nodePool",
    ),
    "gcp:logging/projectBucketConfig:ProjectBucketConfig": Row(
        "logging.v2:projects.locations.buckets.create", {"location": _PARENT, "project": _PARENT}
    ),
    "gcp:logging/projectExclusion:ProjectExclusion": Row("logging.v2:projects.exclusions.create", {"project": _PARENT}),
    "gcp:logging/projectSink:ProjectSink": Row("logging.v2:projects.sinks.create", {"project": _PARENT}),
    "gcp:projects/iAMCustomRole:IAMCustomRole": Row(
        "iam.v1:projects.roles.create",
        {"permissions": "role/includedPermissions", "project": _PARENT, "title": "role/title"},
    ),
    "gcp:projects/iAMMember:IAMMember": Row(
        "cloudresourcemanager.v1:projects.setIamPolicy",
        {"project": "/resource", "role": "bindings/role", "member": To("bindings/members", by=_one)},
        root="policy",
    ),
    "gcp:serviceaccount/account:Account": Row(
        "iam.v1:projects.serviceAccounts.create", {"displayName": "serviceAccount/displayName"}
    ),
    "gcp:storage/bucket:Bucket": Row(
        "storage.v1:buckets.insert",
        {
            "forceDestroy": Own("whether the provider empties a bucket before it deletes it"),
            "lifecycleRules": "lifecycle/rule",
            "lifecycleRules.condition.withState": To("isLive", by=_live),
            "publicAccessPrevention": "iamConfiguration/publicAccessPrevention",
            "uniformBucketLevelAccess": "iamConfiguration/uniformBucketLevelAccess/enabled",
        },
    ),
    "gcp:storage/managedFolder:ManagedFolder": Row(
        "storage.v1:managedFolders.insert", {"forceDestroy": To("allowNonEmpty", call="managedFolders.delete")}
    ),
    "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": Row(
        "storage.v1:managedFolders.setIamPolicy", {"role": "bindings/role", "member": To("bindings/members", by=_one)}
    ),
}
