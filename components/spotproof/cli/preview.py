"""`spotproof preview`: every resource of every stack, judged and priced. Exit 1 if one must not be deployed."""

import enum
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from spotproof.cli.output import problem_with, write

if TYPE_CHECKING:
    from spotproof.preview.model import Capture, Mode, Preview, Violation
    from spotproof.preview.preview import Checks
    from spotproof.preview.project import Project
    from spotproof.prices import Prices

USED_WRONGLY = 2


class ModeChoice(enum.StrEnum):
    """Which outputs the program sees: none, invented ones, or one run with each."""

    unknown = "unknown"
    known = "known"
    both = "both"


class FormatChoice(enum.StrEnum):
    """For people or for machines."""

    tree = "tree"
    json = "json"


def command(  # noqa: PLR0913  # one parameter an option
    stacks: Annotated[list[str] | None, typer.Argument(metavar="[STACK]...", help="Stacks to preview.")] = None,
    *,
    all_stacks: Annotated[bool, typer.Option("--all", help="Every stack that has a file.")] = False,
    mode: Annotated[ModeChoice, typer.Option(help="What the program sees of outputs.")] = ModeChoice.both,
    report: Annotated[FormatChoice, typer.Option("--format", help="The report's form.")] = FormatChoice.tree,
    prices: Annotated[Path | None, typer.Option(help="A prices file instead of the built-in table.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the report here instead of to stdout.")] = None,
    program: Annotated[Path | None, typer.Option(help="The folder with Pulumi.yaml.")] = None,
    policy_pack_config: Annotated[
        Path | None, typer.Option(help="Policy configuration as Pulumi's --policy-pack-config takes it (JSON).")
    ] = None,
) -> None:
    """Preview stacks in this process: no cloud account, no Pulumi CLI, no network.

    Exit status 1: a mandatory policy is violated, an input is wrong, or a program fails. 2: used wrongly.
    """
    # Pulumi prints a help text in place of an output in an f-string, unless it is told to raise.
    os.environ.setdefault("PULUMI_ERROR_OUTPUT_STRING", "true")
    from spotproof.prices import load_prices  # noqa: PLC0415

    if output is not None and (problem := problem_with(output)):
        raise _usage_error(problem)
    project = _or_usage_error(lambda: find_project(program))
    names = _chosen(project, stacks or [], all_stacks=all_stacks)
    checks = _or_usage_error(lambda: _checks(policy_pack_config))
    table = _or_usage_error(lambda: load_prices(prices)) if prices else None
    modes: tuple[Mode, ...] = ("unknown", "known") if mode is ModeChoice.both else (mode.value,)
    previews: list[Preview] = []
    failures: dict[str, str] = {}
    for name in names:
        try:
            previews.append(_preview(project, name, modes, _of_stack(project, name, table, checks)))
        except _failures() as error:
            failures[name] = str(error)
    text = _text(report, previews, failures, several=all_stacks or len(names) > 1)
    _or_usage_error(lambda: _deliver(text, output, previews, failures))
    # Last, where they are seen: the reports of the other stacks may be long.
    for name, problem in failures.items():
        print(f"{name}: {problem}", file=sys.stderr)  # noqa: T201
    raise typer.Exit(1 if failures or any(preview.failed for preview in previews) else 0)


def _preview(project: "Project", name: str, modes: "tuple[Mode, ...]", checks: "Checks") -> "Preview":
    from spotproof.preview.preview import preview_stack  # noqa: PLC0415

    return preview_stack(project.program, project.target(name), modes, checks)


def _of_stack(project: "Project", name: str, table: "Prices | None", checks: "Checks") -> "Checks":
    """The checks with what the stack file says: prices, the regions of default providers, and quotas.

    Prices are those of the option, or of the stack's own settings, or of this release. Settings of ours are checked
    whole before the program runs: the program sees its one key and no other, so that a misspelt
    `spotproof:enviroment` beside it would go unnoticed.

    Raises:
        SettingsError: the stack file holds settings of ours that cannot work.
    """
    from spotproof.preview import cost  # noqa: PLC0415
    from spotproof.preview.regions import default_regions  # noqa: PLC0415
    from spotproof.prices import load_prices  # noqa: PLC0415
    from spotproof.settings import ENVIRONMENT_KEY, clock, load_stack, read_stack_file  # noqa: PLC0415

    file = project.stack_files.get(name)
    config = read_stack_file(file) if file else {}
    env = None
    if file and ENVIRONMENT_KEY in config:
        env = load_stack(config, today=clock.today(), source=file.name)
    own = file.parent / env.prices if file and env and env.prices else None
    known = table or load_prices(own)
    regions = default_regions(config)

    def price(capture: "Capture") -> cost.CostEstimate:
        return cost.estimate(capture, known, regions)

    return replace(checks, price=price, quotas=tuple(env.provider.quotas(env)) if env else ())


def _failures() -> tuple[type[Exception], ...]:
    from spotproof.preview.errors import ProgramError  # noqa: PLC0415
    from spotproof.preview.project import ProjectError  # noqa: PLC0415
    from spotproof.settings.errors import SettingsError  # noqa: PLC0415

    return ProgramError, ProjectError, SettingsError


def _or_usage_error(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _usage_error(f"{error.filename or 'a file'}: {error.strerror}") from error
    except (*_failures(), ValueError) as error:
        raise _usage_error(str(error)) from error


def _usage_error(text: str) -> typer.Exit:
    print(f"spotproof preview: {text}", file=sys.stderr)  # noqa: T201
    return typer.Exit(USED_WRONGLY)


def find_project(program: Path | None) -> "Project":
    """Find the project as the Pulumi CLI does: in this folder or the nearest one above."""
    from spotproof.preview.project import PROJECT_FILES, load_project  # noqa: PLC0415

    if program is not None:
        return load_project(program)
    here = Path.cwd()
    folders = (folder for folder in (here, *here.parents) if any((folder / name).is_file() for name in PROJECT_FILES))
    return load_project(next(folders, here))


def _chosen(project: "Project", stacks: list[str], *, all_stacks: bool) -> list[str]:
    from spotproof.preview.project import unknown_name  # noqa: PLC0415

    known = list(project.stack_files)
    if all_stacks and stacks:
        raise _usage_error("name stacks or say --all, not both")
    wrong = [name for name in stacks if known and name not in known]
    if wrong:
        raise _usage_error(unknown_name("stack", wrong[0], project.stack_files))
    if stacks:
        return list(dict.fromkeys(stacks))
    if all_stacks or len(known) == 1:
        return known or ["dev"]
    if not known:
        return ["dev"]
    raise _usage_error(f"which stack? Name one or more, or say --all. Known: {', '.join(known)}")


def _checks(policy_pack_config: Path | None) -> "Checks":
    from spotproof.preview import policy_run  # noqa: PLC0415
    from spotproof.preview.preview import Checks  # noqa: PLC0415

    config: dict[str, object] = _json(policy_pack_config) if policy_pack_config else {}

    def judge(capture: "Capture") -> "list[Violation]":
        return policy_run.run_policies(capture.resources, project=capture.project, stack=capture.stack, config=config)

    # A configuration of policies that do not exist is wrong use, and told before any program runs.
    policy_run.run_policies((), project="", stack="", config=config)
    return Checks(judge=judge)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}") from error


def _text(report: FormatChoice, previews: "list[Preview]", failures: dict[str, str], *, several: bool) -> str | None:
    """Return the JSON text, or None for the tree, which needs to know where it is written."""
    if report is FormatChoice.tree:
        return None
    from spotproof.preview import report_json  # noqa: PLC0415

    documents = [report_json.document(preview) for preview in previews]
    documents += [report_json.failure(name, text) for name, text in failures.items()]
    return report_json.text(documents, several=several)


def _deliver(text: str | None, output: Path | None, previews: "list[Preview]", failures: dict[str, str]) -> None:
    from spotproof.preview import report_tree  # noqa: PLC0415

    if output is None:
        _print(sys.stdout, text, previews)
        return
    tail = "" if text else "".join(f"\n{name}: {problem}\n" for name, problem in failures.items())
    write(output, lambda file: (_print(file, text, previews), file.write(tail)))
    for preview in previews:
        print(report_tree.verdict(preview), file=sys.stderr)  # noqa: T201


def _print(file: IO[str], text: str | None, previews: "list[Preview]") -> None:
    from spotproof.preview import report_tree  # noqa: PLC0415

    if text is None:
        report_tree.write(previews, file)
        return
    if not str(getattr(file, "encoding", "utf-8")).lower().startswith("utf"):
        # What the terminal cannot show is written as JSON's own escape, and nothing is lost.
        text = re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    file.write(f"{text}\n")
