from operator import attrgetter
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from spotproof.clouds.objects import TYPED, apply, object_name
from spotproof.manifests import admission, fallback_policy
from spotproof.manifests.rbac import subject
from spotproof.manifests.workspaces import workspace
from spotproof.settings.environment import Workspace
from spotproof.vocabulary import Manifest
from tests.unit.clouds.programs import SMALLEST, environment, run

MANIFESTS: list[Manifest] = [
    fallback_policy.crd(),
    *fallback_policy.aggregate_roles(),
    *admission.spot_tolerations(environment(SMALLEST)),
    *workspace(Workspace(namespace="research", members=())),
    {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "cpu"},
        "spec": {"limits": {"nodes": 1}, "template": {"spec": {"expireAfter": "Never"}}},
    },
]


def wire(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key.replace("x-kubernetes-", "x_kubernetes_").replace("-", "_") if key.startswith("x-kub") else key: wire(
                part
            )
            for key, part in value.items()
        }
    return [wire(part) for part in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda one: object_name("", one))
def test_an_object_arrives_as_it_was_written(manifest: Manifest) -> None:
    def program() -> None:
        provider = k8s.Provider("provider", kubeconfig="{}")
        apply(object_name("dev", manifest), manifest, pulumi.ResourceOptions(provider=provider))

    (made,) = (one for one in run(program).resources if one.type.startswith("kubernetes:"))

    expected = wire(manifest) if manifest["kind"] == "CustomResourceDefinition" else manifest
    assert {key: made.inputs[key] for key in expected} == expected
    assert made.type.endswith(f":{manifest['kind']}")


def test_the_table_names_classes_that_are_there() -> None:
    for (version, kind), path in TYPED.items():
        token = attrgetter(path)(k8s).pulumi_type
        assert token == f"kubernetes:{'core/' if version == 'v1' else ''}{version}:{kind}"


def test_objects_of_two_namespaces_have_two_names() -> None:
    names = {
        object_name("dev", one)
        for namespace in ("research", "speech")
        for one in workspace(Workspace(namespace=namespace, members=()), [subject("Group", namespace)])
    }

    assert len(names) == 12
