"""Measurements of explanations of whole tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topshap_bench.cli.options import Budgets, Datasets, given


def explain_tables(
    setup: Annotated[
        list[str] | None, typer.Option(help="A set-up by name, for example bike-mlp; all by default; can be repeated.")
    ] = None,
    folder: Datasets = None,
    rows: Annotated[
        list[int] | None, typer.Option(min=1, help="A length of the table: by default 1, 10, 200 and 2000.")
    ] = None,
    budget: Budgets = None,
    equal_budget: Annotated[
        list[int] | None,
        typer.Option(min=1, help="A budget for sharing next to row by row: by default 100, 250 and 500."),
    ] = None,
    judged: Annotated[int, typer.Option(min=1, help="The number of rows that errors are measured on.")] = 16,
    keep: Annotated[
        Path | None, typer.Option(help="A file that keeps the measurements of each set-up, so that a run can continue.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file for the report, which is printed as well.")] = None,
) -> None:
    """Compare topshap with shap, lightshap and shapiq on whole tables, at equal accuracy.

    For example: topshap-bench explain-tables --setup diabetes-rf --rows 20 --budget 100 --judged 2
    """
    from topshap_bench.tables.comparison import compare, report

    def say(text: str) -> None:
        typer.echo(text, err=True)

    options = given(setups=setup, rows=rows, budgets=budget, equal_budgets=equal_budget, keep=keep)
    text = report(compare(folder=folder, judged=judged, progress=say, **options))
    typer.echo(text)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")


def masked_rows(
    rows: Annotated[
        list[int] | None, typer.Option(help="The number of rows, by default 1, 10, 200 and 2000; can be repeated.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="xgboost, lightgbm or none, by default all; can be repeated.")
    ] = None,
    features: Annotated[int, typer.Option(min=6, help="The number of features.")] = 30,
    coalitions: Annotated[int, typer.Option(min=1, help="The number of coalitions.")] = 100,
    dtype: Annotated[str, typer.Option(help="The dtype of the table.")] = "float64",
) -> None:
    """Print the CPU time of games of many rows besides the model.

    For example: topshap-bench masked-rows --rows 200 --model none
    """
    from topshap_bench.masked_rows import masked_rows as run
    from topshap_bench.masked_rows import report

    options = given(rows=rows, models=model)
    typer.echo(report(run(features=features, coalitions=coalitions, dtype=dtype, **options)))


def large_table(
    rows: Annotated[int, typer.Option(min=1, help="The number of rows.")] = 10_000,
    features: Annotated[int, typer.Option(min=4, help="The number of features.")] = 30,
    budget: Annotated[int, typer.Option(min=2, help="The number of evaluations of each row.")] = 100,
    model: Annotated[str, typer.Option(help="The model: xgb, lgb, rf or mlp.")] = "xgb",
) -> None:
    """Print the CPU time per row and the peak memory of explaining a long table with a cheap model.

    For example: topshap-bench large-table --rows 100 --features 6 --budget 30 --model rf
    """
    from topshap_bench.tables.large import large_table as run

    typer.echo(run(rows=rows, features=features, budget=budget, model=model))


COMMANDS = (explain_tables, masked_rows, large_table)
