"""Every stack file: clean in both modes, its resources as in the golden list, its documents known before `up`."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from spotproof.preview.model import UNKNOWN, Preview, Resource, Secret
from spotproof.preview.report_tree import write
from spotproof.preview.schemas import check_objects, schemas_in
from spotproof.settings import load_environment
from spotproof.settings.operators import EXAMPLE_IMAGE
from tests.stacks.runs import ROOT, STACKS, preview_of, preview_settings, settings_of
from tests.unit.manifests.crds import read_crd

AWS_STACKS = [stack for stack in STACKS if stack.startswith("aws-")]
POOL = "kubernetes:karpenter.sh/v1:NodePool"
SMALLEST = {"provider": {"cloud": "aws", "region": "us-west-2", "accountId": "123456789012"}, "spot": True}


def of_type(preview: Preview, token: str) -> list[Resource]:
    return [resource for resource in preview.capture.resources if resource.type == token]


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_has_no_finding_and_no_violation_in_either_mode(stack: str) -> None:
    preview = preview_of(stack)

    assert preview.modes == ("unknown", "known")
    assert [*preview.lint, *preview.policies] == []


@pytest.mark.parametrize("stack", STACKS)
def test_a_stacks_resources_are_those_of_the_golden_list(stack: str, golden: Callable[[str, object], None]) -> None:
    urns = [resource.urn for resource in preview_of(stack).capture.resources]

    golden(f"stacks/{stack}.urns.txt", "\n".join(urns) + "\n")


def test_what_a_stack_costs_in_the_readme_is_what_its_preview_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    environment = load_environment(settings_of("aws-dev"), today=date(2026, 11, 25))
    shown = io.StringIO()
    write([replace(preview_of("aws-dev"), quotas=tuple(environment.provider.quotas(environment)))], shown)
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("What the first one prints")[2].split("```")[1]
    _, end = text.split("\n126 ")

    assert "\n".join(line.rstrip() for line in shown.getvalue().splitlines()).endswith("\n126 " + end.rstrip())


def crds_of(stack: str, shared: Path) -> list[Path]:
    """All of them, of Karpenter's the ones of the stack's own cloud: each provider narrows the NodePool its own way."""
    own = shared / "crds" / f"karpenter-provider-{stack.partition('-')[0]}"
    karpenter = own.name if own.is_dir() else "karpenter-core"
    found = sorted((shared / "crds").glob("*/*.yaml"))
    return [path for path in found if path.parent.name == karpenter or not path.parent.name.startswith("karpenter")]


@pytest.mark.parametrize("stack", STACKS)
def test_every_kubernetes_object_fits_the_published_schema_of_its_kind(stack: str, shared: Path) -> None:
    known = schemas_in([read_crd(path) for path in crds_of(stack, shared)])
    assert ("karpenter.sh/v1", "NodePool") in known
    assert check_objects(preview_of(stack).capture, known) == []


DOCUMENTS = {
    "aws:iam/policy:Policy": "policy",
    "aws:iam/role:Role": "assumeRolePolicy",
    "aws:iam/rolePolicy:RolePolicy": "policy",
    "aws:sqs/queuePolicy:QueuePolicy": "policy",
    "aws:s3/bucketPolicy:BucketPolicy": "policy",
    "aws:kms/key:Key": "policy",
}


def documents(preview: Preview) -> Iterator[tuple[str, object]]:
    for kind, key in DOCUMENTS.items():
        for resource in of_type(preview, kind):
            if kind != "aws:kms/key:Key" or key in resource.inputs:  # a key without one has AWS's default policy
                yield resource.name, resource.inputs.get(key)


@pytest.mark.parametrize("stack", AWS_STACKS)
def test_every_iam_document_is_a_plain_string_at_the_first_preview(stack: str) -> None:
    found = dict(documents(preview_of(stack)))

    assert len(found) > 10 or not stack.startswith("aws-")  # elsewhere rights are bound by name, not written out
    assert all(isinstance(json.loads(text), dict) for text in found.values() if isinstance(text, str))
    assert [name for name, text in found.items() if not isinstance(text, str)] == []


@pytest.mark.parametrize("stack", AWS_STACKS)
def test_no_policy_document_is_longer_than_iam_takes(stack: str) -> None:
    # a managed policy holds 6,144 characters, white space not counted (IAM quotas)
    lengths = {name: len("".join(str(text).split())) for name, text in documents(preview_of(stack))}

    assert max(lengths.values(), default=0) <= 6144


LIMITS = {
    "aws:iam/role:Role": ("name", 64),
    "aws:iam/policy:Policy": ("name", 128),
    "aws:sqs/queue:Queue": ("name", 80),
    "aws:s3/bucket:Bucket": ("bucket", 63),
    "aws:eks/cluster:Cluster": ("name", 100),
    "aws:eks/nodeGroup:NodeGroup": ("nodeGroupName", 63),
    "aws:cloudwatch/eventRule:EventRule": ("name", 64),
    "aws:cloudwatch/logGroup:LogGroup": ("name", 512),
    "aws:ec2/launchTemplate:LaunchTemplate": ("name", 128),
}


def names(preview: Preview) -> set[tuple[str, object]]:
    return {
        (kind, resource.inputs.get(key)) for kind, (key, _) in LIMITS.items() for resource in of_type(preview, kind)
    }


@pytest.mark.parametrize("stack", ["test", "a-stack-name-of-the-longest-kind-" + "x" * 66])
def test_every_name_is_known_and_within_its_limit(stack: str) -> None:
    found = names(preview_settings(SMALLEST, stack, modes=("unknown",)))

    assert {kind for kind, _ in found} == set(LIMITS)
    assert [(kind, name) for kind, name in found if not isinstance(name, str) or len(name) > LIMITS[kind][1]] == []


def test_two_environments_of_one_account_and_region_share_nothing_but_the_service_linked_role() -> None:
    one, other = (preview_settings(settings_of("aws-prod"), stack, modes=("unknown",)) for stack in ("one", "other"))

    assert names(one) & names(other) == set()
    for token in ("aws:kms/alias:Alias",):
        assert {r.inputs["name"] for r in of_type(one, token)} & {
            r.inputs["name"] for r in of_type(other, token)
        } == set()
    assert of_type(one, "aws:iam/serviceLinkedRole:ServiceLinkedRole") == []
    assert {r.inputs.get("clusterIdentifier") for r in of_type(one, "pulumi:providers:kubernetes")}.isdisjoint(
        r.inputs.get("clusterIdentifier") for r in of_type(other, "pulumi:providers:kubernetes")
    )


def test_two_environments_whose_names_share_their_first_60_letters_still_differ() -> None:
    one, other = (preview_settings(SMALLEST, "x" * 80 + end, modes=("unknown",)) for end in ("a", "b"))

    assert names(one) & names(other) == set()


def test_the_one_flag_environment_is_clean_and_as_golden(golden: Callable[[str, object], None]) -> None:
    preview = preview_settings(SMALLEST)

    assert [*preview.lint, *preview.policies] == []
    pools = [resource.inputs for resource in of_type(preview, POOL)]
    policies = [resource.inputs for resource in of_type(preview, "kubernetes:spotproof.dev/v1alpha1:FallbackPolicy")]
    golden("stacks/one-flag.yaml", [*pools, *policies])


def test_determineds_fragment_becomes_its_pool(golden: Callable[[str, object], None]) -> None:
    fragment = {"name": "aws-spot-g4dn-metal", "capacity": "spot", "instanceTypes": ["g4dn.metal"], "maxNodes": 10}

    preview = preview_settings({"provider": SMALLEST["provider"], "pools": [fragment]})

    assert [*preview.lint, *preview.policies] == []
    kinds = (POOL, "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
    golden("stacks/determined.yaml", [r.inputs for kind in kinds for r in of_type(preview, kind)])


PROTECTED = {
    "aws-prod": {"aws:eks/cluster:Cluster", "aws:kms/key:Key", "aws:s3/bucket:Bucket"},
    "azure-prod": {
        "azure-native:containerservice:ManagedCluster",
        "azure-native:resources:ResourceGroup",
        "azure-native:storage:BlobContainer",
        "azure-native:storage:StorageAccount",
    },
    "gcp-prod": {"gcp:container/cluster:Cluster", "gcp:storage/bucket:Bucket"},
}


@pytest.mark.parametrize("stack", STACKS)
def test_everything_that_holds_data_is_protected_in_production_and_nothing_in_development(stack: str) -> None:
    protected = {r.type for r in preview_of(stack).capture.resources if r.protect}

    assert protected == PROTECTED.get(stack, set())


def test_below_1_36_the_admission_policy_is_not_rendered() -> None:
    older = preview_settings(settings_of("aws-dev") | {"kubernetesVersion": "1.35"})

    kinds = {resource.type.rpartition(":")[2] for resource in older.capture.resources}
    assert "MutatingAdmissionPolicy" not in kinds
    assert [*older.lint, *older.policies] == []


@pytest.mark.parametrize("operator", ["jobset", "kuberay", "gpuPlugin"])
def test_an_operator_that_somebody_else_keeps_is_not_installed_and_not_missed(operator: str) -> None:
    preview = preview_settings(settings_of("aws-dev") | {"operators": {operator: {"mode": "existing"}}})

    assert [*preview.lint, *preview.policies] == []
    charts = {resource.inputs["name"] for resource in of_type(preview, "kubernetes:helm.sh/v3:Release")}
    assert len(charts) == 4


INSTALLED = {"fallback": {"mode": "install", "image": EXAMPLE_IMAGE}}


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_with_the_fallback_controller_is_clean_and_gains_what_the_golden_list_says(
    stack: str, golden: Callable[[str, object], None]
) -> None:
    settings = settings_of(stack)
    with_it = preview_settings({**settings, "operators": {**settings.get("operators", {}), **INSTALLED}}, stack)

    assert [*with_it.lint, *with_it.policies] == []
    before = {resource.urn for resource in preview_of(stack).capture.resources}
    gained = [resource.urn for resource in with_it.capture.resources if resource.urn not in before]
    assert before <= {resource.urn for resource in with_it.capture.resources}
    golden(f"stacks/{stack}.controller.urns.txt", "\n".join(gained) + "\n")


def test_the_cloud_is_asked_for_nothing_but_the_spot_role_whose_answer_shapes_no_resource() -> None:
    preview = preview_of("aws-prod")

    assert preview.capture.invokes == ("aws:iam/getRoles:getRoles",)
    created = preview_settings(settings_of("aws-prod") | {"spotServiceLinkedRole": "create"}, modes=("unknown",))
    assert created.capture.invokes == ()


def leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def test_what_policies_judge_is_known_before_anything_exists() -> None:
    judged = [r for r in preview_of("aws-prod").capture.resources if r.type.startswith("kubernetes:karpenter")]

    assert judged
    assert UNKNOWN not in [leaf for resource in judged for leaf in leaves(resource.inputs)]


def test_the_kubeconfig_is_secret_and_runs_the_clouds_own_login() -> None:
    provider = of_type(preview_of("aws-prod"), "pulumi:providers:kubernetes")[0]

    assert isinstance(provider.inputs["kubeconfig"], Secret)
    assert (ROOT / "infra" / "__main__.py").read_text().count("\n") < 40
