"""Azure's components as somebody else's program uses them, one at a time."""

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import pytest

import spotproof.clouds.azure as library
from spotproof.clouds.azure.checkpoints import addresses
from spotproof.clouds.azure.cluster import endpoint, kubeconfig
from spotproof.clouds.azure.names import Names
from spotproof.preview.errors import ProgramError
from tests.unit.clouds.programs import dig, of, only, run, waits_for
from tests.unit.settings.azure.samples import SUBSCRIPTION

PLACE = {
    "cluster_name": "theirs",
    "subscription_id": SUBSCRIPTION,
    "location": "eastus",
    "resource_group_name": "theirs",
}
SUBNET = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Network/virtualNetworks/a/subnets/b"
POOL = library.NodePoolArgs(pool_name="t4-spot", instance_types=["Standard_NC4as_T4_v3"], max_nodes=4, subnet_id=SUBNET)
AGENT_POOL = library.AgentPoolArgs(
    pool_name="t4-spot",
    vm_size="Standard_NC4as_T4_v3",
    max_nodes=4,
    cluster_name="theirs",
    resource_group_name="theirs",
    subnet_id=SUBNET,
)


def checkpoints(**args: Any) -> Callable[[], object]:
    given = {"account_name": "theirs", "resource_group_name": "theirs", "location": "eastus", "containers": ["a-1"]}
    return lambda: library.CheckpointContainers(
        "checkpoints", cast("library.CheckpointContainersArgs", {**given, **args})
    )


def identity(accounts: list[str]) -> Callable[[], object]:
    given = {
        **PLACE,
        "oidc_issuer_url": "https://issuer.example.com/",
        "namespace": "training",
        "service_accounts": accounts,
        "account_name": "theirs",
        "container_name": "training",
    }
    return lambda: library.WorkspaceIdentity("trainer", cast("library.WorkspaceIdentityArgs", given))


def test_a_store_has_no_keys_no_anonymous_access_and_tls_1_2() -> None:
    account = only(run(checkpoints()), "StorageAccount")
    inputs = account.inputs

    assert account.protect
    assert (inputs["allowSharedKeyAccess"], inputs["allowBlobPublicAccess"]) == (False, False)
    assert (inputs["minimumTlsVersion"], inputs["enableHttpsTrafficOnly"]) == ("TLS1_2", True)
    assert inputs["isHnsEnabled"] is False
    assert only(run(checkpoints()), "BlobContainer").inputs["publicAccess"] == "None"


def test_a_store_may_be_reached_from_named_subnets_and_ranges_only() -> None:
    rules = dig(
        only(
            run(checkpoints(subnet_ids=[SUBNET], access_cidrs=["203.0.113.0/24", "198.51.100.7/32"])), "StorageAccount"
        ).inputs,
        "networkRuleSet",
    )

    assert rules["defaultAction"] == "Deny"
    assert [one["virtualNetworkResourceId"] for one in rules["virtualNetworkRules"]] == [SUBNET]
    assert [one["iPAddressOrRange"] for one in rules["ipRules"]] == ["203.0.113.0/24", "198.51.100.7"]


def test_small_ranges_are_written_as_addresses() -> None:
    assert addresses(["192.0.2.0/30", "192.0.2.8/31", "192.0.2.9/32"]) == [
        "192.0.2.0/30",
        "192.0.2.8",
        "192.0.2.9",
        "192.0.2.9",
    ]


@pytest.mark.parametrize("days", [2, 3, 7, 14, 30, 365, 3653])
def test_what_is_deleted_is_kept_so_many_days_in_all(days: int) -> None:
    seen = run(checkpoints(retain_days=days))
    soft = dig(only(seen, "BlobServiceProperties").inputs, "deleteRetentionPolicy", "days")
    rule = dig(only(seen, "ManagementPolicy").inputs, "policy", "rules", 0, "definition", "actions")

    assert dig(rule, "version", "delete", "daysAfterCreationGreaterThan") + soft == days
    assert 1 <= soft <= 7
    assert dig(only(seen, "BlobServiceProperties").inputs, "containerDeleteRetentionPolicy", "days") == min(days, 365)
    assert waits_for(seen, only(seen, "ManagementPolicy"), only(seen, "BlobServiceProperties"))


def test_without_versioning_nothing_is_kept_and_no_rule_looks_for_it() -> None:
    seen = run(checkpoints(versioning=False))
    properties = only(seen, "BlobServiceProperties").inputs

    assert properties["isVersioningEnabled"] is False
    assert properties["deleteRetentionPolicy"] == {"enabled": False}
    assert of(seen, "ManagementPolicy") == []


def test_policies_see_what_a_store_is_and_what_becomes_of_it() -> None:
    seen = run(checkpoints(protect=False))
    component = only(seen, "CheckpointContainers")

    assert component.inputs == {"protect": False, "versioning": True, "retainDays": 30}
    assert not [one.urn for one in seen.resources if one.protect]


def test_federated_credentials_are_made_one_after_another() -> None:
    accounts = [f"trainer-{number}" for number in range(20)]
    seen = run(identity(accounts))
    by_subject = {str(one.inputs["subject"]): one for one in of(seen, "FederatedIdentityCredential")}
    made = [by_subject[f"system:serviceaccount:training:{account}"] for account in accounts]

    assert len(made) == 20
    assert waits_for(seen, made[0], only(seen, "UserAssignedIdentity"))
    for before, after in pairwise(made):
        assert before.urn in after.dependencies
    assert {tuple(cast("list[str]", one.inputs["audiences"])) for one in made} == {("api://AzureADTokenExchange",)}


def test_more_credentials_than_an_identity_takes_are_refused() -> None:
    with pytest.raises(ProgramError, match="takes 20 federated credentials"):
        run(identity([f"trainer-{number}" for number in range(21)]))


def test_numbers_that_arrive_as_floats_are_made_whole() -> None:
    """As a host for other languages sends them."""
    pool = cast("library.NodePoolArgs", {**POOL, "max_nodes": 4.0, "disk_gib": 300.0})
    agents = cast("library.AgentPoolArgs", {**AGENT_POOL, "max_nodes": 4.0, "disk_gib": 300.0})
    seen = run(lambda: (library.SpotNodePool("pool", pool), library.SpotAgentPool("agents", agents)))

    assert dig(only(seen, "NodePool").inputs, "spec", "limits") == {"nodes": 4, "nvidia.com/gpu": 4}
    assert dig(only(seen, "AKSNodeClass").inputs, "spec", "osDiskSizeGB") == 300
    assert only(seen, "AgentPool").inputs["maxCount"] == 4
    assert only(seen, "AgentPool").inputs["osDiskSizeGB"] == 300


def test_a_spot_pool_of_aks_without_a_cap_pays_up_to_on_demand() -> None:
    assert only(run(lambda: library.SpotAgentPool("agents", AGENT_POOL)), "AgentPool").inputs["spotMaxPrice"] == -1


def test_the_accelerator_of_a_pool_is_that_of_its_size_unless_it_is_said() -> None:
    unknown = cast("library.NodePoolArgs", {**POOL, "instance_types": ["Standard_NC4as_X9_v9"]})
    said = cast("library.NodePoolArgs", {**unknown, "accelerator_type": "nvidia-l4", "accelerator_count": 2})

    limits = [
        dig(only(run(lambda args=args: library.SpotNodePool("pool", args)), "NodePool").inputs, "spec", "limits")
        for args in (unknown, said)
    ]
    assert limits == [{"nodes": 4, "cpu": 16}, {"nodes": 4, "nvidia.com/gpu": 8}]


FETCHED = """
apiVersion: v1
kind: Config
clusters:
- name: theirs
  cluster: {certificate-authority-data: QQ==, server: "https://theirs.example.com:443"}
users:
- name: clusterUser
  user: {token: not-to-be-kept}
"""


def test_of_a_fetched_kubeconfig_only_server_and_authority_are_taken() -> None:
    made = kubeconfig(Names("theirs", SUBSCRIPTION, "eastus"), *endpoint(base64.b64encode(FETCHED.encode()).decode()))

    assert json.loads(made)["clusters"][0]["cluster"] == {
        "server": "https://theirs.example.com:443",
        "certificate-authority-data": "QQ==",
    }
    assert "not-to-be-kept" not in made


def test_a_kubeconfig_asks_kubelogin_each_time() -> None:
    user = json.loads(kubeconfig(Names("theirs", SUBSCRIPTION, "eastus"), "https://theirs.example.com", "QQ=="))[
        "users"
    ][0]

    assert list(user["user"]) == ["exec"]
    assert user["user"]["exec"]["command"] == "kubelogin"
    assert user["user"]["exec"]["args"] == [
        "get-token",
        "--login",
        "azurecli",
        "--server-id",
        "6dae42f8-4368-4678-94ff-3960e28e3630",
    ]
