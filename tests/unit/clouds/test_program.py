"""infra/__main__.py, as Pulumi runs it."""

import json
from pathlib import Path

import pytest

from spotproof.preview.errors import ProgramError
from spotproof.preview.run import Configuration, Target, capture
from tests.unit.clouds.programs import SMALLEST, only

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "infra"


def target(environment: object) -> Target:
    values = {"spotproof:environment": json.dumps(environment)}
    return Target("spotproof", "dev", root=ROOT, configuration=Configuration(values))


def test_the_program_is_short_and_knows_no_cloud() -> None:
    lines = (PROGRAM / "__main__.py").read_text(encoding="utf-8").splitlines()

    assert len(lines) < 40
    assert not [line for line in lines if "aws" in line]


def test_the_program_builds_what_the_settings_say() -> None:
    seen = capture(PROGRAM, target(SMALLEST))

    assert only(seen, "Cluster").inputs["name"] == "spotproof-dev"
    assert set(seen.outputs) == {
        "checkpointUri",
        "clusterName",
        "configureKubectl",
        "fallbackPolicies",
        "pools",
        "region",
        "workspaces",
    }


def test_broken_settings_are_told_whole_and_without_a_traceback() -> None:
    broken = {**SMALLEST, "spott": True, "logs": {"retainDays": 8}}

    with pytest.raises(ProgramError) as stopped:
        capture(PROGRAM, target(broken))

    assert str(stopped.value).startswith("Pulumi.dev.yaml: 2 problems in the settings\n")
    assert "Traceback" not in str(stopped.value)
    assert "__main__.py" not in str(stopped.value)


def test_a_prices_file_that_is_not_there_is_told_the_same_way() -> None:
    with pytest.raises(ProgramError, match=r"nowhere\.yaml"):
        capture(PROGRAM, target({**SMALLEST, "prices": "nowhere.yaml"}))
