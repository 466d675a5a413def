"""The command ``topshap``: one module for each group of commands, imported when the command runs.

A module takes part by a function ``register(app)`` that adds its commands, and by its name in `MODULES`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import topshap
from topshap.core.errors import TopshapError

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
"""The modules with commands."""


def build() -> typer.Typer:
    """Return the command with everything that is registered."""
    try:
        import typer  # noqa: PLC0415 - an extra, imported where it is used
    except ImportError as error:
        raise ImportError("The command topshap needs typer: pip install 'topshap[cli]'") from error
    app = typer.Typer(
        name="topshap",
        help="The k most important players of any cooperative game, with as few evaluations as possible.",
        no_args_is_help=True,
        add_completion=False,
    )

    def print_version(asked: bool) -> None:
        if asked:
            typer.echo(f"topshap {topshap.__version__}")
            raise typer.Exit

    @app.callback()
    def _topshap(
        version: bool = typer.Option(
            False, "--version", help="Print the version and exit.", is_eager=True, callback=print_version
        ),
    ) -> None:
        """Find the k most important players of any cooperative game with as few evaluations as possible."""

    for name in MODULES:
        import_module(name).register(app)
    return app


def main() -> None:
    """Run the command; what topshap refuses is said in one line, and the exit code is 1."""
    try:
        build()()
    except (TopshapError, ImportError, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(1)
