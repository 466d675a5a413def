"""``topshap explain``: the columns behind the prediction for one row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import topshap
from topshap.cli.loading import load_object
from topshap.cli.models import Model, make_model
from topshap.cli.running import Budget, Delta, Epsilon, Jobs, Json, Outcome, RankBy, Ranking, Report, Seed, StoreFile
from topshap.cli.tables import Task, as_features, read_table, trainable, without
from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    import pandas as pd

    from topshap.core.result import TopK


class Question(NamedTuple):
    """A model, the rows to fill in from, the row to explain, and what was done to get there, in words."""

    model: Any
    background: pd.DataFrame
    x: pd.DataFrame
    said: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)


def explain(
    data: Annotated[Path, typer.Argument(help="A table: .csv, .csv.gz or .parquet.")],
    *,
    row: Annotated[int, typer.Option(help="Which row to explain; the first one below the header is 0.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many columns to find.")] = 5,
    model: Annotated[Model, typer.Option(help="What is trained.")] = Model.forest,
    task: Annotated[Task | None, typer.Option(help="What the target is, if not what is inferred.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    output: Annotated[str | None, typer.Option(help="Which class to explain, if not the predicted one.")] = None,
    predict: Annotated[
        str | None, typer.Option(help="module:function, from a DataFrame to one number per row, in place of training.")
    ] = None,
    trust_pickle: Annotated[
        Path | None, typer.Option(help="A fitted model in a pickle or joblib file. Loading it runs what is in it.")
    ] = None,
    rank_by: RankBy = Ranking.value,
    budget: Budget = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.05,
    report: Report = None,
    store: StoreFile = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find the columns behind the prediction for one row.

    The value of a set of columns is what the model predicts when only they are known, and the others are at their mean
    or their most frequent value. The model is trained on all other rows, or it is yours.

    For example:

    topshap explain houses.csv --target price --row 17 -k 3

    topshap explain houses.csv --row 17 --drop id --predict my_code:predict_price --report house-17.html
    """
    outcome = Outcome(as_json, report, store)
    frame = read_table(data)
    if not 0 <= row < len(frame):
        raise ParameterError(f"The rows of {str(data)!r} are 0 to {len(frame) - 1}. Got --row {row}.")
    if predict is not None and trust_pickle is not None:
        raise ParameterError("--predict and --trust-pickle both say which model to use: give one of them.")
    left_out = drop or []
    if predict is None and trust_pickle is None:
        if target is None:
            raise ParameterError("Say which column to predict by --target, or which model to use by --predict.")
        question = _trained(frame, row=row, target=target, drop=left_out, task=task, kind=model, seed=seed, path=data)
    else:
        columns = without(frame, [*left_out, *([] if target is None else [target])], data)
        own = load_object(predict, what="--predict") if predict is not None else _unpickled(trust_pickle)
        question = Question(own, columns, columns.iloc[[row]], f"The model is {predict or trust_pickle}.")
    chosen, predicted = _output(question, output)
    explainer = topshap.Explainer(question.model, question.background, output=chosen)
    outcome.say(f"{question.said}\n{predicted}Explained: {explainer.output_name}.\n")

    def race() -> TopK:
        return explainer.explain(
            question.x,
            k=k,
            budget=budget,
            epsilon=epsilon,
            delta=delta,
            rank_by=rank_by.value,
            random_state=seed,
            n_jobs=jobs,
            store=store,
            progress=outcome.progress,
        )

    title = f"Which columns are behind the prediction for row {row} of {data.name}?"
    outcome.of(race, title=title, game=f"{explainer.output_name}, with what is not known at its mean or most frequent value")


def _trained(
    frame: pd.DataFrame,
    *,
    row: int,
    target: str,
    drop: list[str],
    task: Task | None,
    kind: Model,
    seed: int,
    path: Path,
) -> Question:
    """Train a model on all rows but the one in question."""
    x = as_features(without(frame, [target, *drop], path)).iloc[[row]]
    X, y, task, said = trainable(frame.drop(index=row), target, drop, task, path=path)
    model = make_model(kind, task, seed).fit(X, y)
    return Question(model, X, x, f"{said}\nA {kind} model was trained on the other {len(X)} rows.")


def _unpickled(path: Path | None) -> Any:
    joblib = import_extra("joblib", extra="sklearn", needed_by="--trust-pickle")
    if path is None or not path.is_file():
        raise ParameterError(f"There is no file {str(path)!r}.")
    try:
        return joblib.load(path)
    except Exception as error:  # whatever is in the file may fail in any way
        raise ParameterError(f"{str(path)!r} cannot be loaded: {type(error).__name__}: {error}") from error


def _output(question: Question, output: str | None) -> tuple[Any, str]:
    """Return which output to explain: the class that was named or else predicted, None where there are no classes."""
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
