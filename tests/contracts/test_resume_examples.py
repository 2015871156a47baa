"""Every example that trains is in the table of the proofs, with every fault, and every fault can still be planted."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from spotproof.cli import main
from tests.conftest import ROOT
from tests.generated import copies
from tests.resume.example import FAULTS, Example
from tests.resume.examples import EXAMPLES
from tests.resume.planting import planted


def test_every_example_that_trains_is_proven() -> None:
    folders = {program.parent.name for program in (ROOT / "examples").glob("*/train.py")}

    assert folders == {example.name for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_fault_is_planted_or_says_why_it_cannot_be(example: Example) -> None:
    assert [fault.words for fault in example.faults] == list(FAULTS)
    assert all(bool(fault.changes) != bool(fault.why_not) for fault in example.faults)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_what_a_fault_replaces_is_in_the_program_once(example: Example, tmp_path: Path) -> None:
    original = (example.folder / "train.py").read_text(encoding="utf-8")
    for number, fault in enumerate(each for each in example.faults if each.changes):
        program = planted(example, fault, tmp_path / f"{number}") / "train.py"

        assert program.read_text(encoding="utf-8") != original
        compile(program.read_text(encoding="utf-8"), program, "exec")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_experiment_of_an_example_is_rendered_with_a_place_for_its_checkpoints(example: Example) -> None:
    experiment = example.folder / "experiment.yaml"
    words = ["render", str(experiment), "--stack", "aws-dev", "--workspace", "research", "--program", str(ROOT)]

    rendered = CliRunner().invoke(main.application(), words)

    assert rendered.exit_code == 0, rendered.stderr
    assert "CHECKPOINT_URI" in rendered.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_is_a_folder_to_copy_and_nothing_else(example: Example) -> None:
    shared = {Path(copy).name for copy in copies(ROOT) if (ROOT / copy).parent == example.folder}
    assert {file.name for file in example.folder.iterdir() if file.name != "__pycache__"} == {
        *shared,
        "README.md",
        "experiment.yaml",
        "requirements.in",
        "requirements.txt",
        "train.py",
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_lock_of_an_example_has_hashes_and_no_address_of_an_index(example: Example) -> None:
    lock = (example.folder / "requirements.txt").read_text(encoding="utf-8")

    assert "--hash=sha256:" in lock
    assert "://" not in lock
