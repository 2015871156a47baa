"""Running our program on settings, as `spotproof preview` does."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Final

from spotproof.preview.cost import estimate
from spotproof.preview.model import MODES, Mode, Preview
from spotproof.preview.policy_run import run_policies
from spotproof.preview.preview import Checks, preview_stack
from spotproof.preview.project import load_project
from spotproof.preview.run import Configuration, Program, Target
from spotproof.prices import load_prices
from spotproof.settings import ENVIRONMENT_KEY, read_stack_file

ROOT: Final = Path(__file__).resolve().parents[2]
STACKS: Final = sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))

CHECKS: Final = Checks(
    judge=lambda one: run_policies(one.resources, project=one.project, stack=one.stack, config=None),
    price=lambda one: estimate(one, load_prices()),
)


def settings_of(stack: str) -> dict[str, Any]:
    """The environment of a stack file, as plain values that may be changed."""
    found = read_stack_file(ROOT / "stacks" / f"Pulumi.{stack}.yaml")[ENVIRONMENT_KEY]
    assert isinstance(found, dict)
    return json.loads(json.dumps(found))


def preview_settings(
    environment: object, stack: str = "test", *, program: Program = ROOT / "infra", modes: tuple[Mode, ...] = MODES
) -> Preview:
    """Our program on these settings."""
    configuration = Configuration({ENVIRONMENT_KEY: json.dumps(environment)})
    target = Target("spotproof", stack, root=ROOT, configuration=configuration)
    # the SDK sends all frames of Python with every resource: those of pytest and hypothesis took 15 % of the time
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(preview_stack, program, target, modes, CHECKS).result()


@cache
def preview_of(stack: str) -> Preview:
    """A stack file's preview; cached, as every test only reads it."""
    project = load_project(ROOT)
    return preview_stack(project.program, project.target(stack), MODES, CHECKS)
