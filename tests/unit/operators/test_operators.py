from pathlib import Path
from typing import Any

import pytest

import spotproof.operators
from spotproof.clouds.contract import Cluster
from spotproof.operators.registry import OPERATORS
from spotproof.settings.operators import Operators
from tests.unit.clouds.programs import FULL, SMALLEST, build, cluster_of, dig, full, of

CHARTS = {"jobset": "jobset", "kuberay": "kuberay-operator", "gpuPlugin": "nvidia-device-plugin"}
NOT_OPERATORS = {"__init__.py", "common.py", "registry.py", "versions.py"}


def values(chart: str, raw: dict[str, Any] = FULL) -> Any:
    (release,) = (one for one in of(full() if raw is FULL else build(raw), "Release") if one.inputs["name"] == chart)
    return release.inputs["values"]


def test_table_folder_and_settings_agree() -> None:
    files = {
        path.stem for path in Path(spotproof.operators.__file__).parent.glob("*.py") if path.name not in NOT_OPERATORS
    }
    settings = set(Operators.model_fields)

    assert {entry.install.__module__.rpartition(".")[2] for entry in OPERATORS.values()} == files == settings


@pytest.mark.parametrize("key", CHARTS)
@pytest.mark.parametrize("mode", ["existing", "off"])
def test_what_is_not_to_be_installed_is_not(key: str, mode: str) -> None:
    if (key, mode) == ("gpuPlugin", "off"):
        pytest.skip("refused by the settings where there are GPUs and the image has no plugin")
    seen = build({**SMALLEST, "operators": {key: {"mode": mode}}})

    assert CHARTS[key] not in {one.inputs["name"] for one in of(seen, "Release")}


@pytest.mark.parametrize("key", CHARTS)
def test_a_version_of_the_settings_is_taken(key: str) -> None:
    seen = build({**SMALLEST, "operators": {key: {"version": "9.9.9"}}})
    (release,) = (one for one in of(seen, "Release") if one.inputs["name"] == CHARTS[key])

    assert release.inputs["version"] == "9.9.9"


def test_every_release_is_pinned_and_taken_back_when_it_fails() -> None:
    for release in of(full(), "Release"):
        assert release.inputs["version"]
        assert release.inputs["atomic"] is True
        assert release.inputs["timeout"] == 900


@pytest.mark.parametrize(("chart", "path"), [("karpenter", ()), ("jobset", ("controller",)), ("kuberay-operator", ())])
def test_operators_run_twice_on_nodes_that_stay(chart: str, path: tuple[str, ...]) -> None:
    where = dig(values(chart), *path)

    assert where["replicas"] == 2
    assert where["nodeSelector"]["spotproof.dev/system"] == "true"
    assert {"key": "CriticalAddonsOnly", "operator": "Exists"} in where["tolerations"]


def test_karpenter_is_told_its_region() -> None:
    """With one hop it cannot ask IMDS, and panics."""
    assert {"name": "AWS_REGION", "value": "us-west-2"} in dig(values("karpenter"), "controller", "env")


def test_the_gpu_plugin_runs_on_every_pool_with_gpus_and_nowhere_else() -> None:
    where = values("nvidia-device-plugin")
    terms = dig(
        where, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
    )

    assert terms == [
        {"matchExpressions": [{"key": "spotproof.dev/pool", "operator": "In", "values": ["a100", "a100-spot"]}]}
    ]
    tolerated = {toleration["key"] for toleration in where["tolerations"]}
    assert {"spotproof.dev/capacity", "nvidia.com/gpu"} <= tolerated
    assert all(toleration["key"] for toleration in where["tolerations"]), "Karpenter never drains a blanket toleration"


def test_without_gpus_there_is_no_gpu_plugin() -> None:
    cpu = [{"name": "cpu", "capacity": "on-demand", "instanceTypes": ["m7i.large"], "maxNodes": 2}]
    seen = build({"provider": SMALLEST["provider"], "pools": cpu})

    assert "nvidia-device-plugin" not in {one.inputs["name"] for one in of(seen, "Release")}


def test_nodes_that_bring_the_plugin_do_not_get_a_second_one() -> None:
    provided: list[frozenset[str]] = []

    def look(cluster: Cluster) -> None:
        provided.append(cluster.provides)

    bottlerocket = {
        **SMALLEST,
        "provider": {**SMALLEST["provider"], "amiAlias": "bottlerocket@1.44.0"},
        "operators": {"gpuPlugin": {"mode": "off"}},
    }
    cluster_of(bottlerocket, look)
    cluster_of(SMALLEST, look)

    assert provided == [frozenset({"gpu-plugin"}), frozenset()]
