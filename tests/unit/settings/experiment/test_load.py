"""Experiment files: what is accepted as written, and what is refused under which key with what to write instead."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof.settings import SettingsError, read_yaml
from spotproof.settings.experiment import workspace_of
from spotproof.settings.stack_file import parse_yaml
from tests.unit.settings.experiment.experiments import ROOT, asks, experiment, gpu, load, problems, ray, role, stack

DOCUMENT = """
spec:
  operator: {operator}
  image: registry.example.org/train:1
  command: "python3 -u train.py"
  restartPolicy:
    backoffLimit: 5
  types:
    {head}
    Worker:
      count: 2
      resources:
        cpus: 3
        ramRatio: 4
{fragment}
"""
EKS = """\
        extraSelectors:
          karpenter.sh/capacity-type: spot
"""
GKE = """\
        extraSelectors:
          cloud.google.com/gke-spot: "true"
          cloud.google.com/gke-provisioning: spot
        # on GKE, a toleration also has to be passed
        extraTolerations:
          - key: "cloud.google.com/gke-spot"
            operator: "Equal"
            value: "true"
            effect: "NoSchedule"
"""


def document(operator: str, fragment: str) -> object:
    head = "Head: {resources: {cpus: 1, ramRatio: 2}}" if operator == "kuberay" else ""
    return parse_yaml(DOCUMENT.format(operator=operator, head=head, fragment=fragment), "train.yaml")


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("fragment", [EKS, GKE], ids=["eks", "gke"])
@pytest.mark.parametrize("operator", ["jobset", "kuberay"])
def test_the_documents_fragments_are_accepted_as_they_stand(operator: str, fragment: str, *, beside: bool) -> None:
    text = fragment.replace("\n  ", "\n").removeprefix("  ") if beside else fragment

    landed = load(document(operator, text)).landed

    assert [landing.pool.name for landing in landed if landing.part.name == "worker"] == ["t4-spot"]


@pytest.mark.parametrize("operator", ["jax", "pytorch", "tf", "xgboost"])
def test_another_operator_is_refused_on_spot_for_the_documents_reason(operator: str) -> None:
    said = problems(document(operator, EKS))["spec.operator"]
    assert "supported by two operators, jobset and kuberay; the job would fail when the eviction happens" in said


def test_another_operator_is_refused_on_demand_as_not_rendered_here() -> None:
    assert "not rendered here" in problems(document("pytorch", ""))["spec.operator"]


def test_a_misspelt_operator_gets_its_name() -> None:
    assert "Write `operator: kuberay`" in problems(experiment(operator="kubray"))["spec.operator"]


# ruff: noqa: E501 - a table reads by its columns
WORKER = "spec.types.Worker"
REFUSED: list[tuple[object, str, str]] = [
    # the file, the key of the problem, a part of what it says
    ([], "the file", "Write `spec:`"),
    ({}, "spec", "is missing"),
    (experiment(restartpolicy={}), "spec.restartpolicy", "Write restartPolicy"),
    (experiment(command=" "), "spec.command", "is empty"),
    (experiment(command=[]), "spec.command", "is empty"),
    (experiment(types={}), "spec.types", "1 of them"),
    (experiment(role(count=0)), f"{WORKER}.count", "1 or more"),
    (experiment(role(cuont=2)), f"{WORKER}.cuont", "Write count"),
    (experiment({"count": 1}), f"{WORKER}.resources", "is missing"),
    (experiment(asks(memory=4)), f"{WORKER}.resources", "both ramRatio and memory"),
    (experiment(role(resources={"cpus": 2})), f"{WORKER}.resources", "neither ramRatio nor memory"),
    (experiment(asks(shmSizeGb=4)), f"{WORKER}.resources.shmSizeGb", "Write shmSizeGB"),
    (experiment(asks(shmSizeGB=9)), f"{WORKER}.resources.shmSizeGB", "more than the pod's 8 GiB"),
    (experiment(asks(extraSelectors={"cloud.google.com/gke-spot": True})), f'{WORKER}.resources.extraSelectors."cloud.google.com/gke-spot"', 'gke-spot: "true"`, in quotes'),
    (experiment(asks(extraTolerations=[{"key": "a", "operator": "Exists", "value": "b"}])), f"{WORKER}.resources.extraTolerations[0]", "Remove the value"),
    (experiment(asks(extraTolerations=[{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}])), f"{WORKER}.resources.extraTolerations[0].key", "short while"),
    (experiment(restartPolicy={"backoffLimit": -1}), "spec.restartPolicy.backoffLimit", "0 or more"),
    (experiment(pool="t4-sopt"), "spec.pool", "Write `pool: t4-spot`"),
    (experiment(role(pool="t4-sopt")), f"{WORKER}.pool", "Write `pool: t4-spot`"),
    (experiment(fallbackPolicy="standrad"), "spec.fallbackPolicy", "Write `fallbackPolicy: standard`"),
    (experiment(gpu(), fallbackPolicy="standard", pool="t4"), "spec.pool", "Keep one of them"),
    (experiment(role(pool="cpu"), fallbackPolicy="standard"), "spec.fallbackPolicy", "no role could move"),
    (experiment(types={"Worker": gpu(), "Loader": role(pool="t4")}, fallbackPolicy="standard"), "spec.types.Loader.pool", "a tier of fallback policy standard"),
    (experiment(role(extraSelectors={"karpenter.sh/capacity-type": "spot"}), pool="cpu"), f"{WORKER}.extraSelectors.karpenter.sh/capacity-type", "lands on cpu, which is on-demand"),
    (experiment(role(extraSelectors={"karpenter.sh/capacity-type": "reserved"})), f"{WORKER}.extraSelectors.karpenter.sh/capacity-type", 'Write "spot" or "on-demand"'),
    (experiment(role(extraSelectors={"karpenter.sh/capacity-type": "on-demand", "cloud.google.com/gke-spot": "true"})), f"{WORKER}.extraSelectors.cloud.google.com/gke-spot", "no node is both"),
    (experiment(role(extraSelectors={"spotproof.dev/pool": "t4"})), f"{WORKER}.extraSelectors.spotproof.dev/pool", "Write `pool: t4`"),
    (experiment(role(extraSelectors={"team.example.org/rack": "a"})), f"{WORKER}.extraSelectors.team.example.org/rack", "no node of this stack"),
    (experiment(role(extraSelectors={"topology.kubernetes.io/zone": "us-west-2z"})), f"{WORKER}.extraSelectors.topology.kubernetes.io/zone", "has us-west-2a or us-west-2b"),
    (experiment(role(extraSelectors={"node.kubernetes.io/instance-type": "m5.large"})), f"{WORKER}.extraSelectors.node.kubernetes.io/instance-type", "has m7i.2xlarge"),
    (experiment(role(extraSelectors={"topology.kubernetes.io/zone": "us-west-2a"}, resources={"cpus": 1, "ramRatio": 2, "extraSelectors": {"topology.kubernetes.io/zone": "us-west-2b"}})), f"{WORKER}.resources.extraSelectors.topology.kubernetes.io/zone", "a pod has one value"),
    (experiment(gpu(), pool="cpu"), f"{WORKER}.resources.accelerators.gpu.count", "have no GPU"),
    (experiment(gpu(count=2), pool="t4-spot"), f"{WORKER}.resources.accelerators.gpu.count", "Write `count: 1` or less"),
    (experiment(gpu(product="NVIDIA-A100-SXM4-80GB"), fallbackPolicy="standard"), f"{WORKER}.resources.accelerators.gpu.product", "pool t4-spot has nvidia-t4"),
    (experiment(gpu(product="Quadro-9000")), f"{WORKER}.resources.accelerators.gpu.product", "no GPU known here"),
    (experiment(gpu(type="mig-3g.40gb")), f"{WORKER}.resources.accelerators.gpu.type", "a slice of a GPU"),
    (experiment(gpu(type="nvidia-l4"), pool="t4-spot"), f"{WORKER}.resources.accelerators.gpu.type", "Write `type: nvidia-t4`"),
    (experiment(asks(cpus=8), pool="cpu"), f"{WORKER}.resources.cpus", "largest node of pool cpu has 7.91 for pods"),
    (experiment(asks(ramRatio=16), pool="cpu"), f"{WORKER}.resources.ramRatio", "comes to 32 GiB"),
    (experiment(role(resources={"cpus": 1, "memory": 40}), pool="cpu"), f"{WORKER}.resources.memory", "comes to 40 GiB"),
    (experiment(gpu(product="A100")), WORKER, "no on-demand pool of this stack has room"),
    (experiment(gpu() | {"count": 5}, pool="t4-spot"), f"{WORKER}.count", "at least 5 nodes of pool t4-spot, whose maxNodes is 4"),
    (experiment(gpu() | {"count": 5}, fallbackPolicy="standard"), f"{WORKER}.count", "at least 5 nodes of pool t4, whose maxNodes is 4"),
    (experiment(types={"A": asks(cpus=7) | {"count": 3}, "B": asks(cpus=6) | {"count": 3}}, pool="cpu"), "spec.types.A.count", "at least 5 nodes"),
    (experiment(role(extraSelectors={"karpenter.sh/capacity-type": "spot"}), restartPolicy={"backoffLimit": 0}), "spec.restartPolicy.backoffLimit", "first eviction would end the job"),
    (experiment([role(name="a")]), WORKER, "is a list"),
    (experiment(types={"Worker": role(), "worker": role()}), "spec.types.worker", "as spec.types.Worker is"),
    (experiment(types={"9": role()}), "spec.types.9", "begin with a letter"),
    (experiment() | {"name": "Upper"}, "name", "form"),
    (experiment(types={"a" * 40: role()}) | {"name": "a-run-of-24-characters-it"}, "name", "characters too many"),
    (ray(head={"count": 2, "resources": {"cpus": 1, "ramRatio": 2}}), "spec.types.Head.count", "has one"),
    (ray(head={"pool": "t4-spot", "resources": {"cpus": 1, "ramRatio": 2}}), "spec.types.Head.pool", "fails the RayJob for good"),
    (ray(head={"extraSelectors": {"karpenter.sh/capacity-type": "spot"}, "resources": {"cpus": 1, "ramRatio": 2}}), "spec.types.Head.extraSelectors", "a spot pool"),
    (ray(head={"resources": {"cpus": 99, "ramRatio": 2}}), "spec.types.Head", "no on-demand pool"),
    (experiment(operator="kuberay"), "spec.types", "has no Head"),
    (experiment(types={"head": role(), "Worker": role()}, operator="kuberay"), "spec.types.head", "Write Head"),
    ({"builder": {}, **experiment()}, "builder", "Build and push the image"),
    (experiment(tensorboard={"enabled": True}), "spec.tensorboard", "CHECKPOINT_URI"),
    (experiment(timeout="6h"), "spec.timeout", "deadline"),
    (experiment(role(completions=1)), f"{WORKER}.completions", "as `count`"),
    (ray([role(name="a", rayStartParams={})]), f"{WORKER}[0].rayStartParams", "by KubeRay"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "key", "says"), REFUSED, ids=[f"{key}: {says}" for _, key, says in REFUSED])
def test_what_cannot_work_is_refused_under_its_key(raw: Any, key: str, says: str) -> None:
    found = problems(raw)
    assert says in found.get(key, f"{key} is not among {sorted(found)}")


def test_shape_and_cross_check_problems_come_together_in_the_order_of_the_file() -> None:
    raw = experiment(role(cuont=2) | {"pool": "t4-sopt"}, fallbackPolicy="standrad", image=3)
    raw["builder"] = {}
    assert list(problems(raw)) == [
        "spec.image",
        f"{WORKER}.cuont",
        f"{WORKER}.pool",
        "spec.fallbackPolicy",
        "builder",
    ]


@pytest.mark.parametrize("broken", [{"cpus": -3}, {"cpus": "many"}, {"ramRatio": None, "memory": -1}])
def test_what_is_broken_is_not_judged_by_the_example_that_stands_in_for_it(broken: dict[str, Any]) -> None:
    resources = {"cpus": 3, "ramRatio": 4, "shmSizeGB": 4, **broken}
    asked = {key: value for key, value in resources.items() if value is not None}
    (key,) = (key for key, value in broken.items() if value is not None)
    assert list(problems(experiment(role(resources=asked), pool="cpu"))) == [f"{WORKER}.resources.{key}"]


def test_an_operator_that_the_stack_has_switched_off_is_said() -> None:
    env = stack("aws-dev")
    off = env.operators.jobset.model_copy(update={"mode": "off"})
    env = env.model_copy(update={"operators": env.operators.model_copy(update={"jobset": off})})
    assert "`operators.jobset.mode: off`" in problems(experiment(), env)["spec.operator"]


def test_the_only_workspace_need_not_be_named() -> None:
    assert workspace_of(stack("aws-dev"), None).namespace == "research"


@pytest.mark.parametrize(
    ("stack_name", "asked", "says"),
    [
        ("aws-prod", None, "Write --workspace and one of research or speech"),
        ("aws-prod", "reserach", "Write --workspace research"),
    ],
)
def test_which_of_several_workspaces_is_asked(stack_name: str, asked: str | None, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        workspace_of(stack(stack_name), asked)


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "experiments").glob("*.yaml")), ids=lambda path: path.stem)
def test_an_example_names_its_schema_fits_it_and_runs_on_the_dev_stack(file: Path) -> None:
    first = file.read_text(encoding="utf-8").splitlines()[0]
    schema = json.loads((file.parent / first.partition("$schema=")[2]).read_text())
    jsonschema.Draft202012Validator(schema).validate(read_yaml(file))
    assert load(read_yaml(file), stem=file.stem).landed


def test_the_schema_refuses_what_the_settings_refuse() -> None:
    schema = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "experiment.schema.json").read_text()))
    assert schema.is_valid(experiment())
    assert schema.is_valid(ray([role(name="a")]))
    assert not schema.is_valid(experiment(operator="pytorch"))
    assert not schema.is_valid(experiment(asks(memory=3)))
    assert not schema.is_valid(experiment(role(cuont=1)))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
PATHS = [
    *(("spec",), ("spec", "operator"), ("spec", "image"), ("spec", "command"), ("spec", "types"), ("spec", "pool")),
    *(
        ("name",),
        ("kind",),
        ("spec", "types", "Worker"),
        ("spec", "types", "Worker", "count"),
        ("spec", "types", "Head"),
    ),
    *(("spec", "types", "Worker", "resources"), ("spec", "types", "Worker", "extraSelectors"), ("spec", "timeout")),
    *(("spec", "types", "Worker", "resources", "accelerators"), ("spec", "types", "Worker", "extraTolerations")),
    *(("spec", "restartPolicy"), ("spec", "fallbackPolicy"), ("spec", "types", "Worker", "resources", "cpus")),
]


@given(path=st.sampled_from(PATHS), junk=JUNK, base=st.sampled_from([experiment(), ray()]))
@settings(max_examples=300)
def test_whatever_stands_in_a_file_is_a_job_or_a_list_of_problems(path: tuple[str, ...], junk: Any, base: Any) -> None:
    raw = copy.deepcopy(base)
    here = raw
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = junk
    told = [""]
    try:
        load(raw)
    except SettingsError as error:
        told = [str(problem) for problem in error.problems]
    assert told
    assert not [text for text in told if "\n" in text]
