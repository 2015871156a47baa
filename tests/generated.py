"""Files that are made from the code: written by `make docs`, checked by `make check`."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from spotproof.settings.reference import experiment_reference, settings_reference
from spotproof.settings.schema import experiment_schema, stack_schema
from tests.pages import choose_max_failures, install_the_controller, messages, plan, preview_parity, rehearse
from tests.policies.readme import policies_readme

ROOT: Final = Path(__file__).parent.parent
SHARED: Final[Mapping[str, Sequence[str]]] = {
    "contract.py": ("*",),
    "storage.py": ("ray-train-rayjob", "tensorflow-rayjob"),
}
"""What several training programs have, and the folders of examples/ that have it."""


def copies(root: Path) -> Mapping[str, Callable[[], str]]:
    """What training programs share, beside each of them: people copy a folder, and the copy must run."""
    return {
        f"{program.parent.relative_to(root)}/{shared}": (root / "examples" / shared).read_text
        for shared, folders in SHARED.items()
        for folder in folders
        for program in sorted(root.glob(f"examples/{folder}/train.py"))
    }


GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "stacks/README.md": settings_reference,
    "docs/stack.schema.json": lambda: json.dumps(stack_schema(), indent=2) + "\n",
    "docs/experiment.schema.json": lambda: json.dumps(experiment_schema(), indent=2) + "\n",
    "docs/experiments.md": experiment_reference,
    "docs/how-to/choose-max-failures.md": choose_max_failures.page,
    "docs/how-to/install-the-controller.md": install_the_controller.page,
    "docs/how-to/plan.md": plan.page,
    "docs/how-to/rehearse.md": rehearse.page,
    "docs/how-to/rehearse-aws-dev.html": rehearse.html,
    "docs/messages.md": messages.page,
    "docs/preview-parity.md": preview_parity.page,
    "policies/README.md": policies_readme,
    **copies(ROOT),
}


def stale() -> list[str]:
    """Names of generated files that are not what the code would write."""
    return [name for name, render in GENERATED.items() if not _is(ROOT / name, render())]


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def write() -> None:
    """Write every generated file again."""
    for name, render in GENERATED.items():
        (ROOT / name).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    elif found := stale():
        sys.exit(f"out of date: {', '.join(found)}. Run `make docs` and commit what it writes.")
