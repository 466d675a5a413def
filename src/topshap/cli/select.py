"""``topshap select``: which columns of a table carry the target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import topshap
from topshap.cli.models import Model, make_model
from topshap.cli.running import Delta, Epsilon, Jobs, Json, Outcome, Report, Seed, StoreFile
from topshap.cli.tables import Task, read_table, trainable
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from topshap.core.result import TopK

FOLDS = 3
"""How many splits a model is scored on."""
PER_COLUMN = 20
"""How many sets are tried per column where nothing else is said: each takes as many models as there are folds."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("select")(select)


def select(
    data: Annotated[Path, typer.Argument(help="A table: .csv, .csv.gz or .parquet.")],
    *,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    k: Annotated[int, typer.Option("-k", help="How many columns to find.")] = 5,
    model: Annotated[Model, typer.Option(help="What is trained on each set of columns.")] = Model.forest,
    task: Annotated[Task | None, typer.Option(help="What the target is, if not what is inferred.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    budget: Annotated[
        int | None, typer.Option(help=f"How many sets of columns to try; {PER_COLUMN} per column if not --epsilon.")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.05,
    report: Report = None,
    store: StoreFile = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find the columns that a model needs most to predict the target.

    The value of a set of columns is how much better than a constant a model scores that is trained on them alone:
    accuracy for classes, R^2 for numbers, on rows it was not trained on. Categories and missing values are dealt with.

    For example:

    topshap select houses.csv --target price -k 3

    topshap select houses.csv --target price --drop id --model boosting --epsilon 0.02 --report houses.html

    topshap select houses.csv --target price --store houses.db --jobs 2     (goes on after a crash or Ctrl-C)
    """
    outcome = Outcome(as_json, report, store)
    X, y, task, said = trainable(read_table(data), target, drop or [], task, path=data, rows_a_class=FOLDS)
    score = "accuracy" if task is Task.classification else "R^2"
    if budget is None and epsilon is None:
        budget = min(PER_COLUMN * X.shape[1], 2 ** X.shape[1])
    outcome.say(f"{said}\nA {model} model is scored by {score} in {FOLDS} folds, on sets of {X.shape[1]} columns.\n")

    def race() -> TopK:
        selection = import_extra("sklearn.model_selection", extra="sklearn", needed_by="topshap select")
        splitter = selection.StratifiedKFold if task is Task.classification else selection.KFold
        game = topshap.games.RetrainingGame(
            make_model(model, task, seed),
            X,
            y,
            cv=splitter(FOLDS, shuffle=True, random_state=seed),
            random_state=seed,
        )
        return topshap.identify(
            game,
            k=k,
            budget=budget,
            epsilon=epsilon,
            delta=delta,
            random_state=seed,
            n_jobs=jobs,
            store=store,
            progress=outcome.progress,
        )

    outcome.of(
        race,
        title=f"Which columns of {data.name} carry {target}?",
        game=f"{score} of a {model} model that is trained on some columns, above that of a constant",
    )
