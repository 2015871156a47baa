"""An environment on somebody else's cluster, as it would be registered with the engine."""

import json
from typing import Any

import pulumi
import pytest

from spotproof.clouds.contract import Cluster
from spotproof.clouds.existing.environment import ExistingEnvironment, person
from spotproof.clouds.existing.names import checkpoint_store, cluster_identifier
from spotproof.manifests.fallback_policy import crd
from spotproof.preview.errors import ProgramError
from spotproof.preview.model import Capture, Mode, Secret
from spotproof.preview.run import Configuration, Target, capture
from spotproof.settings.existing import Existing
from tests.stacks.runs import ROOT, preview_settings
from tests.unit.clouds.programs import build, cluster_of, dig, environment, of, only, run, waits_for
from tests.unit.manifests.crds import errors, schema_of

PROVIDER: dict[str, Any] = {"cloud": "existing", "context": "kind-kind"}
FULL: dict[str, Any] = {
    "provider": PROVIDER,
    "pools": [
        {
            "name": "t4-spot",
            "capacity": "spot",
            "maxNodes": 4,
            "accelerator": {"type": "nvidia-t4", "count": 1},
            "nodeLabels": {"group": "t4-spot", "disk": "ssd"},
            "taints": [{"key": "reclaimed", "value": "soon"}, {"key": "nvidia.com/gpu", "effect": "NoExecute"}],
        },
        {
            "name": "t4",
            "capacity": "on-demand",
            "maxNodes": 4,
            "accelerator": {"type": "nvidia-t4", "count": 1},
            "nodeLabels": {"group": "t4", "disk": "ssd"},
            "taints": [],
        },
        {"name": "cpu-spot", "capacity": "spot", "maxNodes": 4},
    ],
    "checkpoints": {"uri": "s3://team/lab", "secret": "store", "serviceAccountAnnotations": {"role": "trainer"}},
    "workspaces": [{"namespace": "research", "members": ["user:ada", "group:research"]}, {"namespace": "speech"}],
    "fallbackPolicies": [{"name": "standard", "tiers": [{"pool": "t4-spot"}, {"pool": "t4"}]}],
}


def with_provider(**changes: object) -> dict[str, Any]:
    return {**FULL, "provider": PROVIDER | changes}


def cluster() -> Cluster:
    seen: list[Cluster] = []
    cluster_of(FULL, seen.append)
    return seen[0]


def run_with_a_secret(raw: dict[str, Any], mode: Mode) -> Capture:
    values = {"spotproof:environment": json.dumps(raw), "spotproof:kubeconfig": "apiVersion: v1"}
    configuration = Configuration(values, frozenset({"spotproof:kubeconfig"}))
    return capture(ROOT / "infra", Target("spotproof", "lab", root=ROOT, configuration=configuration), mode)


def test_without_a_kubeconfig_the_provider_process_looks_where_kubectl_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/one:/two")

    inputs = only(build(FULL), "kubernetes").inputs

    assert inputs["kubeconfig"] == ""
    assert inputs["context"] == "kind-kind"


def test_a_kubeconfig_by_path_is_handed_on() -> None:
    assert only(build(with_provider(kubeconfig="~/.kube/lab")), "kubernetes").inputs["kubeconfig"] == "~/.kube/lab"


@pytest.mark.parametrize("mode", ["unknown", "known"])
def test_an_encrypted_kubeconfig_stays_secret(mode: Mode) -> None:
    inputs = only(run_with_a_secret(FULL, mode), "kubernetes").inputs

    assert isinstance(inputs["kubeconfig"], Secret)
    assert inputs["context"] == "kind-kind"


def test_two_kubeconfigs_stop_the_program_too() -> None:
    with pytest.raises(ProgramError, match="one of the two would silently win") as stopped:
        run_with_a_secret(with_provider(kubeconfig="~/.kube/lab"), "unknown")

    assert "Traceback" not in str(stopped.value)


def test_a_kubeconfig_from_the_same_program_is_secret_whoever_hands_it_over() -> None:
    def program() -> None:
        made = pulumi.Output.from_input("apiVersion: v1")
        ExistingEnvironment("lab", {"environment": environment(FULL), "kubeconfig": made})

    assert isinstance(only(run(program), "kubernetes").inputs["kubeconfig"], Secret)


def test_the_cluster_is_called_for_good_by_its_name_and_by_its_context_without_one() -> None:
    assert only(build(FULL), "kubernetes").inputs["clusterIdentifier"] == "existing/kind-kind"
    named = [Existing(cloud="existing", context=context, cluster_name="lab") for context in ("kind-kind", "renamed")]
    assert {cluster_identifier(one) for one in named} == {"existing/lab"}


def test_workspaces_are_made_after_the_operators_and_go_before_them() -> None:
    seen = build(FULL)
    releases = of(seen, "Release")

    assert len(of(seen, "Namespace")) == 2
    assert {str(one.inputs["name"]) for one in releases} == {"jobset", "kuberay-operator", "nvidia-device-plugin"}
    for release in releases:
        assert release.deleted_with == ""
        assert all(waits_for(seen, namespace, release) for namespace in of(seen, "Namespace"))
        assert not any(waits_for(seen, release, namespace) for namespace in of(seen, "Namespace"))
    for account in of(seen, "ServiceAccount"):
        assert any(waits_for(seen, account, namespace) for namespace in of(seen, "Namespace"))


def test_workspaces_are_made_too_where_all_operators_are_somebody_elses() -> None:
    theirs = {key: {"mode": "existing"} for key in ("jobset", "kuberay", "gpuPlugin")}

    assert len(of(build({**FULL, "operators": theirs}), "Namespace")) == 2


def test_tiers_carry_the_labels_and_taints_that_nodes_have() -> None:
    policy = only(build(FULL), "FallbackPolicy")
    tiers = dig(policy.inputs, "spec", "tiers")

    assert [tier["nodeSelector"] for tier in tiers] == [
        {"group": "t4-spot", "disk": "ssd"},
        {"group": "t4", "disk": "ssd"},
    ]
    assert [tier["tolerations"] for tier in tiers] == [
        [
            {"key": "reclaimed", "operator": "Equal", "value": "soon", "effect": "NoSchedule"},
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"},
        ],
        [],
    ]
    manifest = {"apiVersion": "spotproof.dev/v1alpha1", "kind": "FallbackPolicy", **policy.inputs}
    assert errors(schema_of(crd()), manifest) == []


SPOT_LABELS = {
    "spotproof.dev/capacity",
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-provisioning",
    "kubernetes.azure.com/scalesetpriority",
}


@pytest.mark.parametrize(("chart", "path"), [("jobset", ("controller",)), ("kuberay-operator", ())])
def test_operators_keep_off_spot_by_every_label_that_means_it_and_by_the_pools_own(
    chart: str, path: tuple[str]
) -> None:
    (release,) = (one for one in of(build(FULL), "Release") if one.inputs["name"] == chart)
    pods = dig(release.inputs, "values", *path)
    required = pods["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = required["nodeSelectorTerms"]
    off = {one["key"]: one["values"] for one in term["matchExpressions"]}

    assert {one["operator"] for one in term["matchExpressions"]} == {"NotIn"}
    assert set(off) == {*SPOT_LABELS, "group", "spotproof.dev/pool"}
    assert (off["group"], off["spotproof.dev/pool"]) == (["t4-spot"], ["cpu-spot"])
    assert "podAntiAffinity" in pods["affinity"]
    assert pods["nodeSelector"] == {}


def test_the_gpu_plugin_follows_the_nodes_own_labels_and_taints() -> None:
    (release,) = (one for one in of(build(FULL), "Release") if one.inputs["name"] == "nvidia-device-plugin")
    values = dig(release.inputs, "values")
    terms = values["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    assert [{one["key"]: one["values"] for one in term["matchExpressions"]} for term in terms] == [
        {"group": ["t4"], "disk": ["ssd"]},
        {"group": ["t4-spot"], "disk": ["ssd"]},
    ]
    assert {"key": "reclaimed", "operator": "Equal", "value": "soon", "effect": "NoSchedule"} in values["tolerations"]


def test_a_pod_gets_the_tolerations_of_a_pool_with_taints_of_its_own() -> None:
    policies = {dig(one.inputs, "metadata", "name"): one.inputs for one in of(build(FULL), "MutatingAdmissionPolicy")}
    variables = {one["name"]: one["expression"] for one in dig(policies["spotproof-pool-t4-spot"], "spec", "variables")}

    assert json.loads(variables["labels"]) == {"group": "t4-spot", "disk": "ssd"}
    assert [one["key"] for one in json.loads(variables["wanted"])] == ["reclaimed", "nvidia.com/gpu"]
    assert set(policies) == {"spotproof-spot-tolerations", "spotproof-gpu-toleration", "spotproof-pool-t4-spot"}
    general = dig(policies["spotproof-spot-tolerations"], "spec", "variables")
    assert '"spotproof.dev/pool": ["cpu-spot"]' in general[0]["expression"]


def test_members_are_bound_as_users_and_groups_and_the_account_carries_the_stores_identity() -> None:
    seen = build(FULL)
    (binding,) = (one for one in of(seen, "RoleBinding") if "spotproof-members" in one.name)

    assert [(one["kind"], one["name"]) for one in dig(binding.inputs, "subjects")] == [
        ("User", "ada"),
        ("Group", "research"),
    ]
    assert {json.dumps(dig(one.inputs, "metadata", "annotations")) for one in of(seen, "ServiceAccount")} == {
        '{"role": "trainer"}'
    }


def test_somebody_who_is_neither_a_user_nor_a_group_is_nobody() -> None:
    with pytest.raises(ValueError, match="neither"):
        person("ada")


STORES = [
    ({"uri": "s3://team/lab", "secret": "keys"}, ("s3://team/lab", "keys", None)),
    ({"uri": "gs://team"}, ("gs://team", None, None)),
    ({"uri": "abfss://team@lab.example"}, ("abfss://team@lab.example", None, None)),
    ({"uri": "pvc://claim"}, ("file:///checkpoints", None, "claim")),
    ({"uri": "pvc://claim/of/ours"}, ("file:///checkpoints/of/ours", None, "claim")),
]


@pytest.mark.parametrize(("settings", "wanted"), STORES)
def test_the_store_is_the_settings_and_a_claim_is_where_pods_have_it_mounted(
    settings: dict[str, str], wanted: tuple[str, str | None, str | None]
) -> None:
    store = checkpoint_store("lab", environment({**FULL, "checkpoints": settings}))

    assert (store.uri, store.secret, store.volume_claim) == wanted


@pytest.mark.parametrize(
    ("settings", "is_known"),
    [
        ({"uri": "s3://team"}, False),
        ({"uri": "s3://team", "secret": "keys"}, True),
        ({"uri": "s3://team", "serviceAccountAnnotations": {"role": "trainer"}}, True),
        ({"uri": "pvc://claim"}, True),
    ],
)
def test_how_pods_get_into_a_store_is_known_by_secret_identity_or_claim(
    settings: dict[str, object], *, is_known: bool
) -> None:
    store = checkpoint_store("lab", environment({**FULL, "checkpoints": settings}))
    assert store.way_in_is_known is is_known


def test_the_cluster_outlives_the_stack_and_brings_nothing() -> None:
    found = cluster()

    assert found.lifetime is None
    assert found.provides == frozenset()
    assert found.exports["configureKubectl"] == "kubectl config use-context kind-kind"


def test_a_full_environment_is_clean_in_both_modes() -> None:
    preview = preview_settings(FULL, "lab")

    assert [*preview.lint, *preview.policies] == []
    assert preview.capture.invokes == ()
