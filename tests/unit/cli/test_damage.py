"""`spotproof preview` on broken stack files: exit status 1, the broken key named, never a traceback."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

from spotproof.cli.main import application
from tests.unit.settings.damage import Damage, damaged

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    shutil.copytree(ROOT / "infra", folder / "infra", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "stacks").mkdir()
    return folder


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(damage=damaged())
def test_each_of_500_damaged_files_ends_with_status_1_and_names_its_key(project: Path, damage: Damage) -> None:
    (project / "stacks" / "Pulumi.broken.yaml").write_text(damage.text, encoding="utf-8")

    result = CliRunner().invoke(application(), ["preview", "broken", "--program", str(project)])

    assert result.exit_code == 1, result.output
    assert damage.names in result.stderr
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
