"""What was proven of the same files within a week is not proven again; anything else is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.resume import proven
from tests.resume.examples import EXAMPLES
from tests.resume.proofs import Asked
from tests.resume.proven import GOOD_FOR, Proof, Proven
from tests.resume.report import Record

EXAMPLE = EXAMPLES[0]
ASKED = Asked(5, 1, ("file",), faults=True)
PROOF = Proof.of(EXAMPLE, ASKED)
FOUND: Record = {"proven": [{"example": "jax-orbax-jobset", "kills": 5}], "caught": [], "not_run": {}, "wrong": []}
SOON = timedelta(hours=1)


@pytest.fixture
def memory(tmp_path: Path) -> Proven:
    kept = Proven(tmp_path / "not" / "there yet")
    kept.keep(PROOF, FOUND)
    return kept


def test_what_was_proven_of_the_same_files_is_told_with_its_time(memory: Proven) -> None:
    before = memory.before(PROOF, datetime.now(UTC) + SOON)

    assert before is not None
    when, found = before
    assert found == FOUND
    assert abs(when - datetime.now(UTC)) < SOON


def test_after_a_week_it_is_proven_again(memory: Proven) -> None:
    assert memory.before(PROOF, datetime.now(UTC) + GOOD_FOR) is None


@pytest.mark.parametrize(
    "other",
    [
        Proof.of(EXAMPLES[1], ASKED),
        Proof.of(EXAMPLE, replace(ASKED, kills=50)),
        Proof.of(EXAMPLE, replace(ASKED, seed=2)),
        Proof.of(EXAMPLE, replace(ASKED, stores=("file", "s3"))),
        Proof.of(EXAMPLE, replace(ASKED, faults=False)),
    ],
    ids=["another example", "more kills", "another seed", "another store", "no faults"],
)
def test_another_proof_is_to_be_made(memory: Proven, other: Proof) -> None:
    assert memory.before(other, datetime.now(UTC)) is None


@pytest.mark.parametrize(
    "file",
    [
        EXAMPLE.folder / "train.py",
        EXAMPLE.folder / "requirements.txt",
        proven.ROOT / "tests" / "resume" / "gang.py",
        proven.ROOT / "components" / "spotproof" / "kube" / "waiting.py",
        proven.ROOT / "tests" / "conftest.py",
        proven.REQUIREMENTS,
    ],
    ids=lambda file: str(file.relative_to(proven.ROOT)),
)
def test_a_proof_is_another_where_one_of_its_files_has_changed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Proof.of(EXAMPLE, ASKED)
    assert Proof.of(EXAMPLE, ASKED) == before

    _edit(file, monkeypatch)
    assert Proof.of(EXAMPLE, ASKED) != before


def test_what_is_edited_while_a_proof_runs_has_not_been_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, begun = Proven(tmp_path), Proof.of(EXAMPLE, ASKED)
    _edit(EXAMPLE.folder / "train.py", monkeypatch)
    kept.keep(begun, FOUND)

    assert kept.before(Proof.of(EXAMPLE, ASKED), datetime.now(UTC)) is None


def _edit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_it_is = Path.read_bytes

    def edited(path: Path) -> bytes:
        return as_it_is(path) + b"#" * (path == file)

    monkeypatch.setattr(Path, "read_bytes", edited)


@pytest.mark.parametrize(
    "found",
    [FOUND | {"wrong": ["s3: step 21 came twice"]}, FOUND | {"not_run": {"jax": "no network"}}],
    ids=["something was wrong", "it was not run"],
)
def test_only_what_ran_and_was_right_is_remembered(tmp_path: Path, found: Record) -> None:
    kept = Proven(tmp_path)
    kept.keep(PROOF, found)

    assert kept.before(PROOF, datetime.now(UTC)) is None
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    taken = tmp_path / "proven"
    taken.write_text("", encoding="utf-8")
    Proven(taken).keep(PROOF, FOUND)

    assert Proven(taken).before(PROOF, datetime.now(UTC)) is None


def test_a_file_that_cannot_be_read_is_no_proof(memory: Proven) -> None:
    (file,) = memory.folder.iterdir()
    file.write_text('{"proven": [', encoding="utf-8")

    assert memory.before(PROOF, datetime.now(UTC)) is None
