"""Programs of somebody else, on our components."""

import json
from pathlib import Path

import pytest

from spotproof.preview.model import MODES
from spotproof.preview.policy_run import run_policies
from spotproof.preview.preview import preview_stack
from spotproof.preview.project import load_project
from spotproof.preview.run import capture

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = sorted(path.parent.name for path in EXAMPLES.glob("*/Pulumi.yaml"))


def test_the_examples_are_found() -> None:
    assert PROGRAMS == [
        "azure-node-pools",
        "existing-vpc",
        "gcp-node-pools",
        "operators-on-your-cluster",
        "pools-on-your-cluster",
    ]


@pytest.mark.parametrize("example", PROGRAMS)
def test_an_example_runs_and_breaks_no_policy(example: str) -> None:
    folder = EXAMPLES / example
    project = load_project(folder)
    file = folder / "policies.json"
    config = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    assert not preview_stack(project.program, project.target("dev")).lint
    for mode in MODES:
        seen = capture(project.program, project.target("dev"), mode)
        found = run_policies(seen.resources, project=seen.project, stack=seen.stack, config=config)
        assert not [one for one in found if one.level == "mandatory"]


@pytest.mark.parametrize("example", PROGRAMS)
def test_an_example_says_how_to_run_it(example: str) -> None:
    text = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")

    assert "spotproof preview --program ." in text
