"""Options that take several words: `--traces a b` as `--traces a --traces b`, so that a shell's glob can follow one."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command whose options that may be repeated take every word up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer, after the words are spread."""
        several = {name for each in self.params if getattr(each, "multiple", False) for name in each.opts}
        return super().parse_args(ctx, list(spread(args, several)))


def spread(words: Sequence[str], several: Collection[str]) -> Iterator[str]:
    """The words with the option before each word that belongs to one of `several`; what follows `--` stays as it is."""
    option, values = "", 0
    for place, word in enumerate(words):
        if word == "--":
            yield from words[place:]
            return
        if word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            option, values = (name, int(bool(equals))) if name in several else ("", 0)
        elif option:
            if values:
                yield option
            values += 1
        yield word
