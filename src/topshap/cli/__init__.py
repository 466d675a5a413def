"""The command ``topshap``: one module for each command, which is imported only if the command is run.

A module takes part with a function ``register(app)`` that adds its commands, and with its name in `MODULES`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import topshap
from topshap.core.errors import TopshapError
from topshap.core.printable import printable_lines

if TYPE_CHECKING:
    import typer

MODULES = [
    "topshap.cli.demo",
    "topshap.cli.select",
    "topshap.cli.explain",
    "topshap.cli.identify",
    "topshap.cli.show",
    "topshap.cli.store",
]
"""The modules with commands; each has the name of its command."""


def build(only: str | None = None) -> typer.Typer:
    """Return the command ``topshap`` with all commands, or with one of them if there is one of that name."""
    try:
        import typer  # noqa: PLC0415 - an extra, imported where it is used
    except ImportError as error:
        raise ImportError("The command topshap needs typer: pip install 'topshap[cli]'") from error
    app = typer.Typer(
        name="topshap",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
    )

    def print_version(requested: bool) -> None:
        if requested:
            typer.echo(f"topshap {topshap.__version__}")
            raise typer.Exit

    @app.callback()
    def _topshap(
        version: bool = typer.Option(
            False, "--version", help="Print the version and exit.", is_eager=True, callback=print_version
        ),
    ) -> None:
        """Find the k most important players of any cooperative game with as few evaluations as possible."""

    named = [name for name in MODULES if name.rpartition(".")[2] == only]
    for name in named or MODULES:
        import_module(name).register(app)
    return app


def main() -> None:
    """Run the command; report an error in one line, with the exit code 1."""
    try:
        build(next(iter(sys.argv[1:]), None))()
    except (TopshapError, ImportError, OSError) as error:
        sys.stderr.write(f"Error: {printable_lines(str(error))}\n")
        sys.exit(1)
