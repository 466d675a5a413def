"""Feature selection in a scikit-learn pipeline.

The data has 16 features, 4 of them informative, and copies of two of these.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import topshap

X, y = make_regression(200, 16, n_informative=4, noise=20.0, shuffle=False, random_state=0)
X = np.concatenate([X, X[:, :2]], axis=1)  # columns 16 and 17 are copies of 0 and 1

selector = topshap.TopKSelector(Ridge(), k=6, cv=3, budget=200, random_state=0).fit(X, y)
print("selected:", selector.get_support(indices=True))
print(selector.result_)
selector.result_.plot().figure.savefig("select_features.png", dpi=150)

pipeline = make_pipeline(StandardScaler(), topshap.TopKSelector(Ridge(), cv=2, budget=150, random_state=0), Ridge())
search = GridSearchCV(pipeline, {"topkselector__k": [2, 6]}, cv=2).fit(X, y)
print("\nbest number of features:", search.best_params_["topkselector__k"])
