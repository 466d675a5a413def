"""The features behind one prediction, and behind many.

The model is a random forest on scikit-learn's breast cancer data. `Explainer` takes any fitted model and some data.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import topshap

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])

explainer = topshap.Explainer(model, X[::2], random_state=0)
print(explainer)

top = explainer.explain(X.iloc[1], k=3, budget=600)
print(f"Explained: {top.output_name}")
print(top)
topshap.show.waterfall(top).figure.savefig("explain_a_prediction.png", dpi=150)

# Combine the mean, the error and the worst value of each property into one player.
groups = {}
for name in X.columns:
    groups.setdefault(name.replace("mean ", "").replace("worst ", "").replace(" error", ""), []).append(name)
by_property = topshap.Explainer(model, X[::2], groups=groups, random_state=0).explain(X.iloc[1], k=3)
print(f"\n{len(groups)} properties; the top three: {', '.join(by_property.names)}")

# Explain many rows, and collect the results in one table. tops.to_shap() is for shap's beeswarm and bar plots.
tops = explainer.explain_many(X.iloc[1:9:2], k=3, budget=200)
frame = tops.to_frame()
print("\nFeatures in the top three of four tumours:")
print(frame[frame["top_k"]]["player"].value_counts().head(3).to_string())
