"""`spotproof render`: a JobSet or RayJob from an experiment file, for `kubectl apply -f -`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from spotproof.settings import Environment
    from spotproof.settings.environment import Workspace

WRONG = 1
USED_WRONGLY = 2


def command(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="The experiment file (YAML).")],
    *,
    stack: Annotated[str, typer.Option(help="The stack whose pools and policies the job uses.")],
    workspace: Annotated[
        str | None, typer.Option(help="The workspace it runs in; left out, the stack's only one.")
    ] = None,
    program: Annotated[Path | None, typer.Option(help="The folder with Pulumi.yaml.")] = None,
) -> None:
    """Print the job of an experiment file as Kubernetes takes it; what was decided goes to stderr.

    Exit status 1: something in the experiment or in the stack file cannot work. 2: used wrongly.
    """
    from spotproof.clouds.registry import checkpoint_store  # noqa: PLC0415
    from spotproof.manifests.gang import Job  # noqa: PLC0415
    from spotproof.manifests.jobs import notes, render  # noqa: PLC0415
    from spotproof.manifests.yaml_text import documents  # noqa: PLC0415
    from spotproof.settings import SettingsError, read_yaml  # noqa: PLC0415
    from spotproof.settings.experiment.load import load_experiment  # noqa: PLC0415

    if not experiment.is_file():
        raise _stop(f"there is no file {experiment}", USED_WRONGLY)
    try:
        environment = _environment(stack, program)
        home = _workspace(environment, workspace)
        raw = read_yaml(experiment)
        case = load_experiment(raw, environment, stem=experiment.stem, source=experiment.name)
    except SettingsError as error:
        raise _stop(str(error), WRONG) from error
    job = Job(case, home, checkpoint_store(stack, environment))
    for note in notes(job):
        print(note, file=sys.stderr)  # noqa: T201
    sys.stdout.write(documents([render(job)]))


def _environment(stack: str, program: Path | None) -> "Environment":
    """The settings of a stack; no program runs.

    Raises:
        SettingsError: the stack file holds settings that cannot work.
    """
    from spotproof.cli.preview import find_project  # noqa: PLC0415
    from spotproof.preview.project import ProjectError  # noqa: PLC0415
    from spotproof.settings import clock, load_stack, read_stack_file  # noqa: PLC0415

    try:
        file = find_project(program).stack_file(stack)
    except ProjectError as error:
        raise _stop(str(error), USED_WRONGLY) from error
    return load_stack(read_stack_file(file), today=clock.today(), source=file.name)


def _workspace(environment: "Environment", asked: str | None) -> "Workspace":
    from spotproof.settings import SettingsError  # noqa: PLC0415
    from spotproof.settings.experiment.load import workspace_of  # noqa: PLC0415

    try:
        return workspace_of(environment, asked)
    except SettingsError as error:
        raise _stop("; ".join(map(str, error.problems)), USED_WRONGLY) from error


def _stop(text: str, status: int) -> typer.Exit:
    print(f"spotproof render: {text}", file=sys.stderr)  # noqa: T201
    return typer.Exit(status)
