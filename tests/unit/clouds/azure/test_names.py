import re
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof.clouds.azure.names import Names, agent_pool, checkpoint_store, cluster_name, container_uri
from spotproof.settings import load_environment
from tests.unit.settings.azure.samples import FULL, SUBSCRIPTION, TODAY

REGIONS = ("eastus", "westeurope", "germanywestcentral", "australiasoutheast")
stacks = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", min_size=1, max_size=100)
pool_names = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)

LIMITED: dict[str, tuple[Callable[[Names], str], int, str]] = {
    # Azure's naming rules: length and alphabet of each kind
    "resource group": (lambda names: names.resource_group, 90, r"[\w().-]*[\w()-]"),
    "node resource group": (lambda names: names.node_resource_group, 80, r"[\w().-]*[\w()-]"),
    "cluster": (lambda names: names.cluster, 54, r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"),
    "network": (lambda names: names.network, 64, r"[a-z0-9][\w.-]*\w"),
    "NAT gateway": (lambda names: names.part("nat"), 80, r"[a-z0-9][\w.-]*\w"),
    "identity": (lambda names: names.identity("workspace-" + "n" * 40), 128, r"[a-z0-9][\w-]{2,}"),
    "credential": (lambda names: names.credential("n" * 40, "s" * 63), 120, r"[a-z0-9][\w-]{2,}"),
    "log workspace": (lambda names: names.log_workspace, 63, r"[A-Za-z0-9][A-Za-z0-9-]{2,}[A-Za-z0-9]"),
    "log rule": (lambda names: names.log_rule, 64, r"[a-z0-9][\w.-]{2,}"),
    "storage account": (lambda names: names.account, 24, r"[a-z0-9]{3,}"),
}
OF_THE_STACK = sorted(set(LIMITED) - {"credential"})
"""A credential belongs to an identity, whose name holds the stack's."""


@pytest.mark.parametrize("what", LIMITED)
@given(stack=stacks, region=st.sampled_from(REGIONS))
def test_every_name_is_within_its_limit_and_alphabet(what: str, stack: str, region: str) -> None:
    name, limit, pattern = LIMITED[what]
    made = name(Names(cluster_name(stack), SUBSCRIPTION, region))

    assert len(made) <= limit
    assert re.fullmatch(pattern, made, re.ASCII)


@pytest.mark.parametrize("what", OF_THE_STACK)
@given(one=stacks, other=stacks)
def test_two_stacks_of_one_subscription_and_region_share_no_name(what: str, one: str, other: str) -> None:
    name = LIMITED[what][0]
    names = [name(Names(cluster_name(stack), SUBSCRIPTION, "eastus")) for stack in (one, other)]

    assert (names[0] == names[1]) == (one == other)


def test_one_stack_name_in_two_regions_or_subscriptions_has_two_groups_and_accounts() -> None:
    other = SUBSCRIPTION.replace("1", "2")
    places = [(SUBSCRIPTION, "eastus"), (SUBSCRIPTION, "westus"), (other, "eastus")]
    all_names = [Names(cluster_name("x" * 80), *place) for place in places]

    assert len({names.account for names in all_names}) == 3
    assert len({names.group_id for names in all_names}) == 3
    assert all(names.resource_group for names in all_names)


@given(names=st.lists(pool_names, min_size=2, max_size=30, unique=True))
def test_aks_names_of_pools_are_short_and_differ(names: list[str]) -> None:
    made = [agent_pool(name) for name in names]

    assert all(re.fullmatch(r"[a-z][a-z0-9]{0,11}", name) for name in made)
    assert len(set(made)) == len(made)
    assert "system" not in made


@pytest.mark.parametrize("pool", ["t4", "a100spot", "cpu", "twelveletter"])
def test_a_short_name_is_kept(pool: str) -> None:
    assert agent_pool(pool) == pool


@pytest.mark.parametrize(
    ("pool", "beginning"),
    [("a100-spot", "a100sp"), ("1gpu", "gpu"), ("123", "p"), ("system", "system"), ("thirteenletter", "thirte")],
)
def test_any_other_is_shortened_and_marked(pool: str, beginning: str) -> None:
    assert re.fullmatch(rf"{beginning}[0-9a-f]{{6}}", agent_pool(pool))


def test_a_role_assignment_has_a_guid_that_is_its_own_and_never_changes() -> None:
    names = Names("theirs", SUBSCRIPTION, "eastus")
    made = [names.assignment(scope, role, whom) for scope in "ab" for role in "ab" for whom in "ab"]

    assert len(set(made)) == 8
    assert all(str(UUID(one)) == one for one in made)
    assert names.assignment("a", "b", "c") == "9d8a4c30-e985-57b6-9e24-40213e123949"


def test_ids_are_whole() -> None:
    names = Names("theirs", SUBSCRIPTION, "eastus", "group")
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/group"

    assert names.subnet_id == f"{group}/providers/Microsoft.Network/virtualNetworks/theirs/subnets/nodes"
    assert names.container_id("account", "research") == (
        f"{group}/providers/Microsoft.Storage/storageAccounts/account/blobServices/default/containers/research"
    )


def test_every_workspace_saves_in_a_container_of_its_own_that_pods_reach_by_a_label_and_never_as_nobody() -> None:
    store = checkpoint_store("prod", load_environment(FULL, today=TODAY))
    account = Names(cluster_name("prod"), SUBSCRIPTION, "eastus").account

    assert store.prefix("research") == container_uri(account, "research")
    assert store.prefix("research") == f"abfss://research@{account}.dfs.core.windows.net"
    assert store.uri == f"https://{account}.blob.core.windows.net"
    assert store.pod_labels == {"azure.workload.identity/use": "true"}
    assert store.pod_env == {"AZURE_STORAGE_ANON": "false"}
