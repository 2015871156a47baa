"""Every mistake of the table is caught, by what should catch it, and the page that says so is current."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.stacks import mistakes, mistakes_azure, mistakes_gcp
from tests.stacks.planting import Caught, Mistake, preview_with, table
from tests.stacks.runs import STACKS

MISTAKES = tuple(
    mistake
    for mistake in (*mistakes.MISTAKES, *mistakes_gcp.MISTAKES, *mistakes_azure.MISTAKES)
    if mistake.stack in STACKS
)


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
    other = [(mistake.words, caught.status) for mistake, caught in found if caught.status != mistake.status]
    assert other == []
    golden("../../docs/what-is-checked.md", table(found))
