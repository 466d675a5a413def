"""Models that accept missing values or learn in context: features are missing, or the model is fitted without them.

With TabPFN two lines change: ``from tabpfn import TabPFNRegressor`` and ``estimator = TabPFNRegressor()``. A fit then
only sets the context, and an evaluation of either game is one forward pass.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import topshap

X, y = load_diabetes(return_X_y=True, as_frame=True)
estimator = HistGradientBoostingRegressor(max_iter=30, random_state=0)

# Absent features are missing values: one prediction per coalition.
explainer = topshap.Explainer(estimator.fit(X, y), X, imputer="missing", random_state=0)
missing = explainer.explain(X.iloc[0], k=3, budget=200)
print("missing values:", ", ".join(missing.names))

# The model is fitted again on the present features only, so nothing is replaced.
game = topshap.games.RecontextGame(estimator, X, y, X.iloc[0])
top = topshap.identify(game, k=3, budget=60, random_state=0)
print("fitted again:", ", ".join(top.names))
print(top)
topshap.show.waterfall(top).figure.savefig("in_context_models.png", dpi=150)
