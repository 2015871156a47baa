from typing import Any

import pytest

from spotproof.preview.model import Capture, Resource
from spotproof.settings.operators import EXAMPLE_IMAGE
from spotproof.vocabulary import PROBE_IMAGE, SYSTEM_NAMESPACE
from tests.unit.clouds.programs import FULL, SMALLEST, build, dig, of, only, waits_for

INSTALL: dict[str, Any] = {"operators": {"fallback": {"mode": "install", "image": EXAMPLE_IMAGE}}}


def installed(**changes: Any) -> Capture:
    return build({**FULL, **INSTALL, **changes})


def below(seen: Capture, component: str) -> list[Resource]:
    parent = only(seen, component)
    return [each for each in seen.resources if each.parent == parent.urn]


def name(resource: Resource) -> str:
    return dig(resource.inputs, "metadata", "name")


SEEN = installed()
PARTS = below(SEEN, "FallbackController")
DEPLOYMENT = only(SEEN, "Deployment")


def test_it_installs_its_kind_its_admission_policies_and_itself() -> None:
    kinds = [(each.type.rpartition(":")[2], name(each)) for each in PARTS]

    assert ("CustomResourceDefinition", "trainingruns.spotproof.dev") in kinds
    assert {each for kind, each in kinds if kind == "ValidatingAdmissionPolicy"} == {
        "spotproof-progress", "spotproof-nodeclaims", "spotproof-jobsets", "spotproof-rayjobs", "spotproof-batch-jobs",
        "spotproof-jobsets-checkpoints", "spotproof-rayjobs-checkpoints",
    }  # fmt: skip
    assert {"Namespace", "PriorityClass", "Deployment", "PodDisruptionBudget"} <= {kind for kind, _ in kinds}


def test_every_object_has_one_owner() -> None:
    objects = [
        (each.type, dig(each.inputs, "metadata").get("namespace"), name(each))
        for each in SEEN.resources
        if each.type.startswith("kubernetes:") and isinstance(each.inputs.get("metadata"), dict)
    ]

    assert len(objects) == len(set(objects))


def test_the_process_starts_when_everything_else_of_it_is_there_and_goes_before_it() -> None:
    others = [each for each in PARTS if each is not DEPLOYMENT]

    assert [name(each) for each in others if not waits_for(SEEN, DEPLOYMENT, each)] == []


def test_it_runs_on_the_nodes_for_operators_and_goes_with_the_cluster() -> None:
    spec = dig(DEPLOYMENT.inputs, "spec", "template", "spec")

    assert spec["nodeSelector"] == {"spotproof.dev/system": "true"}
    assert {each.deleted_with for each in PARTS} == {only(SEEN, "Cluster").urn}


def image(seen: Capture) -> str:
    (container,) = dig(only(seen, "Deployment").inputs, "spec", "template", "spec", "containers")
    return container["image"]


def test_its_image_is_that_of_the_settings_or_the_same_digest_from_the_mirror() -> None:
    assert image(SEEN) == EXAMPLE_IMAGE
    assert image(installed(imageRegistry="mirror.example.org")) == f"mirror.example.org/{EXAMPLE_IMAGE}"


def test_its_probes_run_an_image_by_digest_from_the_mirror_where_there_is_one() -> None:
    def probes(seen: Capture) -> str:
        (container,) = dig(only(seen, "Deployment").inputs, "spec", "template", "spec", "containers")
        (word,) = (each for each in container["args"] if each.startswith("--probe-image="))
        return word.partition("=")[2]

    assert probes(SEEN) == PROBE_IMAGE
    assert "@sha256:" in PROBE_IMAGE
    assert probes(installed(imageRegistry="mirror.example.org")) == f"mirror.example.org/{PROBE_IMAGE}"


def may_here(seen: Capture) -> set[str]:
    """Workspaces in which the controller has its rights."""
    bindings = [each.inputs for each in of(seen, "RoleBinding") if name(each) == "spotproof-controller"]
    assert {dig(each, "subjects", 0, "namespace") for each in bindings} <= {SYSTEM_NAMESPACE}
    return {dig(each, "metadata", "namespace") for each in bindings} - {SYSTEM_NAMESPACE}


@pytest.mark.parametrize("mode", ["existing", "off"])
def test_one_that_is_not_to_be_installed_is_not(mode: str) -> None:
    seen = build({**FULL, "operators": {"fallback": {"mode": mode}}})

    assert of(seen, "Deployment") == of(seen, "ValidatingAdmissionPolicy") == of(seen, "FallbackController") == []
    assert may_here(seen) == ({"research", "speech"} if mode == "existing" else set())


def test_it_may_move_the_jobs_of_every_workspace() -> None:
    assert may_here(SEEN) == {"research", "speech"}


def test_the_kind_of_policies_stays_with_the_policies() -> None:
    for seen in (SEEN, build(SMALLEST)):
        kinds = {name(each) for each in of(seen, "CustomResourceDefinition")}
        assert "fallbackpolicies.spotproof.dev" in kinds
        assert ("trainingruns.spotproof.dev" in kinds) == (seen is SEEN)
