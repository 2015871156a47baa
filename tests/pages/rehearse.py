"""docs/how-to/rehearse.md and the page beside it: what the command printed and wrote in the run that is recorded."""

import textwrap
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, Final

from spotproof.cli.rehearse_live import Lines, conclude, opening
from spotproof.clouds.registry import checkpoint_store
from spotproof.page import rehearsal
from spotproof.prices import load_prices
from spotproof.rehearsal.default_job import default_case
from spotproof.rehearsal.history import History
from spotproof.rehearsal.outcome import Outcome
from spotproof.rehearsal.recording import Recording, load
from spotproof.rehearsal.rehearse import View
from spotproof.rehearsal.scene import Scene, scene
from spotproof.rehearsal.story import told
from spotproof.rehearsal.timeline import document
from spotproof.settings import clock, load_stack, read_stack_file, read_yaml
from spotproof.settings.experiment.load import load_experiment

ROOT: Final = Path(__file__).resolve().parents[2]
RECORDINGS: Final = ROOT / "tests" / "recordings"
STACK: Final = "aws-dev"
ALONE: Final = "aws-prod"
"""The stack of the run without the controller."""
WIDTH: Final = 110


def recorded(name: str, stack: str, experiment: str | None = None) -> tuple[Scene, Outcome]:
    """A rehearsal that is in a file, as `rehearse` gave it back."""
    file = ROOT / "stacks" / f"Pulumi.{stack}.yaml"
    env = load_stack(read_stack_file(file), today=clock.today(), source=file.name)
    if experiment is None:
        case = default_case(env)
    else:
        path = ROOT / experiment
        case = load_experiment(read_yaml(path), env, stem=path.stem)
    recording = load(RECORDINGS / f"{name}.json")
    managed = any(version.kind == "TrainingRun" for version in recording.versions)
    store = checkpoint_store(stack, env)
    made = scene(stack, case, env.workspaces[0], store, load_prices(None), controller=managed)
    return made, Outcome(recording, float(recording.about["readySeconds"]))


@cache
def timeline() -> dict[str, Any]:
    """The document of the recorded run, with the controller."""
    return document(*recorded(f"rehearse-{STACK}", STACK))


def html() -> str:
    """The page of the recorded run."""
    return rehearsal.html(timeline())


@cache
def page() -> str:
    """The whole page of docs, ending in a newline."""
    text = (Path(__file__).parent / "rehearse.md.in").read_text(encoding="utf-8")
    made, outcome = recorded(f"rehearse-{STACK}", STACK)
    return text.replace("$OUTPUT", _output(made, outcome.recording)).replace("$ALONE", _alone())


def _alone() -> str:
    """What a run without the controller comes to, in the words that one with it does not have."""
    verdict: list[str] = document(*recorded(f"rehearse-{ALONE}", ALONE))["verdict"]
    first = next(index for index, each in enumerate(verdict) if each.startswith("Nothing moves"))
    filled = (textwrap.fill(each, WIDTH, initial_indent="  ", subsequent_indent="  ") for each in verdict[first:])
    return "\n".join(filled)


def _output(made: Scene, recording: Recording) -> str:
    out, history = StringIO(), History(recording)
    with redirect_stdout(out):
        print(opening(made))  # noqa: T201
        print("starting the control plane")  # noqa: T201
        lines = Lines()
        lines.tell(View(history, told(history), ""))
        lines.finish()
        conclude(timeline(), WIDTH)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip()
