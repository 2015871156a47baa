"""Mistakes planted into inputs that were right: the API models find each, where it stands."""

import copy
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

import pytest

from spotproof.preview.model import UNKNOWN, Finding, Resource, Secret
from tests.api_models.clouds import CLOUDS, MODELS, resources
from tests.api_models.judge import judged


class _Gone(Enum):
    GONE = "gone"


GONE: Final = _Gone.GONE


@dataclass(frozen=True)
class Damage:
    """`at`: names and indices in the inputs of the cloud's first resource of this type that has them."""

    cloud: str
    type: str
    at: tuple[str | int, ...]
    value: object
    message: str
    path: str = ""
    """Where it is found, if that is not where it stands: what is missing is told of what should hold it."""


_NODE_GROUP, _CLUSTER = "aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster"
_TEMPLATE, _LIFECYCLE = "aws:ec2/launchTemplate:LaunchTemplate", "aws:s3/bucketLifecycleConfiguration"
_NODE_POOL, _BUCKET = "gcp:container/nodePool:NodePool", "gcp:storage/bucket:Bucket"
_AKS, _AGENT_POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
_BLOBS = "azure-native:storage:BlobServiceProperties"

DAMAGES: Final = {
    "an enum's value is wrong": [
        Damage(
            "aws", _NODE_GROUP, ("capacityType",), "PREEMPTIBLE", "'PREEMPTIBLE' is not one of ['ON_DEMAND', 'SPOT'"
        ),
        Damage("aws", _TEMPLATE, ("blockDeviceMappings", 0, "ebs", "volumeType"), "gp4", "'gp4' is not one of"),
        Damage("aws", _CLUSTER, ("enabledClusterLogTypes", 1), "audits", "'audits' is not one of"),
        Damage("gcp", _NODE_POOL, ("nodeConfig", "taints", 0, "effect"), "NoSchedule", "'NoSchedule' is not one of"),
        Damage("gcp", _NODE_POOL, ("autoscaling", "locationPolicy"), "SPREAD", "'SPREAD' is not one of"),
        Damage("azure", _AGENT_POOL, ("scaleSetPriority",), "spot", "'spot' is not one of ['Spot', 'Regular']"),
        Damage("azure", _AKS, ("networkProfile", "networkDataplane"), "ebpf", "'ebpf' is not one of"),
    ],
    "a field is misspelt": [
        Damage("aws", _NODE_GROUP, ("capacityTyp",), "SPOT", "no field of eks:CreateNodegroup has this name"),
        Damage("aws", _CLUSTER, ("vpcConfig", "endpointPublicAcess"), "true", "no field of eks:CreateCluster"),
        Damage("gcp", _NODE_POOL, ("nodeConfig", "preemptable"), "true", "no field of container.v1:projects"),
        Damage("azure", _AKS, ("oidcIssuerProfile", "enable"), "true", "no field of containerservice:Managed"),
    ],
    "a field is only answered, never set": [
        Damage("gcp", _NODE_POOL, ("selfLink",), "x", "no field of container.v1:projects"),
        Damage("azure", _AKS, ("provisioningState",), "Succeeded", "no field of containerservice:Managed"),
    ],
    "a value is out of range": [
        Damage("aws", _NODE_GROUP, ("scalingConfig", "minSize"), -1, "-1 is less than the minimum of 0"),
        Damage("aws", "aws:kms/key:Key", ("deletionWindowInDays",), 400, "400 is greater than the maximum of 365"),
        Damage("gcp", _NODE_POOL, ("nodeConfig", "diskSizeGb"), 2**31, "is greater than the maximum"),
        Damage("azure", _AGENT_POOL, ("osDiskSizeGB",), 4096, "4096 is greater than the maximum of 2048"),
        Damage("azure", _BLOBS, ("deleteRetentionPolicy", "days"), 400, "400 is greater than the maximum of 365"),
    ],
    "a text does not fit its pattern": [
        Damage("aws", _CLUSTER, ("name",), "-training", "'-training' does not match"),
        Damage("aws", "aws:iam/role:Role", ("name",), "train/node", "'train/node' does not match"),
        Damage("gcp", "gcp:compute/network:Network", ("name",), "Training", "'Training' does not match"),
        Damage("azure", _AGENT_POOL, ("agentPoolName",), "spot-1", "'spot-1' does not match"),
        Damage("azure", _AKS, ("networkProfile", "serviceCidr"), "10.0.0.0/99", "'10.0.0.0/99' does not match"),
    ],
    "a value has the wrong type": [
        Damage("aws", _TEMPLATE, ("blockDeviceMappings", 0, "ebs", "volumeSize"), "50Gi", "is not of type 'integer'"),
        Damage("aws", _TEMPLATE, ("blockDeviceMappings", 0, "ebs", "encrypted"), "yes", "is not of type 'boolean'"),
        Damage("gcp", _NODE_POOL, ("nodeConfig", "spot"), "yes", "is not of type 'boolean'"),
        Damage("azure", _AGENT_POOL, ("minCount",), "zero", "is not of type 'integer'"),
    ],
    "a member that must be there is missing": [
        Damage("aws", _CLUSTER, ("roleArn",), GONE, "'roleArn' is required"),
        Damage(
            "aws", f"{_LIFECYCLE}:BucketLifecycleConfiguration", ("rules", 0, "status"), GONE, "'Status'", "rules[0]"
        ),
        Damage("gcp", "gcp:compute/router:Router", ("network",), GONE, "'network' is required"),
        Damage("azure", "azure-native:storage:StorageAccount", ("sku", "name"), GONE, "'name' is required", "sku"),
        Damage(
            "azure", "azure-native:authorization:RoleAssignment", ("principalId",), GONE, "'principalId' is required"
        ),
    ],
}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, id=f"{mistake}-{damage.type}-{damage.at[-1]}")
        for mistake, damages in DAMAGES.items()
        for damage in damages
        if damage.cloud in CLOUDS
    ],
)
def test_a_planted_mistake_is_found_where_it_stands(damage: Damage) -> None:
    found = _findings(damage)

    path = damage.path or ("" if damage.value is GONE else _path(damage.at))
    assert [(one.path, damage.message in one.message) for one in found] == [(path, True)], found


def test_a_value_that_is_not_known_yet_is_not_judged_but_its_name_is() -> None:
    right = Damage("aws", _NODE_GROUP, ("capacityType",), UNKNOWN, "")
    wrong = replace(right, at=("capacityTyp",))

    assert _findings(right) == []
    assert [one.path for one in _findings(wrong)] == ["capacityTyp"]


def test_a_secret_value_is_judged_and_not_told() -> None:
    found = _findings(Damage("aws", _CLUSTER, ("name",), Secret("-hunter2"), ""))

    assert [one.message for one in found] == ["eks:CreateCluster: a secret value breaks the rule 'pattern'"]


def test_a_resource_type_without_a_row_is_found() -> None:
    one = replace(next(resources("aws")), type="aws:ec2/fleet:Fleet")

    assert [f.message for f in judged(one, MODELS["aws"])[1]] == ["aws:ec2/fleet:Fleet has no row in the table of aws"]


def _findings(damage: Damage) -> list[Finding]:
    return judged(_damaged(damage), MODELS[damage.cloud])[1]


def _damaged(damage: Damage) -> Resource:
    for one in resources(damage.cloud):
        inputs: Any = copy.deepcopy(dict(one.inputs))
        if one.type == damage.type and (holder := _holder(inputs, damage.at)) is not None:
            if damage.value is GONE:
                del holder[damage.at[-1]]
            else:
                holder[damage.at[-1]] = damage.value
            return replace(one, inputs=inputs)
    raise AssertionError(f"no {damage.type} has {_path(damage.at)}")


def _holder(inputs: Any, at: tuple[str | int, ...]) -> Any:
    """Return what holds the place, None if these inputs have no such place."""
    for step in at[:-1]:
        try:
            inputs = inputs[step]
        except (KeyError, IndexError, TypeError):
            return None
    return inputs


def _path(at: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at).lstrip(".")
