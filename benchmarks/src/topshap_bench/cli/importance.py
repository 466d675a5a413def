"""The command ``topshap-bench importance``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topshap_bench.cli.options import Datasets, given


def importance(
    setup: Annotated[
        list[str] | None, typer.Option(help="A set-up by name, for example bike-mlp; can be repeated.")
    ] = None,
    folder: Datasets = None,
    share: Annotated[
        list[float] | None,
        typer.Option(help="Predictions as a multiple of one permutation of every row; can be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs of every method.")] = 4,
    rows: Annotated[int, typer.Option(min=20, help="The largest number of rows of a table.")] = 300,
    by: Annotated[list[str] | None, typer.Option(help="loss or mean_abs; by default both.")] = None,
    out: Annotated[Path | None, typer.Option(help="A file for the report, which is printed as well.")] = None,
) -> None:
    """Compare Explainer.importance with sage-importance and shap at equal numbers of predictions.

    For example: topshap-bench importance --setup diabetes-mlp --share 0.3 --runs 2 --rows 50
    """
    from topshap_bench.importance.comparison import compare, report

    def say(text: str) -> None:
        typer.echo(text, err=True)

    found = compare(folder=folder, runs=runs, rows=rows, progress=say, **given(setups=setup, shares=share, kinds=by))
    text = report(*found)
    typer.echo(text)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")


COMMANDS = (importance,)
"""The commands of this module."""
