"""``topshap demo``: the top features behind one prediction of a model, and the cost of finding them.

The model is a small neural network on scikit-learn's breast cancer data, whose 30 features have 2**30 coalitions.
The value of a coalition is the predicted probability of a malignant tumour when the features outside it take the values
of other tumours, on average over 100 of them.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import topshap
from topshap.cli.arguments import RaceArguments, takes_race_arguments
from topshap.core.extras import import_extra


class Question(NamedTuple):
    """An explainer, the row to explain, and the question as text."""

    explainer: topshap.Explainer
    x: np.ndarray[Any, Any]
    text: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


@takes_race_arguments(budget=3000, report=Path("topshap-demo.html"))
def demo(
    *,
    k: Annotated[int, typer.Option("-k", help="The number of features to find.")] = 5,
    race: RaceArguments,
) -> None:
    """Find the features behind one prediction of a neural network, and write a report.

    For example: topshap demo -k 3 --budget 500 --report tumour.html
    """
    writer = race.writer()
    explainer, x, question = suspicious_tumour()
    writer.say(f"{question}\n")
    start = time.perf_counter()
    top = writer.run(lambda: explainer.explain(x, k=k, **race.options()))
    seconds = time.perf_counter() - start
    writer.write(top, title=question, game="the probability of a malignant tumour, by a small neural network")
    coalitions = 2**top.n_players
    writer.say(f"\n{top.algorithm} took {top.evaluations:,} evaluations and {seconds:.1f} s.")
    writer.say(f"Full enumeration would take {coalitions:,}: {coalitions / top.evaluations:,.0f} times as many.")


def suspicious_tumour() -> Question:
    """Train a model and return a question about one of its predictions."""
    data = _sklearn("datasets").load_breast_cancer()
    split = _sklearn("model_selection").train_test_split
    X_train, X_test, y_train, _ = split(data.data, data.target, random_state=0)
    network = _sklearn("neural_network").MLPClassifier((32,), max_iter=1000, random_state=0)
    model = _sklearn("pipeline").make_pipeline(_sklearn("preprocessing").StandardScaler(), network)
    model.fit(X_train, y_train)
    malignant = list(data.target_names).index("malignant")
    chances = model.predict_proba(X_test)[:, malignant]
    row = int(np.argmin(np.abs(chances - 0.9)))  # a suspicious tumour, but not an obvious case
    explainer = topshap.Explainer(model, X_train, output=malignant, feature_names=list(data.feature_names))
    text = f"The model gives tumour {row} of the test set a {chances[row]:.0%} chance of being malignant. Why?"
    return Question(explainer, X_test[row], text)


def _sklearn(module: str) -> Any:
    return import_extra(f"sklearn.{module}", extra="sklearn", needed_by="topshap demo")
