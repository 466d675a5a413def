"""The training points that help, and those that harm: points with wrong labels have the lowest values."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import BernoulliNB, GaussianNB
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

# A function of your own gets a prior from `InformedGame`. Here documents cover words, and the prior is their length.
rng = np.random.default_rng(0)
documents = [set(rng.integers(300, size=length).tolist()) for length in range(1, 61)]


def covered(coalition: np.ndarray) -> int:
    """Return the number of different words in some documents."""
    return len(set().union(*(documents[i] for i in np.flatnonzero(coalition))))


coverage = topshap.games.per_coalition(covered, n_players=60)
informed = topshap.games.InformedGame(coverage, prior=[len(words) for words in documents])
top = topshap.identify(informed, k=5, budget=120, random_state=0)
print(
    f"{top.algorithm}, {top.evaluations} evaluations: the documents {sorted(top.players.tolist())} cover the most words"
)

# Naive Bayes models that count learn one more point at a time: a permutation costs about as much as a single fit.
above_mean = np.greater(X, X.mean(axis=0)).astype(int)
game = topshap.games.DataGame(BernoulliNB(), above_mean[:60], y[:60], above_mean[60:], y[60:], incremental=True)
top = topshap.identify(game, k=3, budget=600, algorithm="approshapley", random_state=0)
print("the most helpful of 60 points, learned incrementally:", top.players)
