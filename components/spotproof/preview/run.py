"""Run a Pulumi program in this process against our monitor, and leave the process as it was."""

import asyncio
import contextlib
import contextvars
import gc
import io
import os
import runpy
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

import pulumi.runtime
from pulumi.runtime import config as pulumi_config
from pulumi.runtime.stack import run_in_stack

from spotproof.preview.errors import ProgramError, explain, is_wrong_shape
from spotproof.preview.invented import invent
from spotproof.preview.loop import Loop
from spotproof.preview.model import Capture, Mode, redact
from spotproof.preview.monitor import Engine, Monitor

Program: TypeAlias = Path | Callable[[], None]
"""A directory with `__main__.py`, a file, or a function."""

_OURS: Final = Path(__file__).resolve().parents[1]


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


def capture(program: Program, target: Target | None = None, mode: Mode = "unknown") -> Capture:
    """Run a program once and return what it registered.

    In "unknown" mode, ids and outputs that the inputs do not give are unknown, as at the first preview of a stack. In
    "known" mode they are invented, so that code under `apply` runs.

    Raises:
        ProgramError: the program raised, would be refused by the engine, or waits for ever.
    """
    target = target or Target()
    try:
        return _once(program, target, mode, echo=True)
    except ProgramError as error:
        if not is_wrong_shape(error):
            raise
    return _once(program, target, mode, echo=False)


def _once(program: Program, target: Target, mode: Mode, *, echo: bool) -> Capture:
    monitor = Monitor(target.project, target.stack, invent if mode == "known" else None, echo=echo)
    engine = Engine()
    try:
        with _process_kept(program, target.configuration.secrets), _collector_paused():
            contextvars.Context().run(_run, program, target, monitor, engine)
    except Exception as error:
        own = _directory(program)
        raise explain(error, [d for d in (own, _OURS) if d], target.configuration.secrets, monitor.invokes) from error
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
            raise pulumi.RunError(f"the program ended itself with sys.exit({stop.code!r})") from stop


def _directory(program: Program) -> Path | None:
    if not isinstance(program, Path):
        return Path(program.__code__.co_filename).parent if hasattr(program, "__code__") else None
    return (program if program.is_dir() else program.parent).resolve()


class _Screen(io.TextIOBase):
    """Where a program's prints go, without the configuration's secrets, as the Pulumi CLI shows them."""

    def __init__(self, stream: TextIO, secrets: frozenset[str]) -> None:
        self._stream = stream
        self._secrets = secrets

    def write(self, text: str, /) -> int:
        self._stream.write(redact(text, self._secrets))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


@contextlib.contextmanager
def _process_kept(program: Program, secrets: frozenset[str]) -> Generator[None]:
    """Give the program the process it expects and take back what it changed: cwd, argv, path, modules, stdout."""
    directory = _directory(program) if isinstance(program, Path) else None
    cwd, argv, path, modules = Path.cwd(), sys.argv, list(sys.path), set(sys.modules)
    environment = dict(os.environ)
    try:
        # The report may be JSON on stdout; what a program prints is for people.
        screen = _Screen(sys.stderr, secrets)
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            if directory is not None:
                os.chdir(directory)
                sys.argv = [str(program)]
                sys.path.insert(0, str(directory))
            yield
    finally:
        os.chdir(cwd)
        sys.argv, sys.path[:] = argv, path
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        if directory is not None:
            _forget(directory, modules)


def _forget(directory: Path, before: set[str]) -> None:
    """Drop the modules a program brought from its own directory: the next program has a `network.py` too."""
    for name in set(sys.modules) - before:
        module: Any = sys.modules[name]
        file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), None)
        if file is None or "site-packages" in file or name.partition(".")[0] == "spotproof":
            continue
        if Path(file).is_relative_to(directory):
            del sys.modules[name]


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
