"""``topshap importance``: the columns that are most important to a model over the rows of a table."""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

import topshap
from topshap.cli.explain import REPLACED, chosen_output, own_model
from topshap.cli.loading import load_object
from topshap.cli.models import Model, make_model
from topshap.cli.output import ResultWriter
from topshap.cli.table_files import MaxColumns, MaxSize, TableLimits, read_table
from topshap.cli.tables import Task, column, trainable, without
from topshap.core.errors import ParameterError
from topshap.core.importance_result import ImportanceKind, Population
from topshap.games.imputers import ImputerName

if TYPE_CHECKING:
    import pandas as pd

_race = partial(typer.Option, rich_help_panel="Race")
_output = partial(typer.Option, rich_help_panel="Output")


class Asked(NamedTuple):
    """A model, the background rows, the rows and the target that importance is measured on, and a description."""

    model: Any
    background: pd.DataFrame
    X: pd.DataFrame
    y: Any
    said: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("importance")(importance)


def importance(
    data: Annotated[Path, typer.Argument(help="A table: .csv, .csv.gz or .parquet.")],
    *,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="The number of columns to find.")] = 5,
    by: Annotated[
        ImportanceKind | None,
        typer.Option(help="The reduction of the loss, or the mean magnitude of Shapley values. By default loss."),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="mse, mae, log-loss, or a function of (y, prediction) as module:function.")
    ] = None,
    model: Annotated[Model, typer.Option(help="The model to train.")] = Model.forest,
    task: Annotated[Task | None, typer.Option(help="The kind of target; inferred by default.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to ignore; can be repeated.")] = None,
    test: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="The share of rows that a model is not trained on, but tested.")
    ] = 0.25,
    output: Annotated[
        str | None, typer.Option(help="The class whose magnitudes are averaged; by default the predicted class.")
    ] = None,
    imputer: Annotated[
        ImputerName, typer.Option(help="The replacement of absent columns; see the page 'Explain a prediction'.")
    ] = "marginal",
    max_background: Annotated[
        int,
        typer.Option(help="The maximum number of rows that replace absent columns: sampled rows, or Gaussian draws."),
    ] = 100,
    population: Annotated[
        Population, typer.Option(help="Whether the result is about the rows of the table or about any such rows.")
    ] = "table",
    predict: Annotated[
        str | None,
        typer.Option(help="The function to explain, as module:function; it maps a DataFrame to one number per row."),
    ] = None,
    trust_pickle: Annotated[
        Path | None,
        typer.Option(help="A fitted model to explain, in a pickle or joblib file. Loading the file runs its code."),
    ] = None,
    max_columns: MaxColumns = TableLimits().columns,
    max_size: MaxSize = TableLimits().mebibytes,
    budget: Annotated[
        int | None, _race(help="The maximum number of evaluations, of one set of columns for one row each.")
    ] = None,
    epsilon: Annotated[
        float | None, _race(help="Stop when no column outside the top k is more important by more than this.")
    ] = None,
    delta: Annotated[float, _race(help="The allowed probability of an error larger than --epsilon.")] = 0.05,
    seed: Annotated[int, _race(help="The random seed. The same seed gives the same result.")] = 0,
    jobs: Annotated[
        int | None, _race(help="The number of parallel evaluations, 1 by default. The result does not depend on it.")
    ] = None,
    store: Annotated[
        Path | None,
        _race(help="Keep every evaluation in this file; the same command then resumes after an interruption."),
    ] = None,
    report: Annotated[Path | None, _output(help="Write a report to this .html file.")] = None,
    as_json: Annotated[
        bool,
        _output("--json", help="Print the result as JSON, for topshap show. All other text goes to standard error."),
    ] = False,
    progress: Annotated[
        bool | None, _output(help="Show a progress bar; by default if standard error is a terminal.")
    ] = None,
) -> None:
    """Find the columns that are most important to a model, over many rows and without retraining.

    The importance of a column is how much it reduces the loss of the model when the values of other columns are taken
    from other rows; with --by mean_abs, the mean magnitude of its Shapley values. The model is trained on three
    quarters of the rows and importance is measured on the others, unless --predict or --trust-pickle provides a model.

    For example:

    topshap importance houses.csv --target price -k 3

    topshap importance houses.csv --target price --drop id --predict my_code:predict_price --by mean_abs
    """
    writer = ResultWriter(as_json=as_json, report=report, store=store)
    frame = read_table(data, TableLimits(max_columns, max_size))
    if predict is None and trust_pickle is None:
        if target is None:
            raise ParameterError("Name the column to predict with --target, or a function with --predict.")
        asked = _trained(frame, target, drop or [], task, model, test=test, seed=seed, path=data)
    else:
        own = own_model(predict, trust_pickle)
        columns = without(frame, [*(drop or []), *([] if target is None else [target])], data)
        y = None if target is None else frame[column(frame, target, data)].to_numpy()
        asked = Asked(own, columns, columns, y, f"The model is {predict or trust_pickle}.")
    kind: ImportanceKind = by or ("loss" if asked.y is not None else "mean_abs")
    explainer = topshap.Explainer(
        asked.model,
        asked.background,
        output=chosen_output(asked.model, output),
        imputer=imputer,
        max_background=max_background,
        draws=max_background,
        random_state=seed,
    )
    writer.say(f"{asked.said}\n")
    top = writer.run(
        lambda: explainer.importance(
            asked.X,
            asked.y if kind == "loss" else None,
            k=k,
            by=kind,
            loss=_loss(loss),
            population=population,
            budget=budget,
            epsilon=epsilon,
            delta=delta,
            n_jobs=jobs,
            store=store,
            progress=_is_shown() if progress is None else progress,
        )
    )
    what = top.output_name if kind == "loss" else f"mean magnitude of {top.output_name}"
    writer.write(
        top,
        title=f"Which columns of {data.name} are most important?",
        game=f"{what}, with absent columns replaced by {REPLACED[imputer]}",
    )


def _is_shown() -> bool:
    """Return whether a progress bar is shown by default."""
    return sys.stderr.isatty() and find_spec("tqdm") is not None


def _loss(name: str | None) -> Any:
    """Return the loss of the command line: a name, or a function if the name has a colon."""
    return load_object(name, what="--loss") if name is not None and ":" in name else name


def _trained(
    frame: pd.DataFrame,
    target: str,
    drop: list[str],
    task: Task | None,
    kind: Model,
    *,
    test: float,
    seed: int,
    path: Path,
) -> Asked:
    """Train a model on some of the rows; importance is measured on the others."""
    X, y, task, said = trainable(frame, target, drop, task, path=path)
    order = np.random.default_rng(seed).permutation(len(X))
    tested = max(1, round(test * len(X)))
    if tested == len(X):
        raise ParameterError(f"The table has {len(X)} rows, too few to train a model and test it.")
    y = np.asarray(y)
    train, rest = np.sort(order[tested:]), np.sort(order[:tested])
    model = make_model(kind, task, seed).fit(X.iloc[train], y[train])
    measured = f"A {kind} model was trained on {len(train)} rows; importance is measured on the other {tested}."
    if task is Task.classification:
        known = np.isin(y[rest], model.classes_)
        if not known.all():
            measured += f" {np.sum(~known)} of them have a class that the model does not know and are left out."
        rest = rest[known]
    return Asked(model, X.iloc[train], X.iloc[rest], y[rest], f"{said}\n{measured}")
