"""The most important members of an ensemble, and the score of a small ensemble of the best ones."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import topshap

X, y = load_breast_cancer(return_X_y=True)
members = {
    "bayes": GaussianNB(),
    "line": make_pipeline(StandardScaler(), LogisticRegression()),
    "neighbours": KNeighborsClassifier(),
    "stump": DecisionTreeClassifier(max_depth=1),
    "tree": DecisionTreeClassifier(random_state=0),
}
for model in members.values():
    model.fit(X[::3], y[::3])

game = topshap.games.EnsembleGame(members, X[1::3], y[1::3])
print(topshap.identify(game, k=2))

forest = RandomForestClassifier(24, max_depth=2, max_features=1, random_state=0).fit(X[::3], y[::3])
trees = topshap.games.EnsembleGame(forest, X[1::3], y[1::3], scoring="neg_log_loss")
top = topshap.identify(trees, k=6, budget=300, random_state=0)
few = np.isin(np.arange(24), top.players)
print(f"\nlog loss of all 24 trees {-top.grand:.3f}, of the best 6 alone {-trees(few[None, :])[0]:.3f}")
topshap.show.leaderboard(top, most=12).figure.savefig("ensemble_members.png", dpi=150)
