"""`spotproof COMMAND`: the table of commands and the entry point."""

import gc
from importlib import import_module
from typing import Final

import typer

COMMANDS: Final = {
    "preview": "spotproof.cli.preview",
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
        app.command(name)(import_module(module).command)
    # With one command alone typer would drop its name.
    app.callback()(lambda: None)
    return app


def run() -> None:
    """Run the command line; never returns."""
    # A command lives for seconds, and every full collection walks all classes of the SDKs: `preview --all` of two
    # stacks takes 3.4 s without collections and 4.0 s with them.
    gc.disable()
    application()()
