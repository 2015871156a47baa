"""Whatever the settings accept on Azure, the program builds: no lint finding, no mandatory violation, in both modes."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotproof.preview.model import Preview
from tests.stacks.runs import preview_settings, settings_of

PROVIDER = {
    "cloud": "azure",
    "subscriptionId": "00000000-0000-4000-8000-000000000001",
    "tenantId": "00000000-0000-4000-8000-000000000002",
}
GROUP = "00000000-0000-4000-8000-000000000003"
SIZES = st.sampled_from(
    [
        ["Standard_D8s_v5"],
        ["Standard_D8ps_v5", "Standard_D16ps_v5"],
        ["Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3"],
        ["Standard_ND96isr_H100_v5"],
        ["Standard_NV36ads_A10_v5"],
        ["Standard_D11_v2"],
    ]
)
OPERATOR = st.fixed_dictionaries({"mode": st.sampled_from(["install", "existing", "off"])})


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of every kind, pools of one kind, each on spot with its counterpart and a policy between them."""
    pools, policies = list[object](), list[object]()
    classic, location = draw(st.booleans()), draw(st.sampled_from(["eastus", "westus"]))
    zones = {"zones": ["eastus-2"]} if location == "eastus" and draw(st.booleans()) else {}
    kind = (
        {"autoscaler": "cluster-autoscaler"}
        if classic
        else draw(st.sampled_from([{}, {"autoscaler": "node-auto-provisioning"}]))
    )
    minutes = draw(st.integers(5, 90))
    for number, sizes in enumerate(draw(st.lists(SIZES, min_size=1, max_size=3))):
        both = {
            "instanceTypes": sizes[:1] if classic else sizes,
            "maxNodes": draw(st.integers(1, 1000)),
            "diskGib": draw(st.integers(50, 2048)),
            "consolidateAfter": f"{minutes}m",
        } | kind
        cap = {"spotMaxPrice": draw(st.integers(1, 10**7)) / 10**5} if classic and draw(st.booleans()) else {}
        pools.append({"name": f"p{number}-spot", "capacity": "spot"} | both | cap | zones)
        pools.append({"name": f"p{number}", "capacity": "on-demand"} | both)
        tier = {"pool": f"p{number}-spot", "maxFailures": draw(st.integers(-1, 99)), "pendingTimeout": "15m"}
        policies.append({"name": f"p{number}", "tiers": [tier, {"pool": f"p{number}"}]})
    named = ["eastus-1", "eastus-2"] if location == "eastus" and draw(st.booleans()) else 3
    return {
        "provider": {**PROVIDER, "location": location},
        "kubernetesVersion": draw(st.sampled_from(["1.35", "1.36"])),
        "network": {
            "cidr": draw(st.sampled_from(["10.0.0.0/16", "172.16.0.0/20", "192.168.0.0/18", "100.64.0.0/16"])),
            "zones": named,
        },
        "access": {"admins": draw(st.sampled_from([[], [GROUP]]))},
        "controlPlane": {
            "publicAccessCidrs": draw(st.sampled_from([[], ["203.0.113.0/24", "198.51.100.7/32"]])),
            "deletionProtection": draw(st.booleans()),
        },
        "logs": {"retainDays": draw(st.integers(30, 730))},
        "checkpoints": {
            "protect": draw(st.booleans()),
            "versioning": draw(st.booleans()),
            "retainDays": draw(st.sampled_from([1, 2, 30, 3653])),
        },
        "workspaces": [{"namespace": "abc", "members": [GROUP]}, {"namespace": "b-" + "x" * 38}],
        "pools": pools,
        "fallbackPolicies": policies,
        "operators": {
            "jobset": draw(OPERATOR),
            "kuberay": draw(OPERATOR),
            "gpuPlugin": {"mode": draw(st.sampled_from(["install", "existing"]))},
        },
        "imageRegistry": "mirror.example.org:5000/all",
        "tags": draw(st.sampled_from([{}, {"team": "a b", "cost:centre": "1"}])),
    }


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(environment=environments(), stack=st.sampled_from(["dev", "Team_A.prod", "x" * 100]))
def test_what_the_settings_accept_is_built_without_objection(environment: dict[str, Any], stack: str) -> None:
    preview = preview_settings(environment, stack)

    assert preview.lint == ()
    assert [found for found in preview.policies if found.level == "mandatory"] == []


LIMITS = {
    "resources:ResourceGroup": ("resourceGroupName", 90),
    "containerservice:ManagedCluster": ("resourceName", 63),
    "network:VirtualNetwork": ("virtualNetworkName", 64),
    "network:NatGateway": ("natGatewayName", 80),
    "network:PublicIPAddress": ("publicIpAddressName", 80),
    "operationalinsights:Workspace": ("workspaceName", 63),
    "monitor:DataCollectionRule": ("dataCollectionRuleName", 64),
    "storage:StorageAccount": ("accountName", 24),
    "managedidentity:UserAssignedIdentity": ("resourceName", 128),
    "authorization:RoleAssignment": ("roleAssignmentName", 36),
}
"""Kind -> the input that names it, and Azure's limit (naming rules of Azure resources)."""


def names(preview: Preview) -> set[tuple[str, object]]:
    return {
        (kind, resource.inputs.get(key))
        for kind, (key, _) in LIMITS.items()
        for resource in preview.capture.resources
        if resource.type == f"azure-native:{kind}"
    }


@pytest.mark.parametrize("stack", ["test", "a-stack-name-of-the-longest-kind-" + "x" * 66])
def test_every_name_is_known_and_within_its_limit(stack: str) -> None:
    found = names(preview_settings(settings_of("azure-prod"), stack, modes=("unknown",)))

    assert {kind for kind, _ in found} == set(LIMITS)
    assert [(kind, name) for kind, name in found if not isinstance(name, str) or len(name) > LIMITS[kind][1]] == []


@pytest.mark.parametrize(("one", "other"), [("one", "other"), ("x" * 80 + "a", "x" * 80 + "b")])
def test_two_environments_of_one_subscription_and_region_share_nothing(one: str, other: str) -> None:
    first, second = (preview_settings(settings_of("azure-prod"), stack, modes=("unknown",)) for stack in (one, other))

    assert names(first) & names(second) == set()


def test_everything_that_holds_data_is_protected_in_production_and_nothing_in_development() -> None:
    protected = {
        stack: {
            one.type.rpartition(":")[2]
            for one in preview_settings(settings_of(stack), stack, modes=("unknown",)).capture.resources
            if one.protect
        }
        for stack in ("azure-dev", "azure-prod")
    }

    assert protected["azure-dev"] == set()
    assert protected["azure-prod"] == {"BlobContainer", "ManagedCluster", "ResourceGroup", "StorageAccount"}
