"""Every mistake of the table is caught, by what should catch it, and the page that says so is current."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.stacks.mistakes import MISTAKES, Caught, Mistake, preview_with, table


def test_every_planted_mistake_is_caught_with_the_message_on_the_page(
    tmp_path: Path, golden: Callable[[str, object], None]
) -> None:
    def plant(numbered: tuple[int, Mistake]) -> Caught:
        number, mistake = numbered
        return preview_with(mistake, tmp_path / str(number))

    with ThreadPoolExecutor(2) as pool:
        found = list(zip(MISTAKES, pool.map(plant, enumerate(MISTAKES)), strict=True))

    missed = [(mistake.words, caught) for mistake, caught in found if mistake.caught_by not in caught.by]
    assert missed == []
    assert {caught.status for _, caught in found} == {1}
    golden("../../docs/what-is-checked.md", table(found))
