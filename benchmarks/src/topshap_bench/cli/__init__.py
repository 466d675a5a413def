"""The command ``topshap-bench``: resumable experiments, and measurements that print a report."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from topshap.core.errors import TopshapError
from topshap_bench.cli import (
    data_points,
    experiments,
    goals,
    guard,
    importance,
    measurements,
    neurons,
    pairs,
    prompts,
    tables,
    warm_up,
)

MODULES = (data_points, experiments, goals, guard, importance, measurements, neurons, pairs, prompts, tables, warm_up)
"""The modules with the commands."""


def build() -> typer.Typer:
    """Return the command with all its subcommands."""
    app = typer.Typer(
        name="topshap-bench",
        help="Run benchmarks of top-k Shapley identification: resumable experiments and measurements.",
        no_args_is_help=True,
        add_completion=False,
    )
    for module in MODULES:
        for command in module.COMMANDS:
            app.command(command.__name__.replace("_", "-"))(command)
    return app


def main() -> None:
    """Run the command; print errors as one line and exit with code 1."""
    sys.path.insert(0, str(Path.cwd()))  # for algorithms given as "module:Class"
    try:
        build()()
    except (TopshapError, ImportError, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(1)
