"""A small edit of a stack file plans what belongs to it and nothing else."""

from collections.abc import Callable
from typing import Final

import pytest

from tests.engine.edits import EDITS, Edit, applied
from tests.engine.life import Life

COMPONENTS: Final = ("pulumi:pulumi:Stack ", "spotproof:")
"""Of these only inputs or outputs change, such as the list of pools."""
EDITED: Final = ("aws-dev", "azure-dev", "gcp-dev", "kind-dev")
CASES: Final = [
    pytest.param(stack, edit, id=f"{stack}-{edit.name}")
    for stack in EDITED
    for edit in EDITS
    if stack not in edit.absent
]


@pytest.mark.parametrize(("life", "edit"), CASES, indirect=["life"])
def test_an_edit_plans_exactly_its_own_steps(life: Life, edit: Edit, golden: Callable[[str, object], None]) -> None:
    run = life.edited(applied(edit, life.name, life.settings))

    changes = [step for step in run.steps if step.op != "same"]
    made = {step.op for step in changes if not step.resource.startswith(COMPONENTS)}
    assert made <= edit.plans
    golden(
        f"engine/edits/{life.name}/{edit.name.replace(' ', '-')}.txt",
        "".join(sorted(f"{step.op} {step.resource} {', '.join(step.keys)}".rstrip() + "\n" for step in changes)),
    )
