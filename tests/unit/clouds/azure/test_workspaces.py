"""Workspaces on Azure: who gets in, what their pods may touch, and what goes before them."""

from tests.unit.clouds.azure.seen import GROUP, assigned, full
from tests.unit.clouds.programs import build, dig, of, only, waits_for
from tests.unit.settings.azure.samples import (
    FULL,
    RESEARCHERS,
)


def test_members_are_bound_in_their_namespaces_by_the_groups_object_id() -> None:
    bindings = [one for one in of(full(), "RoleBinding") if "members" in one.name]

    assert len(bindings) == 2
    for one in bindings:
        subject = dig(one.inputs, "subjects", 0)
        assert (subject["kind"], subject["name"]) == ("Group", RESEARCHERS)


def test_workspaces_go_first_and_operators_last() -> None:
    seen = full()

    for namespace in of(seen, "Namespace"):
        assert all(waits_for(seen, namespace, pool) for pool in of(seen, "NodePool"))
        assert not namespace.deleted_with
    assert {release.deleted_with for release in of(seen, "Release")} == {only(seen, "ManagedCluster").urn}


def test_a_workspace_has_an_identity_whose_rights_end_at_its_container() -> None:
    seen = full()
    roles = {one.inputs["scope"]: one for one in assigned(seen, "blob contributor")}
    account = only(seen, "StorageAccount").inputs["accountName"]

    assert set(roles) == {
        f"{GROUP}/providers/Microsoft.Storage/storageAccounts/{account}/blobServices/default/containers/{container}"
        for container in ("research", "speech")
    }
    for scope, role in roles.items():
        (container,) = (
            one for one in of(seen, "BlobContainer") if str(scope).endswith(f"/{one.inputs['containerName']}")
        )
        assert waits_for(seen, role, container)


def test_its_service_account_trusts_that_identity_and_pods_are_told_of_the_label() -> None:
    seen = build(FULL, mode="known")
    accounts = {dig(one.inputs, "metadata", "namespace"): one for one in of(seen, "ServiceAccount")}
    identities = {one.outputs["clientId"]: one for one in of(seen, "UserAssignedIdentity")}

    assert set(accounts) == {"research", "speech"}
    for namespace, account in accounts.items():
        annotation = dig(account.inputs, "metadata", "annotations", "azure.workload.identity/client-id")
        assert namespace in identities[annotation].name
    subjects = {one.inputs["subject"] for one in of(seen, "FederatedIdentityCredential")}
    assert subjects == {f"system:serviceaccount:{namespace}:trainer" for namespace in accounts}
