"""The process a program is run in: what it expects to find, and everything it changed taken back afterwards."""

import contextlib
import io
import logging
import os
import sys
import sysconfig
import threading
import warnings
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final, TextIO

from spotproof.preview.model import redact

_INSTALLED: Final = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


@contextlib.contextmanager
def kept(
    program: Path | None, secrets: frozenset[str], heard: set[str], thread_failed: Callable[[BaseException], None]
) -> Generator[None]:
    """Give the program at `program` (None: a function) its process, and leave ours as it was.

    What it prints goes to stderr without `secrets`: the report on stdout may be JSON. `heard` are the lines that
    earlier runs of it printed; they are not shown again, and those of this run are added. `thread_failed` hears of
    exceptions in its threads, which do not end a program.
    """
    modules, cwd, argv, path = set(sys.modules), Path.cwd(), sys.argv, list(sys.path)
    environment = dict(os.environ)
    output = _Redacting(sys.stderr, secrets, frozenset(heard))
    screen = io.TextIOWrapper(output, encoding="utf-8", errors="replace", write_through=True)
    try:
        with _stdout_is_stderr(), _globals_kept(thread_failed), _redirected(screen):
            if program is not None:
                directory = program if program.is_dir() else program.parent
                os.chdir(directory)
                sys.argv = [str(program)]
                sys.path.insert(0, str(directory))
            yield
    finally:
        screen.flush()
        heard.update(output.lines)
        os.chdir(cwd)
        sys.argv, sys.path[:] = argv, path
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        if program is not None:
            _forget(modules)


class _Redacting(io.BufferedIOBase):
    """Bytes for `stream`, as text without secrets, as the Pulumi CLI shows them, and without lines heard before."""

    name = "<output of the program>"

    def __init__(self, stream: TextIO, secrets: frozenset[str], heard: frozenset[str]) -> None:
        self.lines: set[str] = set()
        self._stream = stream
        self._secrets = secrets
        self._heard = heard
        self._begun = ""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        *whole, self._begun = f"{self._begun}{bytes(data).decode('utf-8', 'replace')}".splitlines(keepends=True) or [""]
        if self._begun.endswith(("\n", "\r")):
            whole, self._begun = [*whole, self._begun], ""
        for line in whole:
            self._show(line)
        return len(data)

    def flush(self) -> None:
        self._show(self._begun)
        self._begun = ""
        self._stream.flush()

    def _show(self, line: str) -> None:
        self.lines.add(line)
        if line not in self._heard:
            self._stream.write(redact(line, self._secrets))

    def fileno(self) -> int:
        """Return the descriptor beneath: a child process of the program is given it."""
        return self._stream.fileno()


@contextlib.contextmanager
def _redirected(screen: TextIO) -> Generator[None]:
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        yield


@contextlib.contextmanager
def _stdout_is_stderr() -> Generator[None]:
    """Send what child processes write to descriptor 1 to descriptor 2, since they inherit both."""
    try:
        saved = os.dup(1)
    except OSError:  # closed, so nothing can go there
        yield
        return
    sys.stdout.flush()
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


@contextlib.contextmanager
def _globals_kept(thread_failed: Callable[[BaseException], None]) -> Generator[None]:
    """Take back filters of warnings and of logging, and tell of threads that failed in one line each."""

    def failed(args: Any) -> None:
        if not isinstance(args.exc_value, SystemExit):
            thread_failed(args.exc_value)

    root = logging.getLogger()
    level, handlers, hook = root.level, list(root.handlers), threading.excepthook
    threading.excepthook = failed
    try:
        with warnings.catch_warnings():
            yield
    finally:
        threading.excepthook = hook
        root.setLevel(level)
        root.handlers[:] = handlers


def _forget(before: set[str]) -> None:
    """Drop the modules a program brought along: the next program has a `network.py` too, or another stack's settings.

    Installed ones stay, and so do SDKs beside a program (`pulumi_...`), which refuse to be registered twice.
    """
    for name in set(sys.modules) - before:
        module: Any = sys.modules[name]
        file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), None)
        if file is None or name.partition(".")[0].startswith(("spotproof", "pulumi_")):
            continue
        path = Path(file)
        installed = "site-packages" in path.parts or "dist-packages" in path.parts
        if not installed and not any(path.is_relative_to(library) for library in _INSTALLED):
            del sys.modules[name]
