"""The program runs as the Pulumi.yaml project that people clone, started by the command that they type."""

import json
import shutil
from pathlib import Path

import pytest

from tests.engine.driver import Engine
from tests.engine.known_differences import known_in
from tests.engine.parity import differences, of_engine, of_ours
from tests.stacks.runs import ROOT, preview_of


@pytest.mark.parametrize("stack", ["aws-dev", "kind-dev"])
def test_a_preview_of_the_committed_stack_file_plans_what_our_preview_shows(engine: Engine, stack: str) -> None:
    folder, plan = cloned(engine, stack), engine.folder / f"project-{stack}.json"
    before = len(engine.standin.calls)

    status, printed = engine.run(["preview", "--stack", stack, "--save-plan", str(plan)], folder, **backend(folder))

    assert status == 0, printed
    seen = of_engine(json.loads(plan.read_text(encoding="utf-8")), [], engine.standin.calls[before:])
    shown = of_ours(preview_of(stack).capture)
    # what only an `up` leaves in the state is compared where there was one (test_parity)
    found = [one for one in differences(seen, shown) if one.field != "deletedWith"]
    assert [one for one in found if not any(entry.covers(one) for entry in known_in(stack))] == []


def test_what_is_wrong_in_a_stack_file_is_said_once_and_without_a_traceback(engine: Engine) -> None:
    folder = cloned(engine, "kind-dev", folder="wrong")
    file = folder / "stacks" / "Pulumi.kind-dev.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("maxFailures: 10", "maxFailures: ten"), encoding="utf-8")

    status, printed = engine.run(["preview", "--stack", "kind-dev"], folder, **backend(folder))

    assert status == 1, printed
    assert "fallbackPolicies[0].tiers[0].maxFailures" in printed
    assert "Traceback" not in printed


def cloned(engine: Engine, stack: str, folder: str = "clone") -> Path:
    """A folder as a clone of ours is, with a backend of its own and the stack made in it."""
    clone = engine.project(f"{folder}-{stack}")
    shutil.copy(ROOT / "stacks" / f"Pulumi.{stack}.yaml", clone / "stacks")
    (clone / "state").mkdir()
    status, printed = engine.run(["stack", "init", stack], clone, **backend(clone))
    assert status == 0, printed
    return clone


def backend(clone: Path) -> dict[str, str]:
    return {"PULUMI_BACKEND_URL": (clone / "state").as_uri()}
