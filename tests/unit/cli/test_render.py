import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

from spotproof.cli import main

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "experiments"
GOOD = """
name: demo
spec:
  operator: jobset
  image: train:1
  command: python3 train.py
  types:
    Worker: {count: 2, resources: {cpus: 2, ramRatio: 4, extraSelectors: {karpenter.sh/capacity-type: spot}}}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main.application(), ["render", *arguments, "--program", str(ROOT)])


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    file = tmp_path / "train.yaml"
    file.write_text(GOOD)
    return file


@pytest.mark.parametrize("example", ["jobset", "kuberay"])
def test_what_kubectl_reads_is_on_stdout_and_nothing_else(example: str) -> None:
    result = run(str(EXAMPLES / f"{example}.yaml"), "--stack", "aws-dev", "--workspace", "research")
    assert result.exit_code == 0
    documents: list[Any] = list(YAML(typ="safe", pure=True).load_all(result.stdout))
    assert [each["kind"] for each in documents] == [{"jobset": "JobSet", "kuberay": "RayJob"}[example]]
    assert documents[0]["metadata"]["namespace"] == "research"
    assert result.stdout.endswith("\n")


def test_what_was_decided_and_replaced_is_on_stderr(experiment: Path) -> None:
    said = run(str(experiment), "--stack", "aws-dev").stderr
    assert "JobSet demo in research, as service account trainer" in said
    assert "worker: 2 pods on t4-spot (spot)" in said
    assert "worker runs on spot: its extraSelectors say so (`pool` chooses another: l4-spot)" in said
    assert "worker: karpenter.sh/capacity-type: spot replaced by pool t4-spot" in said
    assert "backoffLimit: 5 restarts, evictions included; failure 6 ends the job" in said
    assert "checkpoints: s3://spotproof-aws-dev-ckpt-123456789012-us-west-2/research/demo" in said


def test_that_on_demand_was_chosen_is_said(experiment: Path) -> None:
    experiment.write_text(GOOD.replace(", extraSelectors: {karpenter.sh/capacity-type: spot}", ""))
    said = run(str(experiment), "--stack", "aws-dev").stderr
    assert "worker runs on-demand: neither spec.fallbackPolicy nor spec.pool is given" in said


def test_that_nobody_moves_jobs_yet_is_said() -> None:
    said = run(str(EXAMPLES / "jobset.yaml"), "--stack", "aws-dev").stderr
    assert "worker: 2 pods on t4-spot (spot), then t4 (on-demand), as fallback policy standard says" in said
    assert "operators.fallback is off in this stack" in said


def test_a_file_that_cannot_work_is_status_one_with_every_problem_and_no_manifest(experiment: Path) -> None:
    experiment.write_text(GOOD.replace("image", "imgae").replace("count: 2", "count: 0"))
    result = run(str(experiment), "--stack", "aws-dev")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "train.yaml: 2 problems in the settings" in result.stderr
    assert "spec.imgae: is not a setting; it would have no effect. Write image." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--stack", "aws-dve"], "Did you mean aws-dev?"),
        (["--stack", "aws-dev", "--workspace", "reserach"], "Write --workspace research"),
        (["--stack", "aws-prod"], "Write --workspace and one of research or speech"),
    ],
)
def test_wrong_use_is_status_two_with_what_would_do(experiment: Path, arguments: list[str], says: str) -> None:
    result = run(str(experiment), *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


def test_a_file_that_is_not_there_is_status_two() -> None:
    result = run("nowhere.yaml", "--stack", "aws-dev")
    assert result.exit_code == 2
    assert "there is no file nowhere.yaml" in result.stderr


def test_a_broken_stack_file_is_its_own_problem(experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    arguments = ["render", str(experiment), "--stack", "dev", "--program", str(tmp_path)]
    result = CliRunner().invoke(main.application(), arguments)
    assert result.exit_code == 1
    assert "Pulumi.dev.yaml" in result.stderr
    assert "spotproof:environment: is missing" in result.stderr


def test_no_clouds_sdk_is_loaded() -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from spotproof.cli import main\n"
        f"CliRunner().invoke(main.application(), ['render', {str(EXAMPLES / 'jobset.yaml')!r}, '--stack', 'aws-dev'])\n"
        "sdks = {'pulumi_aws', 'pulumi_gcp', 'pulumi_azure_native'}\n"
        "print(sorted(sdks & set(sys.modules)), 'spotproof.clouds.registry' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[] True"
