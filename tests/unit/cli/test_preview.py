import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spotproof.cli import main
from spotproof.cli import preview as command
from spotproof.preview import Checks

GOOD = "import pulumi\nprint('noise')\npulumi.export('stack', pulumi.get_stack())"


def no_checks(_config: Path | None) -> Checks:
    return Checks()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(command, "_checks", no_checks)
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(GOOD)
    for stack in ("dev", "prod"):
        (tmp_path / f"Pulumi.{stack}.yaml").write_text("config: {}")
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main.application(), ["preview", "--program", str(folder), *arguments])


def test_one_stack_is_an_object_and_several_are_a_list(folder: Path) -> None:
    one, several = run(folder, "dev", "--format", "json"), run(folder, "--all", "--format", "json")
    assert (one.exit_code, several.exit_code) == (0, 0)
    assert json.loads(one.stdout)["outputs"] == {"stack": "dev"}
    assert [report["stack"] for report in json.loads(several.stdout)] == ["dev", "prod"]


def test_the_only_stack_needs_no_name(folder: Path) -> None:
    (folder / "Pulumi.prod.yaml").unlink()
    assert "dev: good" in run(folder).stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["dve"], "Did you mean dev? Known: dev, prod"),
        ([], "which stack? Name one or more, or say --all. Known: dev, prod"),
        (["dev", "--all"], "not both"),
        (["dev", "--mode", "maybe"], "maybe"),
        (["dev", "--output", "/nowhere/report.json"], "there is no folder /nowhere"),
    ],
)
def test_wrong_use_is_status_two_with_what_would_do(folder: Path, arguments: list[str], text: str) -> None:
    result = run(folder, *arguments)
    assert result.exit_code == 2
    assert text in result.stderr


def test_a_program_that_crashes_is_status_one_without_a_traceback(folder: Path) -> None:
    (folder / "__main__.py").write_text("x = {}\nx['k']")
    result = run(folder, "dev", "--format", "json")
    assert result.exit_code == 1
    assert "__main__.py:2: KeyError: 'k'" in result.stderr
    assert "Traceback" not in result.stderr
    assert json.loads(result.stdout)["failed"]


def test_output_goes_to_the_file_whole_and_the_verdict_to_stderr(folder: Path) -> None:
    target = folder / "report.json"
    result = run(folder, "dev", "--format", "json", "--output", str(target))
    assert json.loads(target.read_text())["stack"] == "dev"
    assert "dev: good" in result.stderr
    assert [path.name for path in folder.glob("tmp*")] == []


def test_an_unknown_policy_in_the_configuration_is_wrong_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    config = folder / "policies.json"
    config.write_text('{"no-such-policy": "disabled"}')
    result = run(folder, "dev", "--policy-pack-config", str(config))
    assert result.exit_code == 2
    assert "no-such-policy" in result.stderr


def test_one_mode_alone_can_be_asked_for(folder: Path) -> None:
    assert json.loads(run(folder, "dev", "--mode", "known", "--format", "json").stdout)["mode"] == "known"


OURS = """
config:
  spotproof:environment:
    provider: {cloud: aws, region: us-east-1, accountId: "123456789012"}
    prices: prices.yaml
"""
PRICES = "asOf: 2026-11-01\nprices: [{service: vpc/nat-gateway, usdPerHour: 1.25}]"
NAT = "import pulumi_aws as aws\naws.ec2.NatGateway('nat', subnet_id='subnet-1')"


def idle(folder: Path, *arguments: str) -> float:
    result = run(folder, "dev", "--format", "json", "--mode", "unknown", *arguments)
    return json.loads(result.stdout)["cost"]["idle"]["total"]


def test_the_prices_of_the_settings_are_used_and_those_of_the_option_come_first(folder: Path) -> None:
    (folder / "__main__.py").write_text(NAT)
    assert idle(folder) == 0.045

    (folder / "Pulumi.dev.yaml").write_text(OURS)
    (folder / "prices.yaml").write_text(PRICES)
    assert idle(folder) == 1.25

    (folder / "other.yaml").write_text(PRICES.replace("1.25", "2.5"))
    assert idle(folder, "--prices", str(folder / "other.yaml")) == 2.5


def test_settings_of_ours_tell_the_quotas_that_full_pools_need(folder: Path) -> None:
    (folder / "Pulumi.prod.yaml").write_text(OURS.replace("    prices: prices.yaml\n", ""))
    result = run(folder, "--all", "--format", "json", "--mode", "unknown")
    by_stack = {one["stack"]: one["quotas"] for one in json.loads(result.stdout)}

    assert by_stack["dev"] == []
    assert {(one["unit"], one["where"]) for one in by_stack["prod"]} == {("vCPUs", "us-east-1")}
    assert all(one["needed"] > 0 for one in by_stack["prod"])


def test_a_prices_file_that_is_not_one_is_wrong_use(folder: Path) -> None:
    result = run(folder, "dev", "--prices", str(folder / "nowhere.yaml"))
    assert result.exit_code == 2
    assert "nowhere.yaml" in result.stderr


def test_a_key_beside_our_settings_is_refused_although_the_program_never_sees_it(folder: Path) -> None:
    (folder / "Pulumi.dev.yaml").write_text(OURS.replace("prices: prices.yaml", "spot: true") + "  spotproof:spto: 1\n")
    result = run(folder, "dev")
    assert result.exit_code == 1
    assert "spotproof:spto: is not a key of this program" in result.stderr


def test_the_version_can_be_asked_for() -> None:
    result = CliRunner().invoke(main.application(), ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"spotproof {metadata.version('spotproof')}\n")


@pytest.mark.parametrize("text", ["[", "\x00"])
def test_a_policy_configuration_that_is_not_json_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.undo()
    config = folder / "policies.json"
    config.write_text(text)
    result = run(folder, "dev", "--policy-pack-config", str(config))
    assert result.exit_code == 2
    assert f"{config} is not JSON" in result.stderr


def test_a_file_that_is_not_there_is_named_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    result = run(folder, "dev", "--policy-pack-config", str(folder / "nope.json"))
    assert (result.exit_code, "nope.json: No such file" in result.stderr) == (2, True)


def test_a_folder_is_no_output(folder: Path) -> None:
    result = run(folder, "dev", "--output", str(folder))
    assert (result.exit_code, "is a folder" in result.stderr) == (2, True)


def test_an_output_that_is_no_file_is_written_to_and_never_replaced(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(folder, "dev", "--format", "json", "--output", str(pipe)).exit_code == 0
        assert pipe.is_fifo()
        assert json.loads(os.read(reader, 1 << 16))["stack"] == "dev"
    finally:
        os.close(reader)


def test_an_output_that_is_a_link_stays_one(folder: Path) -> None:
    (folder / "real.json").write_text("old")
    (folder / "link.json").symlink_to("real.json")
    run(folder, "dev", "--format", "json", "--output", str(folder / "link.json"))
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "real.json").read_text())["stack"] == "dev"


def test_a_stack_that_fails_is_in_the_report_of_all(folder: Path) -> None:
    (folder / "__main__.py").write_text("import pulumi\nassert pulumi.get_stack() == 'dev', 'only dev'")
    target = folder / "report.txt"
    result = run(folder, "--all", "--output", str(target))
    assert result.exit_code == 1
    for text in (target.read_text(), result.stderr):
        assert "dev: good" in text
        assert "AssertionError: only dev" in text.splitlines()[-1]


def test_a_terminal_without_utf8_gets_question_marks_and_json_its_escapes(folder: Path) -> None:
    (folder / "__main__.py").write_text("import pulumi\npulumi.ComponentResource('a:b:C', 'b\u00fcro')")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command_line = [sys.executable, "-c", "from spotproof.cli.main import run; run()", "preview", "dev"]
    tree, report = (
        subprocess.run(
            [*command_line, "--program", str(folder), "--format", form],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for form in ("tree", "json")
    )
    assert "b?ro" in tree
    assert json.loads(report)["resources"][0]["name"] == "b\u00fcro"
