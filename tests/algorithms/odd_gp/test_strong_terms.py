"""Strong terms: Walsh functions of odd sets with variances of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms.odd_gp import stacking
from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.algorithms.odd_gp.strong_terms import PAIRS_PER_PLAYER, StrongTerms, walsh_transform
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table


def signs(n):
    return 2.0 * from_ids(np.arange(2**n), n) - 1.0


def kernel(n, residual=0.01):
    return OddKernel(np.full(n, 0.1), smooth=0.1, linear=1.0, residual_level=residual)


def some_pairs(n, m, seed=0):
    """Return random pairs, the first that of the grand coalition."""
    rng = np.random.default_rng(seed)
    ids = np.concatenate([[0], rng.choice(np.arange(1, 2 ** (n - 1)), m - 1, replace=False)])
    return -(2.0 * from_ids(ids, n) - 1.0)


def game_of(x, terms, seed=0):
    """Return a linear game with some Walsh functions."""
    weights = np.random.default_rng(seed).normal(size=x.shape[1])
    return x @ weights + sum(c * x[:, list(term)].prod(axis=1) for term, c in terms.items())


TERMS = {(0, 2, 5): 1.0, (1, 3, 4): -0.7, (2, 3, 4, 6, 7): 0.8}


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_walsh_transform_is_the_sum_over_all_coalitions(n, seed):
    table = np.random.default_rng(seed).normal(size=2**n)
    x, sets = signs(n), from_ids(np.arange(2**n), n)
    expected = [table @ x[:, members].prod(axis=1) for members in sets]
    assert walsh_transform(table) == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("n", [8, 20])
def test_strong_terms_are_found_with_their_coefficients(n):
    terms = TERMS if n == 8 else {term: c for term, c in TERMS.items() if len(term) == 3}
    x = some_pairs(n, PAIRS_PER_PLAYER * n)
    strong = StrongTerms.found_by(OddPosterior(kernel(n, 1e-4), x, game_of(x, terms)))
    found = dict(zip(strong.terms, strong.coefficients, strict=True))
    for term, coefficient in terms.items():
        assert found[term] == pytest.approx(coefficient, abs=0.05)


def test_values_and_residuals_are_those_of_the_covariance_with_the_terms():
    """The same numbers by brute force: prediction of all coalitions, and fits without each pair."""
    n = 8
    x = some_pairs(n, 80)
    g = game_of(x, TERMS) + 0.1 * np.random.default_rng(1).normal(size=80)
    posterior = OddPosterior(kernel(n), x, g)
    strong = StrongTerms.found_by(posterior)
    assert len(strong.terms) >= 3
    variances = strong.variances
    z = np.stack([x[:, term].prod(axis=1) for term in strong.terms], axis=1)
    prior = posterior.kernel.covariance(x, x) + (z * variances) @ z.T
    full = prior + np.diag(posterior.kernel.residual(x))
    assert full @ strong.weights == pytest.approx(g, abs=1e-9)
    everything = signs(n)
    ends = np.stack([everything[:, term].prod(axis=1) for term in strong.terms], axis=1)
    table = (posterior.kernel.covariance(everything, x) + (ends * variances) @ z.T) @ strong.weights
    ids = ((x > 0) @ (1 << np.arange(n))).astype(int)
    table[ids], table[2**n - 1 - ids] = g, -g  # the residual of an observed pair belongs to the game
    assert strong.shapley_values == pytest.approx(shapley_from_table(table - table[0]), abs=1e-8)
    for t in (1, 40, 79):
        others = np.arange(80) != t
        predicted = prior[t, others] @ np.linalg.solve(full[np.ix_(others, others)], g[others])
        assert strong.residuals[t - 1] == pytest.approx(g[t] - predicted, abs=1e-8)


def test_values_are_exact_with_all_pairs():
    n = 8
    x = some_pairs(n, 2 ** (n - 1))
    g = game_of(x, TERMS) + 0.1 * np.random.default_rng(1).normal(size=len(x))
    strong = StrongTerms.found_by(OddPosterior(kernel(n), x, g))
    table = np.zeros(2**n)
    ids = ((x > 0) @ (1 << np.arange(n))).astype(int)
    table[ids], table[2**n - 1 - ids] = g, -g
    assert len(strong.terms) >= 3
    assert strong.shapley_values == pytest.approx(shapley_from_table(table - table[0]), abs=1e-8)


def test_there_are_no_terms_with_few_pairs():
    n = 8
    x = some_pairs(n, PAIRS_PER_PLAYER * n - 1)
    assert StrongTerms.found_by(OddPosterior(kernel(n), x, game_of(x, TERMS))).terms == []


@pytest.mark.parametrize("n", [10, 20])
def test_noise_is_hardly_ever_taken_for_a_term(n):
    """The limits are those that the most extreme of all sets exceeds by chance in a minority of games."""
    found = 0
    for seed in range(40):
        x = some_pairs(n, PAIRS_PER_PLAYER * n, seed)
        g = x[:, 0] + np.random.default_rng(seed).normal(size=len(x))
        found += bool(StrongTerms.found_by(OddPosterior(kernel(n, 1.0), x, g)).terms)
    assert found <= 8


def sum_of_products(seed, n):
    """Return a game of weights and products of three players, whose Shapley values are known."""
    rng = np.random.default_rng(seed)
    sets = [[i] for i in range(n)] + [rng.choice(n, 3, replace=False).tolist() for _ in range(n)]
    return topshap.games.UnanimityGame(sets, rng.normal(size=2 * n), n_players=n)


@pytest.mark.parametrize("n", [12, 24])
def test_strong_terms_reduce_errors_in_sums_of_products(n, monkeypatch):
    """The geometric mean over 6 games of the ratio of root mean square errors is below 0.5."""

    def errors():
        found = []
        for seed in range(6):
            game = sum_of_products(seed, n)
            top = topshap.identify(game, k=3, budget=40 * n, algorithm="odd-gp", random_state=seed)
            found.append(np.sqrt(np.mean((top.estimates - game.shapley_values()) ** 2)))
        return np.array(found)

    with_terms = errors()
    monkeypatch.setattr(stacking, "strong_prediction", lambda *_: [])
    assert np.exp(np.mean(np.log(with_terms / errors()))) < 0.5


def test_a_perfect_fit_with_strong_terms_is_not_certainty():
    """Standard errors allow for a jump in a pair that was not observed."""
    game = topshap.games.UnanimityGame([[0], [1, 2, 3], [2, 4, 5]], [1.0, 2.0, 1.5], n_players=12)
    top = topshap.identify(game, k=2, budget=300, algorithm="odd-gp", random_state=0)
    assert top.estimates == pytest.approx(game.shapley_values(), abs=1e-3)
    assert np.all(top.std_errors > 1e-4)
