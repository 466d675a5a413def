import numpy as np
import pytest

import topshap
from topshap.algorithms.odd_gp.even.kernel import InteractionKernel
from topshap.algorithms.odd_gp.even.posterior import EvenPosterior
from topshap.algorithms.odd_gp.even.strong_pairs import with_strong_pairs
from topshap.algorithms.odd_gp.even.surrogate import EvenSurrogate


def sparse_posterior(seed, n=30, m=200, strong=8):
    """A flat prior on a game with a few products of two players, and the exact interactions."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((m, n)) < 0.5, 1.0, -1.0)
    i, j = np.triu_indices(n, 1)
    exact = np.zeros(len(i))
    exact[rng.permutation(len(i))[:strong]] = rng.normal(size=strong)
    kernel = InteractionKernel(
        np.full(n, 0.05), smooth=0.05, constant=1.0, residual_level=0.05, quadratic=strong / len(i)
    )
    return EvenPosterior(kernel, x, (x[:, i] * x[:, j]) @ exact), 4.0 * exact


def rms(errors):
    return float(np.sqrt(np.mean(errors**2)))


def test_variances_of_their_own_reduce_the_error_of_sparse_games():
    flat, sparse = [], []
    for seed in range(5):
        posterior, exact = sparse_posterior(seed)
        flat.append(rms(posterior.interactions - exact))
        sparse.append(rms(with_strong_pairs(posterior).interactions - exact))
    assert np.mean(sparse) < 0.5 * np.mean(flat)


def test_the_leave_one_out_error_never_grows():
    for seed in range(5):
        posterior, _ = sparse_posterior(seed, m=60, strong=400)
        found = with_strong_pairs(posterior)
        assert rms(found.left_out.residuals) <= rms(posterior.left_out.residuals)


@pytest.mark.parametrize(("n", "changes"), [(16, False), (17, True)])
def test_only_games_with_many_players_have_strong_pairs(n, changes):
    rng = np.random.default_rng(0)
    x = np.where(rng.random((100, n)) < 0.5, 1.0, -1.0)
    x[0] = 1.0
    surrogate = EvenSurrogate(rng)
    surrogate.learn(x, x @ rng.normal(size=n), 3.0 * x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3], iterations=2)
    surrogate.emphasise_strong_pairs()
    assert (surrogate.posterior.kernel.strong is not None) == changes


def test_the_strongest_pairs_of_60_players_are_found():
    sets = [[2 * i, 2 * i + 1] for i in range(30)]
    game = topshap.games.UnanimityGame(sets, 1.2 ** -np.arange(30), n_players=60)
    top = topshap.identify(game, k=5, order=2, budget=1000, algorithm="odd-gp", random_state=0)
    assert isinstance(top, topshap.TopPairs)
    assert set(map(tuple, top.pairs.tolist())) == set(map(tuple, sets[:5]))


def test_constant_games_of_many_players_have_no_interactions():
    top = topshap.identify(
        lambda rows: np.zeros(len(rows)), n_players=20, k=2, order=2, budget=100, algorithm="odd-gp", random_state=0
    )
    assert top.estimates == pytest.approx(0.0)
