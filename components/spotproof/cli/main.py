"""`spotproof COMMAND`: the table of commands and the entry point."""

import gc
import io
import os
import sys
from importlib import import_module, metadata
from typing import Annotated, Final

import typer

from spotproof.cli.words import Command

COMMANDS: Final = {
    "plan": "spotproof.cli.plan",
    "preview": "spotproof.cli.preview",
    "rehearse": "spotproof.cli.rehearse",
    "render": "spotproof.cli.render",
    "simulate": "spotproof.cli.simulate",
    "status": "spotproof.cli.status",
}
"""Name -> module with a function `command`. A module imports at its top only what its options need."""


def application() -> typer.Typer:
    """Return the application with every command of the table."""
    app = typer.Typer(
        name="spotproof",
        help="Spot GPU training environments: preview, judge and price them before anything is bought.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name, module in COMMANDS.items():
        app.command(name, cls=Command)(import_module(module).command)
    # With one command alone and no callback typer would drop its name.
    app.callback()(_options)
    return app


def _print_version(asked: bool) -> None:  # noqa: FBT001  # typer calls it with the option's value
    if asked:
        print(f"spotproof {metadata.version('spotproof')}")  # noqa: T201
        raise typer.Exit


def _options(
    *,
    version: Annotated[  # its callback does the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


def run() -> None:
    """Run the command line; never returns."""
    # A command lives for seconds, and every full collection walks all classes of the SDKs: `preview --all` of two
    # stacks takes 3.4 s without collections and 4.0 s with them.
    gc.disable()
    # Of gRPC, which carries transforms, people need errors only.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Whoever has no UTF-8 gets a question mark for what cannot be shown, not an exception.
        sys.stdout.reconfigure(errors="replace")
    application()()
