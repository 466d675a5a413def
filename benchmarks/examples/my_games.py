"""Custom games for the race: sums of random weights and pairwise interactions.

Each file holds a complete table. Entry b of its array ``values`` is the value of the coalition of all players i with
bit i set in b, so a game of n players has 2**n entries. ``TableGame(values).save(path)`` writes such a file.
"""

from pathlib import Path

import numpy as np

from topshap.games import TableGame


def make_game(n: int, seed: int) -> TableGame:
    """Return a random game of n players."""
    coalitions = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
    rng = np.random.default_rng(seed)
    weights, interactions = rng.normal(size=n), np.triu(rng.normal(size=(n, n)), 1)
    return TableGame(coalitions @ weights + ((coalitions @ interactions) * coalitions).sum(axis=1))


if __name__ == "__main__":
    folder = Path("my-games", "pairs")
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(3):
        make_game(8, seed).save(folder / f"game-{seed}.npz")
