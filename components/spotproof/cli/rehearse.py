"""`spotproof rehearse`: a stack and its job on a local control plane, whose spot nodes are taken away one by one."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from spotproof.cli.output import problem_with, write

if TYPE_CHECKING:
    from spotproof.rehearsal.outcome import Outcome
    from spotproof.rehearsal.scene import Scene
    from spotproof.rehearsal.tools import Tools
    from spotproof.settings import Environment
    from spotproof.settings.environment import Workspace

WRONG: Final = 1
USED_WRONGLY: Final = 2
LIBRARIES: Final = ("cryptography", "kubernetes", "trustme")
CONTROLLERS: Final = ("msgspec", "prometheus_client", "structlog")
"""What the controller imports besides, which is a process of the rehearsal."""
FORMS: Final = (".html", ".json")


def command(  # noqa: PLR0913  # one parameter an option
    *,
    stack: Annotated[str, typer.Option(help="The stack whose pools and policies are rehearsed.")],
    experiment: Annotated[
        Path | None, typer.Option(help="The experiment file (YAML); left out, a job that fits the first policy.")
    ] = None,
    workspace: Annotated[
        str | None, typer.Option(help="The workspace it runs in; left out, the stack's first one.")
    ] = None,
    reclaims: Annotated[
        int | None,
        typer.Option(min=1, help="Spot nodes to take away one by one; left out, as many as the job has, at least 2."),
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry/--no-dry", help="Close the spot market before the last one, and take all spot.")
    ] = True,
    controller: Annotated[
        bool,
        typer.Option(
            "--with-controller/--without-controller",
            help="Let the fallback controller move the job, with the policy's hours as seconds.",
        ),
    ] = True,
    output: Annotated[
        list[Path] | None, typer.Option(metavar="FILE...", help="Write the timeline here: .html or .json.")
    ] = None,
    keep_logs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the logs of every process, and the recording, here.")
    ] = None,
    program: Annotated[Path | None, typer.Option(help="The folder with Pulumi.yaml.")] = None,
) -> None:
    """Take a job's spot nodes away on a local control plane, and show what becomes of it. No account, no cost.

    Exit status 1: there is nothing to take away, something in a file cannot work, or the story did not go to its end.
    2: used wrongly, or what a rehearsal needs is not here.
    """
    outputs = output or []
    _ready_to_write(outputs)
    _all_installed(controller=controller, page=any(path.suffix == ".html" for path in outputs))
    if keep_logs is not None and keep_logs.exists() and not keep_logs.is_dir():
        raise _stop(f"--keep-logs {keep_logs} is no folder, so nothing can be kept there; name one", USED_WRONGLY)
    scene = _scene(stack, experiment, workspace, program, controller=controller)
    tools = _tools()
    outcome = _play(scene, tools, reclaims, keep_logs, dry=dry)
    document = _saved(scene, outcome, outputs, keep_logs)
    _conclude(document, outputs)
    raise typer.Exit(WRONG if outcome.unfinished else 0)


def _ready_to_write(outputs: list[Path]) -> None:
    for path in outputs:
        if path.suffix not in FORMS:
            raise _stop(f"--output {path} ends in neither .html nor .json, so its form is not known", USED_WRONGLY)
        if problem := problem_with(path):
            raise _stop(problem, USED_WRONGLY)


def _all_installed(*, controller: bool, page: bool) -> None:
    """Asked before anything is started: a process that lacks a module would end with a status and no word of it."""
    needed = [*LIBRARIES, *(CONTROLLERS if controller else ()), *(("jinja2",) if page else ())]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise _stop(f"{lacks}; run `pip install 'spotproof[rehearse]'` in this environment", USED_WRONGLY)
    if sys.platform == "win32":
        raise _stop(
            "the control plane of a rehearsal runs on Linux and macOS only; run this in WSL or on such a machine",
            USED_WRONGLY,
        )


def _scene(
    stack: str, experiment: Path | None, workspace: str | None, program: Path | None, *, controller: bool
) -> "Scene":
    """Everything that is set up, from the files alone."""
    from spotproof.cli.preview import find_project  # noqa: PLC0415
    from spotproof.clouds.registry import checkpoint_store  # noqa: PLC0415
    from spotproof.preview.project import ProjectError  # noqa: PLC0415
    from spotproof.prices import load_prices  # noqa: PLC0415
    from spotproof.rehearsal.default_job import NothingToTake, default_case  # noqa: PLC0415
    from spotproof.rehearsal.scene import scene  # noqa: PLC0415
    from spotproof.settings import SettingsError, clock, load_stack, read_stack_file, read_yaml  # noqa: PLC0415
    from spotproof.settings.experiment.load import load_experiment  # noqa: PLC0415

    if experiment is not None and not experiment.is_file():
        raise _stop(f"there is no file {experiment}", USED_WRONGLY)
    try:
        file = find_project(program).stack_file(stack)
    except ProjectError as error:
        raise _stop(str(error), USED_WRONGLY) from error
    try:
        env = load_stack(read_stack_file(file), today=clock.today(), source=file.name)
        home = _workspace(env, workspace)
        if experiment is None:
            case = default_case(env)
        else:
            case = load_experiment(read_yaml(experiment), env, stem=experiment.stem, source=experiment.name)
        prices = load_prices(file.parent / env.prices if env.prices else None)
        return scene(stack, case, home, checkpoint_store(stack, env), prices, controller=controller)
    except (NothingToTake, SettingsError) as error:
        raise _stop(str(error), WRONG) from error


def _workspace(env: "Environment", asked: str | None) -> "Workspace":
    from spotproof.rehearsal.scene import SPARE  # noqa: PLC0415
    from spotproof.settings import SettingsError  # noqa: PLC0415
    from spotproof.settings.experiment.load import workspace_of  # noqa: PLC0415

    if asked is None:
        return next(iter(env.workspaces), SPARE)
    try:
        return workspace_of(env, asked)
    except SettingsError as error:
        raise _stop("; ".join(map(str, error.problems)), USED_WRONGLY) from error


def _tools() -> "Tools":
    from spotproof.rehearsal.tools import ToolsMissing, find_tools  # noqa: PLC0415

    try:
        return find_tools(os.environ)
    except ToolsMissing as error:
        raise _stop(str(error), USED_WRONGLY) from error


def _play(scene: "Scene", tools: "Tools", reclaims: int | None, keep_logs: Path | None, *, dry: bool) -> "Outcome":
    from spotproof.cli.rehearse_live import show  # noqa: PLC0415
    from spotproof.rehearsal.control_plane import NotStarted  # noqa: PLC0415
    from spotproof.rehearsal.rehearse import Options, rehearse  # noqa: PLC0415

    try:
        with show(scene) as audience:
            return rehearse(scene, tools, Options(reclaims, dry), audience, keep_logs)
    except NotStarted as error:
        raise _stop(f"the control plane did not start: {error}", WRONG) from error
    except KeyboardInterrupt as error:
        raise _stop("stopped before the control plane was ready", WRONG) from error


def _saved(scene: "Scene", outcome: "Outcome", outputs: list[Path], keep_logs: Path | None) -> dict[str, Any]:
    from spotproof.rehearsal.timeline import document  # noqa: PLC0415

    made = document(scene, outcome)
    try:
        for path in outputs:
            text = _text(path, made)
            write(path, lambda file, text=text: file.write(text))
        if keep_logs is not None:
            outcome.recording.save(keep_logs / "recording.json")
    except OSError as error:
        raise _stop(f"{error.filename or 'a file'}: {error.strerror}", USED_WRONGLY) from error
    return made


def _text(path: Path, document: dict[str, Any]) -> str:
    if path.suffix == ".json":
        return f"{json.dumps(document, indent=1)}\n"
    from spotproof.page.rehearsal import html  # noqa: PLC0415

    return html(document)


def _conclude(document: dict[str, Any], outputs: list[Path]) -> None:
    from spotproof.cli.rehearse_live import conclude  # noqa: PLC0415

    conclude(document)
    for path in outputs:
        print(f"wrote {path}", file=sys.stderr)  # noqa: T201
    for hole in document["holes"]:
        print(f"spotproof rehearse: the recording has a hole: {hole}", file=sys.stderr)  # noqa: T201
    if document["unfinished"]:
        print(f"spotproof rehearse: not to its end: {document['unfinished']}", file=sys.stderr)  # noqa: T201


def _stop(text: str, status: int) -> typer.Exit:
    print(f"spotproof rehearse: {text}", file=sys.stderr)  # noqa: T201
    return typer.Exit(status)
