"""The training points that help, and those that harm: points with wrong labels have the lowest values."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import topshap

X, y = make_blobs(230, centers=2, cluster_std=2.0, random_state=1)
X_train, y_train, X_test, y_test = X[:30], y[:30].copy(), X[30:], y[30:]
wrong = [4, 11, 23]
y_train[wrong] ^= 1

game = topshap.games.DataGame(KNeighborsClassifier(1), X_train, y_train, X_test, y_test)
top = topshap.identify(game, k=27, budget=800, random_state=0)
dropped = np.setdiff1d(np.arange(30), top.players)
print("points with a wrong label:", wrong)
print("points with the lowest values:", dropped)
topshap.show.leaderboard(top, most=12).figure.savefig("training_points.png", dpi=150)

# Thousands of points, with fewer retrainings than points: the values of a nearest-neighbour classifier are the prior.
X, y = make_blobs(3300, centers=2, n_features=5, cluster_std=4.0, random_state=1)
X_train, y_train, X_test, y_test = X[:3000], y[:3000].copy(), X[3000:], y[3000:]
wrong = np.random.default_rng(0).choice(3000, size=150, replace=False)
y_train[wrong] ^= 1

game = topshap.games.DataGame(GaussianNB(), X_train, y_train, X_test, y_test)
top = topshap.identify(game, k=150, budget=300, rank_by="lowest", random_state=0)
found = np.isin(top.players, wrong).sum()
print(
    f"{top.algorithm}, {top.evaluations} retrainings: {found} of the {top.k} lowest of 3000 points have a wrong label"
)
