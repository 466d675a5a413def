"""A folder of games of your own for the race: sums of random weights and pairwise interactions.

A file is a complete table. Entry b of its array ``values`` is the value of the coalition of all players i with bit i
set in b, so a game of n players has 2**n entries. ``TableGame(values).save(path)`` writes such a file.
"""

from pathlib import Path

import numpy as np

from topshap.games import TableGame

N_PLAYERS = 8

coalitions = (np.arange(2**N_PLAYERS)[:, None] >> np.arange(N_PLAYERS) & 1).astype(np.float64)
for seed in range(3):
    rng = np.random.default_rng(seed)
    weights, interactions = rng.normal(size=N_PLAYERS), np.triu(rng.normal(size=(N_PLAYERS, N_PLAYERS)), 1)
    values = coalitions @ weights + ((coalitions @ interactions) * coalitions).sum(axis=1)
    path = Path("my-games", "pairs", f"game-{seed}.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    TableGame(values).save(path)
