"""The folder counts every file that is written, however quickly it follows one that was deleted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.resume import store
from tests.resume.store import Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """Looked at by the test alone."""
    monkeypatch.setattr(store, "LOOKS_A_SECOND", 0.001)
    made = Folder(tmp_path / "store")
    yield made
    made.close()


def test_a_file_that_takes_the_place_of_a_deleted_one_between_two_looks_is_a_write(folder: Folder) -> None:
    for number in range(20):
        (folder.path / f"{number}").write_bytes(b"four")
        folder.look()
        (folder.path / f"{number}").unlink()

    assert (folder.writes, folder.written) == (20, 80)


def test_a_rename_writes_nothing_and_what_is_added_to_a_file_is_no_other_write(folder: Folder) -> None:
    (folder.path / "half").write_bytes(b"two ")
    folder.look()
    (folder.path / "half").write_bytes(b"two and more")
    (folder.path / "half").rename(folder.path / "whole")
    folder.look()

    assert (folder.writes, folder.written) == (1, 12)


def test_only_writes_to_paths_that_are_watched_count_for_the_one_that_is_told(folder: Folder) -> None:
    told: list[int] = []
    folder.watch(2, lambda: told.append(folder.writes), to=r"^list")
    for name in ("list-1", "state", "list-2", "list-3"):
        (folder.path / name).touch()
        folder.look()

    assert told == [3]


def test_nothing_of_a_file_that_is_gone_is_kept(folder: Folder) -> None:
    (folder.path / "one").touch()
    folder.look()
    (folder.path / "one").unlink()
    folder.look()

    assert folder._kept == {}  # pyright: ignore[reportPrivateUsage]
