"""Global importance: the columns of a table that a model needs, and those that depend on each other.

`RetrainingGame` trains a model on each set of columns. `UnsupervisedGame` needs neither a model nor a target: the value
of a set is the total correlation of its columns.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import topshap

X, y = load_diabetes(return_X_y=True, as_frame=True)

game = topshap.games.RetrainingGame(LinearRegression(), X, y, cv=5)
top = topshap.identify(game, k=3, epsilon=0.02, random_state=0)
print(top)
topshap.show.pairwise(top).figure.savefig("features_of_a_table.png", dpi=150)

# The setting of the paper: a random forest of 20 trees, scored on a test split.
forest = topshap.games.RetrainingGame.random_forest(X, y, task="regression")
print("\nwith random forests:", ", ".join(topshap.identify(forest, k=3, budget=40, random_state=0).names))

together = topshap.games.UnsupervisedGame(X)
print("depend most on each other:", ", ".join(topshap.identify(together, k=3).names))
