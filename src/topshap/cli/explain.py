"""``topshap explain``: the columns behind the prediction for one row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import topshap
from topshap.cli.arguments import RaceArguments, takes_race_arguments
from topshap.cli.loading import load_object
from topshap.cli.models import Model, make_model
from topshap.cli.table_files import MaxColumns, MaxSize, TableLimits, read_table
from topshap.cli.tables import Task, as_features, trainable, without
from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    import pandas as pd


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
    row: Annotated[int, typer.Option(help="The row to explain; the first one below the header is 0.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[int, typer.Option("-k", help="The number of columns to find.")] = 5,
    model: Annotated[Model, typer.Option(help="The model to train.")] = Model.forest,
    task: Annotated[Task | None, typer.Option(help="The kind of target; inferred by default.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; can be repeated.")] = None,
    output: Annotated[str | None, typer.Option(help="The class to explain; by default the predicted one.")] = None,
    predict: Annotated[
        str | None, typer.Option(help="module:function, from a DataFrame to one number per row, instead of training.")
    ] = None,
    trust_pickle: Annotated[
        Path | None, typer.Option(help="A fitted model in a pickle or joblib file. Loading it runs its code.")
    ] = None,
    max_columns: MaxColumns = TableLimits().columns,
    max_size: MaxSize = TableLimits().mebibytes,
    race: RaceArguments,
) -> None:
    """Find the columns behind the prediction for one row.

    The value of a set of columns is the prediction when only they are known and all others have their mean or their
    most frequent value. The model is trained on all other rows, unless --predict or --trust-pickle names one.

    For example:

    topshap explain houses.csv --target price --row 17 -k 3

    topshap explain houses.csv --row 17 --drop id --predict my_code:predict_price --report house-17.html
    """
    writer = race.writer()
    frame = read_table(data, TableLimits(max_columns, max_size))
    if not 0 <= row < len(frame):
        raise ParameterError(f"The rows of {str(data)!r} are 0 to {len(frame) - 1}. Got --row {row}.")
    if predict is None and trust_pickle is None:
        if target is None:
            raise ParameterError("Name the column to predict with --target, or the model with --predict.")
        train = Training(target, drop or [], task, model, race.seed)
        question = _trained(frame, row, train, path=data)
    else:
        own = _own_model(predict, trust_pickle)
        columns = without(frame, [*(drop or []), *([] if target is None else [target])], data)
        question = Question(own, columns, columns.iloc[[row]], f"The model is {predict or trust_pickle}.")
    chosen, predicted = _output(question, output)
    explainer = topshap.Explainer(question.model, question.background, output=chosen)
    writer.say(f"{question.said}\n{predicted}Explained: {explainer.output_name}.\n")
    top = writer.run(lambda: explainer.explain(question.x, k=k, **race.options()))
    writer.write(
        top,
        title=f"Which columns are behind the prediction for row {row} of {data.name}?",
        game=f"{explainer.output_name}, with unknown columns at their mean or most frequent value",
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


def _own_model(predict: str | None, trust_pickle: Path | None) -> Any:
    if predict is None:
        return _unpickled(trust_pickle)
    if trust_pickle is not None:
        raise ParameterError("--predict and --trust-pickle both name a model: give one of them.")
    return load_object(predict, what="--predict")


def _unpickled(path: Path | None) -> Any:
    joblib = import_extra("joblib", extra="sklearn", needed_by="--trust-pickle")
    if path is None or not path.is_file():
        raise ParameterError(f"There is no file {str(path)!r}.")
    try:
        return joblib.load(path)
    except Exception as error:  # loading a pickle can fail in any way
        raise ParameterError(f"{str(path)!r} cannot be loaded: {type(error).__name__}: {error}") from error


def _output(question: Question, output: str | None) -> tuple[Any, str]:
    """Return the output to explain, by default the predicted class or None without classes, and the prediction."""
    classes = list(getattr(question.model, "classes_", ()))
    if not classes:
        if output is not None and not output.isdigit():
            raise ParameterError(f"The outputs of this model have no names: --output is a position. Got {output!r}.")
        return (None if output is None else int(output)), ""
    predicted = question.model.predict(question.x)[0]
    by_name = {str(each): each for each in classes}
    if output is not None and output not in by_name:
        raise ParameterError(f"--output must be one of the classes, {', '.join(by_name)}. Got {output!r} instead.")
    return (predicted if output is None else by_name[output]), f"Predicted: {predicted}. "
