"""The command ``topshap-bench importance``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topshap_bench.cli.options import Datasets, given

if TYPE_CHECKING:
    from topshap_bench.importance.comparison import Cell, Confident


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
    rows: Annotated[int, typer.Option(min=20, help="The largest number of rows of a table.")] = 200,
    by: Annotated[list[str] | None, typer.Option(help="loss or mean_abs; by default both.")] = None,
    out: Annotated[Path | None, typer.Option(help="A file for the report, which is printed as well.")] = None,
) -> None:
    """Compare Explainer.importance with sage-importance and shap at equal numbers of predictions.

    For example: topshap-bench importance --setup diabetes-mlp --share 0.3 --runs 1 --rows 30 --by loss
    """
    from topshap_bench.importance.comparison import compare, report
    from topshap_bench.importance.problems import JUDGED, TUNED

    def say(text: str) -> None:
        typer.echo(text, err=True)

    cells: list[Cell] = []
    stopped: list[Confident] = []
    described: list[str] = []
    text = ""
    for name in setup or (*TUNED, *JUDGED):
        options = given(shares=share, kinds=by)
        more = compare(setups=[name], folder=folder, runs=runs, rows=rows, progress=say, **options)
        cells, stopped, described = cells + more[0], stopped + more[1], described + more[2]
        text = report(cells, stopped, described)
        if out is not None:  # after every set-up, so that an interruption keeps the others
            out.write_text(text + "\n", encoding="utf-8")
    typer.echo(text)


COMMANDS = (importance,)
"""The commands of this module."""
