"""Run a Pulumi program in this process against our monitor, and leave the process as it was."""

import asyncio
import contextlib
import contextvars
import gc
import runpy
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

import pulumi.runtime
from pulumi.runtime import config as pulumi_config
from pulumi.runtime.stack import run_in_stack

from spotproof.preview import process
from spotproof.preview.errors import ExitError, ProgramError, explain, is_wrong_shape
from spotproof.preview.invented import invent
from spotproof.preview.loop import Loop
from spotproof.preview.model import ENCRYPTED, Capture, Message, Mode
from spotproof.preview.monitor import Engine, Monitor

Program: TypeAlias = Path | Callable[[], None]
"""A directory with `__main__.py`, a file, or a function."""

_OURS: Final = Path(__file__).resolve().parents[1]
_STAND_INS: Final = {"int": "1", "float": "1", "bool": "true", "JSON object": "{}"}
"""What the SDK asked a configuration value to be -> a text that is one."""


@dataclass(frozen=True)
class Configuration:
    """A stack's configuration as the engine sends it: "namespace:key" -> text, and which keys are secret."""

    values: dict[str, str] = field(default_factory=dict, repr=False)
    secret_keys: frozenset[str] = frozenset()

    @property
    def secrets(self) -> frozenset[str]:
        """The secret texts."""
        return frozenset(self.values[key] for key in self.secret_keys if key in self.values)


@dataclass(frozen=True)
class Target:
    """Whose preview this is. `root` is where Pulumi.yaml is (None: the program's own directory)."""

    project: str = "project"
    stack: str = "dev"
    organization: str = "organization"
    root: Path | None = None
    configuration: Configuration = field(default_factory=Configuration)


def capture(
    program: Program, target: Target | None = None, mode: Mode = "unknown", heard: set[str] | None = None
) -> Capture:
    """Run a program once and return what it registered.

    In "unknown" mode, ids and outputs that the inputs do not give are unknown, as at the first preview of a stack. In
    "known" mode they are invented, so that code under `apply` runs. Lines in `heard` were printed by an earlier run
    and are not shown again; what this one prints is added to it.

    Raises:
        ProgramError: the program raised, would be refused by the engine, or waits for ever.
    """
    target = target or Target()
    heard = set() if heard is None else heard
    echo = True
    while True:
        try:
            return _once(program, target, mode, heard, echo=echo)
        except ProgramError as error:
            fitting = _with_fitting_stand_in(target, error.__cause__)
            if fitting is not None:
                target = fitting
            elif echo and is_wrong_shape(error):
                echo = False
            else:
                raise


def _with_fitting_stand_in(target: Target, error: BaseException | None) -> Target | None:
    """Return the target with a number for an encrypted value that the program reads as one; None: that was not it."""
    values = target.configuration.values
    if not isinstance(error, pulumi.ConfigTypeError) or values.get(error.key) != ENCRYPTED:
        return None
    values = {**values, error.key: _STAND_INS.get(error.expect_type, "1")}
    return replace(target, configuration=replace(target.configuration, values=values))


def _once(program: Program, target: Target, mode: Mode, heard: set[str], *, echo: bool) -> Capture:
    monitor = Monitor(target.project, target.stack, invent if mode == "known" else None, echo=echo)
    engine = Engine()
    path = program.resolve() if isinstance(program, Path) else None

    def explained(error: BaseException) -> ProgramError:
        own = [directory for directory in (_directory(program), target.root, _OURS) if directory]
        return explain(error, own, target.configuration.secrets | monitor.secrets(), monitor.invokes)

    def thread_failed(error: BaseException) -> None:
        engine.messages.append(Message("warning", "", f"a thread of the program ended: {explained(error)}"))

    try:
        with process.kept(path, target.configuration.secrets, heard, thread_failed), _collector_paused():
            contextvars.Context().run(_run, program, target, monitor, engine)
    except KeyboardInterrupt:
        raise
    except SystemExit as stop:
        # Under `apply`, where even status 0 ends the program before it is complete.
        raise explained(ExitError(stop)) from stop
    except BaseException as error:
        raise explained(error) from error
    finally:
        monitor.close()
    return monitor.capture(mode, engine.messages, target.configuration.secrets)


def _run(program: Program, target: Target, monitor: Monitor, engine: Engine) -> None:
    # In a context of its own: settings, root stack and configuration of the SDK are context variables.
    root = target.root or _directory(program) or Path.cwd()
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            project=target.project,
            stack=target.stack,
            monitor=monitor,
            engine=engine,
            dry_run=True,
            organization=target.organization,
            root_directory=str(root),
        )
    )
    # `set_config` writes into the default object of the variable, which every context shares.
    pulumi_config.set_all_config(target.configuration.values, sorted(target.configuration.secret_keys))
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(run_in_stack(lambda: _execute(program)))


def _execute(program: Program) -> None:
    try:
        if isinstance(program, Path):
            runpy.run_path(str(program), run_name="__main__")
        else:
            program()
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise ExitError(stop) from stop


def _directory(program: Program) -> Path | None:
    if not isinstance(program, Path):
        return Path(program.__code__.co_filename).parent if hasattr(program, "__code__") else None
    return (program if program.is_dir() else program.parent).resolve()


@contextlib.contextmanager
def _collector_paused() -> Generator[None]:
    """No garbage collection while a program runs: 1,000 resources take 1.4 s without and 4.3 s with it.

    The SDK makes a hundred small objects a resource, and each full collection walks all classes of the SDKs.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
