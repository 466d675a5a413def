"""The features behind many predictions.

The model is a random forest on scikit-learn's breast cancer data. The picture shows the Shapley values of forty rows,
and the mean of their magnitudes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import topshap

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])

explainer = topshap.Explainer(model, X[::2], random_state=0)
tops = explainer.explain_many(X.iloc[1:81:2], k=3, budget=100)
print(tops)

# The mean magnitude of each feature, with standard errors over the rows.
print()
print(tops.importance())

# The rows that the model is least certain about, as explanations of their own.
uncertain = tops[(tops.grand > 0.3) & (tops.grand < 0.7)]
print(f"\n{len(uncertain)} uncertain predictions")
for top in uncertain:
    print(f"{top.grand:.2f}: {', '.join(top.names)}")

figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.5), layout="constrained")
tops.plot("beeswarm", left, k=10)
tops.plot("bar", right, k=10)
figure.savefig("explain_a_table.png", dpi=150)
# tops.to_html("breast-cancer.html") writes one report over all rows.
