"""The features behind a prediction, and behind many of them.

The model is a forest on scikit-learn's breast cancer data. `Explainer` takes any fitted model and some data.
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
print(top)
topshap.show.race(top).figure.savefig("explain_a_prediction.png", dpi=150)

# All measures of one property as one player: the mean, the error and the worst value.
groups = {}
for name in X.columns:
    groups.setdefault(name.replace("mean ", "").replace("worst ", "").replace(" error", ""), []).append(name)
by_property = topshap.Explainer(model, X[::2], groups=groups, random_state=0).explain(X.iloc[1], k=3)
print(f"\n{len(groups)} properties; the first three: {', '.join(by_property.names)}")

# Many rows at once, as one table. tops.to_shap() is one explanation for shap's beeswarm and bar plots.
tops = explainer.explain_many(X.iloc[1:9:2], k=3, budget=200)
frame = tops.to_frame()
print("\nHow often among the first three of four tumours:")
print(frame[frame["top_k"]]["player"].value_counts().head(3).to_string())
