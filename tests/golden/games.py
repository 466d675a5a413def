"""Small games with the same values on every machine.

All weights are multiples of 1/64, so that sums are exact in whichever order they are taken, and there is no matrix
product, exponential or logarithm whose last bit might depend on the hardware. Nothing here needs topshap.
"""

from __future__ import annotations

import numpy as np


class Unanimity:
    """A sum of unanimity games: a set of players earns its amount if all of them are there. The players have names."""

    n_players = 12
    player_names = tuple(f"player {letter}" for letter in "abcdefghijkl")
    fingerprint = "golden-unanimity-1"
    sets = (
        ((0,), 1.5),
        ((1,), 1.25),
        ((0, 1), 0.75),
        ((2, 3), 2.0),
        ((3, 4, 5), -1.5),
        ((6, 7), 1.0),
        ((2, 6, 8), 0.625),
        ((9,), -0.5),
        ((4, 10), 0.375),
        ((1, 5, 7, 9), 1.125),
    )

    def __call__(self, coalitions):
        values = np.full(len(coalitions), 0.25)
        for players, amount in self.sets:
            values += amount * coalitions[:, list(players)].all(axis=1)
        return values


class Squashed:
    """A sum with interactions, squashed to values between 0 and 1 as probabilities are; some players lower it."""

    n_players = 9
    weights = np.array([80, -64, 48, 40, -20, 12, 8, 0, 44]) / 64
    pairs = (((0, 2), -32), ((1, 3), 40), ((4, 5), 24), ((2, 8), -16), ((6, 7), 20))

    def __call__(self, coalitions):
        total = np.where(coalitions, self.weights, 0.0).sum(axis=1) - 0.5
        for (i, j), amount in self.pairs:
            total += amount / 64 * (coalitions[:, i] & coalitions[:, j])
        return 0.5 + 0.5 * total / (1.0 + np.abs(total))


class Lookup:
    """A random table with a trend: nothing about it is smooth."""

    n_players = 7

    def __init__(self):
        rng = np.random.default_rng(20)
        sizes = np.array([i.bit_count() for i in range(2**self.n_players)])
        self.table = rng.integers(-128, 129, size=2**self.n_players) / 64 + sizes / 2

    def __call__(self, coalitions):
        return self.table[(coalitions << np.arange(self.n_players)).sum(axis=1)]


class Threshold:
    """The best member counts, and a vote with a quota: whole numbers, with ties and players that change nothing."""

    n_players = 16
    skills = np.array([5, 5, 3, 3, 3, 1, 0, 0, 2, 0, 4, 0, 0, 1, 0, 2])
    votes = np.array([4, 1, 4, 2, 2, 0, 3, 0, 1, 0, 0, 3, 0, 1, 0, 1])
    quota = 11

    def __call__(self, coalitions):
        best = np.where(coalitions, self.skills, 0).max(axis=1)
        carried = np.where(coalitions, self.votes, 0).sum(axis=1) >= self.quota
        return best + 4.0 * carried


class Noisy:
    """A game whose values vary from call to call, in the same way for each new one."""

    n_players = 8
    deterministic = False
    weights = np.array([3.0, 2.5, 2.25, 1.0, 0.5, 0.0, -0.5, -1.0])

    def __init__(self):
        self.rng = np.random.default_rng(21)

    def __call__(self, coalitions):
        signal = np.where(coalitions, self.weights, 0.0).sum(axis=1) + (coalitions[:, 0] & coalitions[:, 4])
        return signal + self.rng.integers(-64, 65, size=len(coalitions)) / 128


GAMES = {"unanimity": Unanimity, "squashed": Squashed, "lookup": Lookup, "threshold": Threshold}

unanimity, squashed = Unanimity(), Squashed()  # for the command line


def predict_row(frame):
    """Return a score per row of a table with numbers and a category, for the command line."""
    bonus = frame["city"].map({"Graz": 2.0, "Linz": -1.0, "Wien": 0.5}).to_numpy(dtype=float)
    rooms, age = frame["rooms"].to_numpy(dtype=float), frame["age"].to_numpy(dtype=float)
    return 2.0 * rooms - 0.25 * age + np.where(rooms > 3.0, bonus, -bonus) + 0.5 * frame["garden"].to_numpy(dtype=float)
