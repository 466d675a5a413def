"""``topshap select``: the columns of a table that a model needs most to predict the target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topshap.cli.arguments import RaceArguments, takes_race_arguments
from topshap.cli.models import Model, make_model
from topshap.cli.table_files import MaxColumns, MaxSize, TableLimits, read_table
from topshap.cli.tables import Task, trainable
from topshap.core.errors import EvaluationError, TopshapError, describe
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from topshap.core.result import TopK


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("select")(select)


@takes_race_arguments()
def select(
    data: Annotated[Path, typer.Argument(help="A table: .csv, .csv.gz or .parquet.")],
    *,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    k: Annotated[int, typer.Option("-k", help="The number of columns to find.")] = 5,
    model: Annotated[Model, typer.Option(help="The model to train on each set of columns.")] = Model.forest,
    folds: Annotated[int, typer.Option(min=2, help="The number of cross-validation folds.")] = 5,
    task: Annotated[Task | None, typer.Option(help="The kind of target; inferred by default.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to ignore; can be repeated.")] = None,
    max_columns: MaxColumns = TableLimits().columns,
    max_size: MaxSize = TableLimits().mebibytes,
    race: RaceArguments,
) -> None:
    """Find the columns that a model needs most to predict the target.

    The value of a set of columns is the cross-validated score of a model trained on them alone, minus that of a
    constant prediction. The score is accuracy for classes and R^2 for numbers. The columns may contain
    categories and missing values. Evaluating a set of columns trains one model per fold.

    For example:

    topshap select houses.csv --target price -k 3

    topshap select houses.csv --target price --drop id --model boosting --epsilon 0.02 --report houses.html

    topshap select houses.csv --target price --store houses.db --jobs 2     (resumes after a crash or Ctrl-C)
    """
    writer = race.writer()
    table = read_table(data, TableLimits(max_columns, max_size))
    X, y, task, said = trainable(table, target, drop or [], task, path=data, rows_a_class=folds)
    score = "accuracy" if task is Task.classification else "R^2"
    writer.say(
        f"{said}\nA {model} model is scored by {score} in {folds} folds, on subsets of the {X.shape[1]} columns.\n"
    )
    selector = _selector(make_model(model, task, race.seed), task, folds, race, k=k)
    top = writer.run(lambda: _fit(selector, X, y))
    writer.write(
        top,
        title=f"Which columns of {data.name} predict {target}?",
        game=f"{score} of a {model} model trained on some of the columns, minus that of a constant prediction",
    )


def _selector(model: Any, task: Task, folds: int, race: RaceArguments, *, k: int) -> Any:
    """Return the selector, with folds shuffled by the seed."""
    selection = import_extra("sklearn.model_selection", extra="sklearn", needed_by="topshap select")
    from topshap.selector import TopKSelector  # noqa: PLC0415 - needs scikit-learn

    class SeededSelector(TopKSelector):
        """A selector that passes the seed of the command line to its race, so that the result shows it."""

        def _draw_seed(self) -> int:
            return race.seed

        def _store_of(self, game: Any) -> Any:  # noqa: ARG002 - the command rejects a store of other data
            return self.store

        def _warn_if_uncertain(self) -> None:
            """Do nothing: the command prints how certain the result is."""

    splitter = selection.StratifiedKFold if task is Task.classification else selection.KFold
    cv = splitter(folds, shuffle=True, random_state=race.seed)
    options: Any = race.options()
    return SeededSelector(model, k=k, cv=cv, **options)


def _fit(selector: Any, X: Any, y: Any) -> TopK:
    """Return the result of the selector; raise an `EvaluationError` if a model fails."""
    try:
        return selector.fit(X, y).result_
    except TopshapError:
        raise
    except Exception as error:
        notes = " ".join(getattr(error, "__notes__", ()))
        message = " ".join(f"{describe(error)} {notes}".split())  # on one line, like all errors of a command
        raise EvaluationError(f"A model failed: {message}") from error
