"""docs/how-to/plan.md: its example is what the command prints here and now."""

from functools import cache
from pathlib import Path
from typing import Final

from typer.testing import CliRunner

from spotproof.cli import main

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLE: Final = "plan --stack aws-dev --work 48h --deadline 60h --eviction-rate 0.3/h --runs 100 --seed 0"


@cache
def page() -> str:
    """The whole page, ending in a newline."""
    text = (Path(__file__).parent / "plan.md.in").read_text(encoding="utf-8")
    return text.replace("$COMMAND", f"spotproof {EXAMPLE}").replace("$OUTPUT", _output())


def _output() -> str:
    result = CliRunner(env={"COLUMNS": "120"}).invoke(main.application(), [*EXAMPLE.split(), "--program", str(ROOT)])
    if result.exit_code:
        raise AssertionError(result.stderr)
    return result.stdout.strip()
