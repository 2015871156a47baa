"""GCP: resource type -> method, and what the provider names or spreads differently."""

from typing import Final

from tests.api_models.rows import Own, Row, Table, To


def _one(value: object) -> object:
    return [value]


_PARENT: Final = Own("a part of the parent in the call's address")

GCP: Final[Table] = {
    "gcp:compute/network:Network": Row("compute.v1:networks.insert"),
    "gcp:compute/router:Router": Row("compute.v1:routers.insert"),
    "gcp:compute/routerNat:RouterNat": Row(
        "compute.v1:routers.patch", {"router": "/router", "region": "/region"}, root="nats"
    ),
    "gcp:compute/subnetwork:Subnetwork": Row("compute.v1:subnetworks.insert"),
    "gcp:container/cluster:Cluster": Row(
        "container.v1:projects.locations.clusters.create",
        {
            "location": _PARENT,
            "datapathProvider": "networkConfig/datapathProvider",
            "deletionProtection": Own("whether the provider refuses to delete"),
            "loggingConfig.enableComponents": "componentConfig/enableComponents",
            "networkingMode": Own("the provider sets ipAllocationPolicy.useIpAliases by it"),
            "removeDefaultNodePool": Own("whether the provider deletes the first pool"),
        },
        root="cluster",
    ),
    "gcp:container/nodePool:NodePool": Row(
        "container.v1:projects.locations.clusters.nodePools.create",
        {
            "cluster": _PARENT,
            "location": _PARENT,
            "nodeConfig": "config",
            "nodeConfig.guestAccelerators": "accelerators",
            "nodeConfig.guestAccelerators.count": "acceleratorCount",
            "nodeConfig.guestAccelerators.type": "acceleratorType",
            "nodeLocations": "locations",
        },
        root="nodePool",
    ),
    "gcp:projects/iAMMember:IAMMember": Row(
        "cloudresourcemanager.v1:projects.setIamPolicy",
        {
            "project": "/resource",
            "role": "bindings/role",
            "member": To("bindings/members", by=_one),
        },
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
            "publicAccessPrevention": "iamConfiguration/publicAccessPrevention",
            "uniformBucketLevelAccess": "iamConfiguration/uniformBucketLevelAccess/enabled",
        },
    ),
    "gcp:storage/bucketIAMMember:BucketIAMMember": Row(
        "storage.v1:buckets.setIamPolicy", {"role": "bindings/role", "member": To("bindings/members", by=_one)}
    ),
}
