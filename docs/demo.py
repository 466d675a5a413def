"""The top 5 features behind one prediction of a model, and what finding them cost next to full enumeration.

The model is a small neural network on scikit-learn's breast cancer data, whose 30 features have 2**30 coalitions.
The value of a coalition is the predicted probability of a malignant tumour when the features outside it are replaced by
their means.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import topshap

if TYPE_CHECKING:
    from collections.abc import Callable


def suspicious_tumour() -> tuple[Callable[[np.ndarray], np.ndarray], list[str], str]:
    """Train a model and return the game of one of its predictions, the names of the features, and the question."""
    data = load_breast_cancer()
    X_train, X_test, y_train, _ = train_test_split(data.data, data.target, random_state=0)
    model = make_pipeline(StandardScaler(), MLPClassifier((32,), max_iter=1000, random_state=0)).fit(X_train, y_train)
    malignant = list(data.target_names).index("malignant")
    chances = model.predict_proba(X_test)[:, malignant]
    row = int(np.argmin(np.abs(chances - 0.9)))  # a tumour that the model finds suspicious, not an obvious one
    x, means = X_test[row], X_train.mean(axis=0)

    def chance_of_malignant(coalitions: np.ndarray) -> np.ndarray:
        """Return the predicted probability when only the features in a coalition are known."""
        return model.predict_proba(np.where(coalitions, x, means))[:, malignant]

    question = f"The model gives tumour {row} of the test set a {chances[row]:.0%} chance of being malignant. Why?"
    return chance_of_malignant, list(data.feature_names), question


def main() -> None:
    """Train, explain one prediction, print the leaderboard."""
    game, features, question = suspicious_tumour()
    print(f"{question}\n")
    start = time.perf_counter()
    top = topshap.identify(game, n_players=len(features), k=5, budget=3000, player_names=features, random_state=0)
    seconds = time.perf_counter() - start
    print(top)
    coalitions = 2**top.n_players
    print(f"\n{top.evaluations:,} evaluations of the model in {seconds:.1f} s, by {top.algorithm}.")
    print(f"Full enumeration would take {coalitions:,}: {coalitions / top.evaluations:,.0f} times as many.")


if __name__ == "__main__":
    main()
