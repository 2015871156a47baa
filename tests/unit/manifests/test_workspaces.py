from collections.abc import Callable
from typing import Any

from spotproof.manifests.fallback_policy import aggregate_roles
from spotproof.manifests.rbac import subject
from spotproof.manifests.workspaces import administrators, members_group, workspace
from spotproof.vocabulary import WORKSPACE_LABEL
from tests.unit.manifests.samples import environment

(RESEARCH,) = environment(
    workspaces=[{"namespace": "research", "members": ["arn:aws:iam::123456789012:role/Research"]}]
).workspaces
MEMBERS = [subject("Group", members_group("research"))]


def objects(**changes: Any) -> dict[str, Any]:
    return {f"{each['kind']} {name(each)}": each for each in workspace(RESEARCH, MEMBERS, **changes)}


def name(manifest: Any) -> str:
    return manifest["metadata"]["name"]


def test_a_workspace_is_as_reviewed(golden: Callable[[str, object], None]) -> None:
    golden("manifests/workspace.yaml", workspace(RESEARCH, MEMBERS))


def test_admission_policies_know_the_namespace_and_its_pods_are_kept_off_the_host() -> None:
    labels = objects()["Namespace research"]["metadata"]["labels"]
    assert labels[WORKSPACE_LABEL] == "research"
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"


def test_an_identity_bound_by_annotation_is_on_the_service_account() -> None:
    account = objects(annotations={"iam.gke.io/gcp-service-account": "x@y"})["ServiceAccount trainer"]
    assert account["metadata"]["annotations"] == {"iam.gke.io/gcp-service-account": "x@y"}
    assert "annotations" not in objects()["ServiceAccount trainer"]["metadata"]


def test_a_trainer_may_report_its_progress_and_nothing_else() -> None:
    (rule,) = objects()["Role spotproof-trainer"]["rules"]
    assert rule == {"apiGroups": ["spotproof.dev"], "resources": ["trainingruns"], "verbs": ["get", "patch"]}
    assert objects()["ServiceAccount trainer"]["automountServiceAccountToken"] is False


def test_members_edit_their_namespace_and_read_policies_everywhere() -> None:
    people = {
        each["roleRef"]["name"]: (each["kind"], meta(each).get("namespace"))
        for each in objects().values()
        if "roleRef" in each and each["subjects"][0]["name"] == members_group("research")
    }
    assert people == {
        "edit": ("RoleBinding", "research"),
        "spotproof-fallback-policy-reader": ("ClusterRoleBinding", None),
    }


def test_every_role_that_is_bound_is_made_or_kubernetes_own() -> None:
    made = {name(role) for role in aggregate_roles()} | {"spotproof-trainer", "edit"}
    assert {each["roleRef"]["name"] for each in objects().values() if "roleRef" in each} <= made


def test_no_two_workspaces_share_a_cluster_wide_name() -> None:
    both = environment(workspaces=[{"namespace": "a"}, {"namespace": "b"}]).workspaces
    wide = [[name(each) for each in workspace(one, MEMBERS) if "namespace" not in meta(each)] for one in both]
    assert not set(wide[0]) & set(wide[1])


def test_a_workspace_without_members_binds_nobody() -> None:
    assert {each["kind"] for each in workspace(RESEARCH)} == {"Namespace", "ServiceAccount", "Role", "RoleBinding"}


def test_administrators_are_bound_to_kubernetes_own_role() -> None:
    made: list[Any] = [*administrators([subject("User", "ada@example.com")])]

    assert [(one["kind"], one["roleRef"]["name"]) for one in made] == [("ClusterRoleBinding", "cluster-admin")]
    assert administrators([]) == []


def meta(manifest: Any) -> dict[str, Any]:
    return manifest["metadata"]
