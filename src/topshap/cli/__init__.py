"""The command ``topshap``, with one module per subcommand; a module is imported only if its command is run.

To add a command, write a module with a function ``register(app)`` that adds the command, and list it in `MODULES`.
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
    "topshap.cli.importance",
    "topshap.cli.identify",
    "topshap.cli.prompt",
    "topshap.cli.show",
    "topshap.cli.store",
]
"""The modules of the commands, each named after its command."""


def build(only: str | None = None) -> typer.Typer:
    """Return the command ``topshap`` with the subcommand `only`, or with all subcommands if it does not exist."""
    try:
        import typer  # noqa: PLC0415 - an optional dependency
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
    """Run the command; print errors as one line and exit with code 1."""
    try:
        build(next(iter(sys.argv[1:]), None))()
    except (TopshapError, ImportError, OSError) as error:
        sys.stderr.write(f"Error: {printable_lines(str(error))}\n")
        sys.exit(1)
