"""The features that are most important to a trained model.

The model is a random forest on scikit-learn's diabetes data with a column of noise that it overfits to. The picture
shows the importance of all features by loss and by mean magnitude, with 95% intervals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import topshap

X, y = load_diabetes(return_X_y=True, as_frame=True)
X["noise"] = np.random.default_rng(0).normal(size=len(X))
model = RandomForestRegressor(20, random_state=0).fit(X[::2], y[::2])

# Importance is measured on rows that the model has not seen.
explainer = topshap.Explainer(model, X[::2], max_background=30, random_state=0)
by_loss = explainer.importance(X[1::2], y[1::2], k=3)
print(by_loss)

# What shap's bar plot shows: how much a feature moves predictions, whether that makes them better or worse.
by_magnitude = explainer.importance(X[1::2], k=3)
print()
print(by_magnitude)

# Stop as soon as the two most important features are clear, up to 3% of the total reduction of the loss.
clear = explainer.importance(X[1::2], y[1::2], k=2, epsilon=0.03 * by_loss.grand)
print(f"\nAfter {clear.evaluations} evaluations of {clear.n_rows} rows: {', '.join(clear.names)}")

# `LossGame` is the same loss as a game, with all options of `identify`: here the pairs of features that interact most.
game = topshap.games.LossGame(model, X[1::8], y[1::8], background=X[::20])
pairs = topshap.identify(game, k=2, order=2, budget=200, random_state=0)
print(f"The pairs that interact most: {', '.join(pairs.names)}")

figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.5), layout="constrained")
by_loss.plot(left)
by_magnitude.plot(right)
figure.savefig("global_importance.png", dpi=150)
# by_loss.to_html("importance.html") writes a report.
