"""How checkpoints are told from what was begun of them."""

from collections.abc import Mapping

from tests.resume.example import by_marker
from tests.resume.examples import EXAMPLES


class Objects:
    """A store that holds so many bytes at each path."""

    uri = "s3://bucket/run"

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes

    def sizes(self) -> Mapping[str, int]:
        return self._sizes

    def read(self, path: str) -> bytes:
        return bytes(self._sizes[path])


def test_a_folder_without_its_marker_is_no_checkpoint() -> None:
    find = by_marker(r"(?P<step>\d+)", "done")

    found = find(Objects({"20/a": 5, "20/done": 0, "40/a": 3, "40/sub/done": 0, "README": 9}))

    assert [(each.step, each.complete, each.size) for each in found] == [(20, True, 5), (40, False, 3)]


def test_a_folder_that_is_to_be_renamed_is_no_checkpoint_whatever_it_holds() -> None:
    find = by_marker(r"(?P<step>\d+)(?P<unfinished>\.tmp[^/]*)?", "done")

    found = find(Objects({"20/done": 1, "40.tmp-7/done": 1}))

    assert [(each.folder, each.step, each.complete) for each in found] == [("20", 20, True), ("40.tmp-7", 40, False)]


def test_a_run_that_is_killed_often_is_as_much_longer() -> None:
    jax, ray, *_ = EXAMPLES

    assert jax.long_enough_for(5) == jax
    assert jax.long_enough_for(50).steps == 51 * jax.save_steps
    assert ray.long_enough_for(50).steps == 51 * ray.save_steps + ray.late_steps
