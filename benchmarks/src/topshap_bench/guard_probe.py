"""A script that measures the quality of the topshap version on its path; `topshap_bench.guard` runs it.

It uses only `topshap.identify` and `topshap.Explainer`, so that it can measure other versions. It prints the path of
the package and the names of its cells. It then reads lines "CELL SEED" and answers each with a number, the lower the
better, or nan if this version cannot run the cell; the reason is printed to the standard error.

The games are small and random, one per seed: the sigmoid of a sum of weights, of single players and of pairs. Errors
are fractions of the range of the exact values.
"""
# mypy: disable-error-code="no-untyped-call"

import sys
import warnings
from itertools import combinations
from math import factorial

import numpy as np

N, K = 10, 3
PAIRS_N = 8
ROWS, BACKGROUND = 16, 4


def model_of(seed: int, n: int):  # type: ignore[no-untyped-def]  # noqa: ANN201 - as a user would write it
    """Return a function of rows with n columns that looks like a predicted probability."""
    rng = np.random.default_rng([seed, n])
    single, pairs = rng.normal(size=n), rng.normal(size=(n, n)) / n**0.5

    def probability(rows):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        x = np.asarray(rows, dtype=np.float64)
        return 1.0 / (1.0 + np.exp(-(x @ single + np.einsum("mi,mi->m", x @ pairs, x)) / 2.0))

    return probability


def all_coalitions(n: int):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Return all coalitions; row b has player i if bit i of b is set."""
    return (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1


def shapley(values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Return the exact Shapley values, given the values of all coalitions on the first axis."""
    return np.array([_weighted(values, (i,)) for i in range(len(values).bit_length() - 1)])


def interactions(values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Return the exact Shapley interactions of all pairs of players, in lexicographic order."""
    return np.array([_weighted(values, pair) for pair in combinations(range(len(values).bit_length() - 1), 2)])


def _weighted(values, players):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return the mean discrete derivative of some players, weighted as in the Shapley (interaction) index."""
    n, t = len(values).bit_length() - 1, len(players)
    ids = np.arange(2**n)
    without = ids[(ids & sum(1 << i for i in players)) == 0]
    sizes = np.bitwise_count(without).astype(int)
    weights = np.array([factorial(s) * factorial(n - t - s) / factorial(n - t + 1) for s in range(n - t + 1)])
    derivative = 0.0
    for size in range(t + 1):
        for some in combinations(players, size):
            derivative = derivative + (-1.0) ** (t - size) * values[without + sum(1 << i for i in some)]
    return np.tensordot(weights[sizes], derivative, axes=1)


def error_of(estimates, exact):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Return the root mean square error as a fraction of the range of the exact values."""
    return float(np.sqrt(np.mean((estimates - exact) ** 2)) / np.ptp(exact))


def loss_of(players, exact):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Return by how much the returned players have less than the best ones in sum, as a fraction of the range."""
    best = np.sort(exact)[::-1][: len(players)].sum()
    return float((best - exact[np.asarray(players)].sum()) / np.ptp(exact))


def race(seed: int, **options):  # type: ignore[no-untyped-def]  # noqa: ANN003, ANN201
    """Return the result of a race on the game of a seed, and its exact Shapley values."""
    import topshap  # noqa: PLC0415 - the version on the path

    game = model_of(seed, N)
    exact = shapley(game(all_coalitions(N)))
    if "epsilon" in options:
        options["epsilon"] *= np.ptp(exact)
    return topshap.identify(game, N, k=K, random_state=seed, **options), exact


def odd_gp_error(seed: int) -> float:
    """Return the error of the values of odd-gp."""
    top, exact = race(seed, budget=60, algorithm="odd-gp")
    return error_of(top.estimates, exact)


def odd_gp_loss(seed: int) -> float:
    """Return the loss of the set of odd-gp."""
    top, exact = race(seed, budget=16, algorithm="odd-gp")
    return loss_of(top.players, exact)


def until_confident(seed: int) -> float:
    """Return the evaluations of odd-gp@k until it is confident."""
    return float(race(seed, epsilon=0.01, delta=0.05, algorithm="odd-gp@k")[0].evaluations)


def loss_when_confident(seed: int) -> float:
    """Return the loss of odd-gp@k when it is confident."""
    top, exact = race(seed, epsilon=0.01, delta=0.05, algorithm="odd-gp@k")
    return loss_of(top.players, exact)


def pairs_error(seed: int) -> float:
    """Return the error of the interactions of all pairs."""
    import topshap  # noqa: PLC0415 - the version on the path

    game = model_of(seed, PAIRS_N)
    top = topshap.identify(game, PAIRS_N, k=K, order=2, budget=60, random_state=seed)
    return error_of(top.estimates, interactions(game(all_coalitions(PAIRS_N))))


def many_rows_error(seed: int) -> float:
    """Return the mean error over rows that share coalitions."""
    import topshap  # noqa: PLC0415 - the version on the path

    model, rng = model_of(seed, PAIRS_N), np.random.default_rng([seed, ROWS])
    background, rows = rng.normal(size=(BACKGROUND, PAIRS_N)), rng.normal(size=(ROWS, PAIRS_N))
    tops = topshap.Explainer(model, background, random_state=seed).explain_many(rows, k=K, budget=40)
    members = all_coalitions(PAIRS_N)[:, None, :]
    values = np.array([model(np.where(members, x, background).reshape(-1, PAIRS_N)) for x in rows])
    exact = shapley(values.reshape(ROWS, 2**PAIRS_N, BACKGROUND).mean(axis=2).T).T
    return float(np.mean([error_of(top.estimates, of_row) for top, of_row in zip(tops, exact, strict=True)]))


CELLS = {
    "odd-gp/error": odd_gp_error,
    "odd-gp/loss": odd_gp_loss,
    "odd-gp@k/evaluations": until_confident,
    "odd-gp@k/loss": loss_when_confident,
    "pairs/error": pairs_error,
    "many-rows/error": many_rows_error,
}


def main() -> None:
    """Answer requests until the input ends."""
    import topshap  # noqa: PLC0415 - the version on the path

    warnings.simplefilter("ignore")
    print(topshap.__file__)
    print(*CELLS)
    for line in sys.stdin:
        cell, seed = line.split()
        try:
            print(CELLS[cell](int(seed)))
        except Exception as error:  # noqa: BLE001 - other versions may lack an option or raise any error
            print(f"{cell}, seed {seed}: {type(error).__name__}: {error}", file=sys.stderr)
            print("nan")


if __name__ == "__main__":
    main()
