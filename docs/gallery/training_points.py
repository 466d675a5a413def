"""The training points that help, and those that harm: points with wrong labels have the lowest values."""

import numpy as np
from sklearn.datasets import make_blobs
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
