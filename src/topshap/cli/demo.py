"""``topshap demo``: the top features behind one prediction of a model, and what finding them cost.

The model is a small neural network on scikit-learn's breast cancer data, whose 30 features have 2**30 coalitions.
The value of a coalition is the predicted probability of a malignant tumour when the features outside it are replaced by
their means.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

import topshap
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalitions, Values


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    k: int = typer.Option(5, "-k", help="How many features to find."),
    budget: int = typer.Option(3000, help="How many evaluations of the model to spend."),
    seed: int = typer.Option(0, help="The same seed gives the same answer."),
    report: Path = typer.Option(Path("topshap-demo.html"), help="Where to write the report."),
) -> None:
    """Find the features behind one prediction of a neural network, and write a report.

    For example: topshap demo -k 3 --budget 500 --report tumour.html
    """
    game, features, question = suspicious_tumour()
    typer.echo(f"{question}\n")
    start = time.perf_counter()
    top = topshap.identify(game, n_players=len(features), k=k, budget=budget, player_names=features, random_state=seed)
    seconds = time.perf_counter() - start
    typer.echo(str(top))
    coalitions = 2**top.n_players
    typer.echo(f"\n{top.evaluations:,} evaluations of the model in {seconds:.1f} s, by {top.algorithm}.")
    typer.echo(f"Full enumeration would take {coalitions:,}: {coalitions / top.evaluations:,.0f} times as many.")
    top.to_html(report, title=question, game="the probability of a malignant tumour, by a small neural network")
    typer.echo(f"A report to look at is in {report.resolve()}")


def suspicious_tumour() -> tuple[Callable[[Coalitions], Values], list[str], str]:
    """Train a model and return the game of one of its predictions, the names of the features, and the question."""
    data = _sklearn("datasets").load_breast_cancer()
    split = _sklearn("model_selection").train_test_split
    X_train, X_test, y_train, _ = split(data.data, data.target, random_state=0)
    network = _sklearn("neural_network").MLPClassifier((32,), max_iter=1000, random_state=0)
    model = _sklearn("pipeline").make_pipeline(_sklearn("preprocessing").StandardScaler(), network)
    model.fit(X_train, y_train)
    malignant = list(data.target_names).index("malignant")
    chances = model.predict_proba(X_test)[:, malignant]
    row = int(np.argmin(np.abs(chances - 0.9)))  # a tumour that the model finds suspicious, not an obvious one
    x, means = X_test[row], X_train.mean(axis=0)

    def chance_of_malignant(coalitions: Coalitions) -> Values:
        """Return the predicted probability when only the features in a coalition are known."""
        chance: Values = model.predict_proba(np.where(coalitions, x, means))[:, malignant]
        return chance

    question = f"The model gives tumour {row} of the test set a {chances[row]:.0%} chance of being malignant. Why?"
    return chance_of_malignant, list(data.feature_names), question


def _sklearn(module: str) -> Any:
    return import_extra(f"sklearn.{module}", extra="sklearn", needed_by="topshap demo")
