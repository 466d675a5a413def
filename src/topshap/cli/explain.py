"""``topshap explain``: the columns behind the prediction for one row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import topshap
from topshap.cli.arguments import K, RaceArguments, takes_race_arguments
from topshap.cli.loading import load_object
from topshap.cli.models import Model, make_model
from topshap.cli.table_files import MaxColumns, MaxSize, TableLimits, read_table
from topshap.cli.tables import Task, as_features, trainable, without
from topshap.core.errors import ParameterError, describe
from topshap.core.extras import import_extra
from topshap.games.imputers import ImputerName
from topshap.games.links import LinkName

if TYPE_CHECKING:
    import pandas as pd

REPLACED: dict[ImputerName, str] = {
    "marginal": "those of other rows",
    "conditional": "those of similar rows",
    "mean-mode": "their mean or most frequent value",
    "baseline": "those of the only other row",
    "missing": "missing values",
    "gaussian": "draws from a normal distribution given the others",
    "gaussian-copula": "draws from a Gaussian copula given the others",
}
"""The replacement of absent columns by each imputer, in words."""


class Question(NamedTuple):
    """A model, the background rows, the row to explain, and a description of the model."""

    model: Any
    background: pd.DataFrame
    x: pd.DataFrame
    said: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)


@takes_race_arguments()
def explain(
    data: Annotated[Path, typer.Argument(help="A table: .csv, .csv.gz or .parquet.")],
    *,
    row: Annotated[int, typer.Option(help="The row to explain, counted from 0 below the header.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[Any, K(help="The number of columns to find; 'clear' for the first clear gap, with --epsilon.")] = 5,
    model: Annotated[Model, typer.Option(help="The model to train.")] = Model.forest,
    task: Annotated[Task | None, typer.Option(help="The kind of target; inferred by default.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to ignore; can be repeated.")] = None,
    output: Annotated[str | None, typer.Option(help="The class to explain; by default the predicted class.")] = None,
    imputer: Annotated[
        ImputerName, typer.Option(help="The replacement of absent columns; see the page 'Explain a prediction'.")
    ] = "marginal",
    link: Annotated[
        LinkName, typer.Option(help="The scale of the values: logit explains the log-odds of a probability.")
    ] = "identity",
    max_background: Annotated[
        int,
        typer.Option(help="The maximum number of rows that replace absent columns: sampled rows, or Gaussian draws."),
    ] = 100,
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
    race: RaceArguments,
) -> None:
    """Find the columns behind the prediction for one row.

    The value of a set of columns is the average prediction when all other columns take their values from other rows, or
    with --imputer mean-mode, their mean or most frequent value. The model is trained on all other rows, unless
    --predict or --trust-pickle provides one.

    For example:

    topshap explain houses.csv --target price --row 17 -k 3

    topshap explain houses.csv --row 17 --drop id --predict my_code:predict_price --report house-17.html
    """
    writer = race.writer()
    frame = read_table(data, TableLimits(max_columns, max_size))
    if not 0 <= row < len(frame):
        raise ParameterError(f"The rows of {str(data)!r} are 0 to {len(frame) - 1}. Got --row {row} instead.")
    if predict is None and trust_pickle is None:
        if target is None:
            raise ParameterError("Name the column to predict with --target, or a function with --predict.")
        train = Training(target, drop or [], task, model, race.seed)
        question = _trained(frame, row, train, path=data)
    else:
        own = own_model(predict, trust_pickle)
        columns = without(frame, [*(drop or []), *([] if target is None else [target])], data)
        question = Question(own, columns, columns.iloc[[row]], f"The model is {predict or trust_pickle}.")
    explainer = topshap.Explainer(
        question.model,
        question.background,
        output=chosen_output(question.model, output),
        imputer=imputer,
        link=link,
        max_background=max_background,
        draws=max_background,
        random_state=race.seed,
    )
    explained = explainer.game(question.x).output_name
    writer.say(f"{question.said}\n{_predicted(question)}Explained: {explained}.\n")
    top = writer.run(lambda: explainer.explain(question.x, k=k, **race.options()))
    writer.write(
        top,
        title=f"Which columns are behind the prediction for row {row} of {data.name}?",
        game=f"{explained}, with absent columns replaced by {REPLACED[imputer]}",
    )


class Training(NamedTuple):
    """The target and the model to train."""

    target: str
    drop: list[str]
    task: Task | None
    kind: Model
    seed: int


def _trained(frame: pd.DataFrame, row: int, train: Training, *, path: Path) -> Question:
    """Train a model on all rows but one."""
    x = as_features(without(frame, [train.target, *train.drop], path)).iloc[[row]]
    X, y, task, said = trainable(frame.drop(index=row), train.target, train.drop, train.task, path=path)
    model = make_model(train.kind, task, train.seed).fit(X, y)
    return Question(model, X, x, f"{said}\nA {train.kind} model was trained on the other {len(X)} rows.")


def own_model(predict: str | None, trust_pickle: Path | None) -> Any:
    """Return the model of the options --predict and --trust-pickle, of which one is given."""
    if predict is None:
        return _unpickled(trust_pickle)
    if trust_pickle is not None:
        raise ParameterError("--predict and --trust-pickle cannot be used together. Use one of them.")
    return load_object(predict, what="--predict")


def _unpickled(path: Path | None) -> Any:
    joblib = import_extra("joblib", extra="sklearn", needed_by="--trust-pickle")
    if path is None or not path.is_file():
        raise ParameterError(f"The file {str(path)!r} does not exist.")
    try:
        return joblib.load(path)
    except Exception as error:  # loading a pickle can raise anything
        raise ParameterError(f"Cannot load {str(path)!r}: {' '.join(describe(error).split())}") from error


def chosen_output(model: Any, output: str | None) -> Any:
    """Return the output to explain as the class or the position that a text stands for; None for the default."""
    if output is None:
        return None
    classes = list(getattr(model, "classes_", ()))
    if not classes:
        if not output.isdigit():
            raise ParameterError(
                f"--output must be a position, since the outputs have no names. Got {output!r} instead."
            )
        return int(output)
    by_name = {str(each): each for each in classes}
    if output not in by_name:
        raise ParameterError(f"--output must be one of the classes, {', '.join(by_name)}. Got {output!r} instead.")
    return by_name[output]


def _predicted(question: Question) -> str:
    """Return the class that is predicted, as a sentence; empty for a model without classes."""
    if not hasattr(question.model, "classes_"):
        return ""
    return f"Predicted: {question.model.predict(question.x)[0]}. "
