"""Exchange with shap and shapiq: plots, games, approximators and files."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import shap
import shapiq
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import topshap

X, y = load_diabetes(return_X_y=True, as_frame=True)
model = RandomForestRegressor(10, random_state=0).fit(X, y)
explainer = topshap.Explainer(model, X, random_state=0)
game = explainer.game(X.iloc[0])
top = topshap.identify(game, k=3, budget=100, random_state=0)

# shap: an Explanation for its plots. The values add up to the prediction.
explanation = top.to_shap()
print(f"shap: {explanation.base_values:.1f} + {explanation.values.sum():.1f} = {model.predict(X.iloc[:1])[0]:.1f}")
shap.plots.waterfall(explanation, show=False)
plt.savefig("with_shap_and_shapiq.png", dpi=150, bbox_inches="tight")

# shapiq: its ExactComputer on topshap's game, and topshap as one of its approximators.
theirs = topshap.interop.to_shapiq(game)
exact = shapiq.ExactComputer(theirs, n_players=10)("SV", order=1)
found = topshap.interop.ShapiqApproximator(n=10, k=3, random_state=0).approximate(100, theirs)
largest = max(abs(exact[(i,)] - found[(i,)]) for i in range(10))
print(f"shapiq: largest difference from the exact values {largest:.2f}, after {found.estimation_budget} evaluations")

# An explainer of shapiq that takes any of its approximators, such as TabularExplainer or TabPFNExplainer.
approximator = topshap.interop.ShapiqApproximator(n=10, k=3, random_state=0)
of_arrays = RandomForestRegressor(10, random_state=0).fit(X.to_numpy(), y)
tabular = shapiq.TabularExplainer(of_arrays, X.to_numpy(), approximator=approximator, index="SV", max_order=1)
tabular.explain(X.iloc[0].to_numpy(), budget=100)
print("shapiq's explainer:", [X.columns[i] for i in approximator.result_.players])

with tempfile.TemporaryDirectory() as folder:
    top.save(Path(folder) / "top.json")
    print("from a file:", topshap.load(Path(folder) / "top.json").names)
