"""The theory, compared with explicit sums over all coalitions and with sampling."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.coalitions import draw_anchors, from_ids, to_ids
from topshap.core.errors import GameError, ParameterError
from topshap.core.tables import shapley_from_table
from topshap.games import AdditiveGame, AllOrNothingGame
from topshap.reference import theory
from topshap.reference.metrics import inclusion_exclusion_error
from topshap.reference.theory import covariance, difference_variances, identification_bound, variances


def random_table(n, seed=0):
    return np.random.default_rng(seed).normal(size=2**n)


def table_of(game):
    return game(from_ids(np.arange(2**game.n_players), game.n_players))


def samples_and_chances(table):
    """D_i(S) for every coalition S (a row) and player i, and the chance of every S."""
    n = len(table).bit_length() - 1
    samples = [[table[s | 1 << i] - table[s & ~(1 << i)] for i in range(n)] for s in range(2**n)]
    chances = [1 / ((n + 1) * math.comb(n, s.bit_count())) for s in range(2**n)]
    return np.array(samples), np.array(chances)


def normal_cdf(z):
    return math.erfc(-z / math.sqrt(2)) / 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_covariance_is_the_sum_over_all_coalitions(n):
    table = random_table(n)
    samples, chances = samples_and_chances(table)
    expected = np.atleast_2d(np.cov(samples.T, aweights=chances, ddof=0))
    np.testing.assert_allclose(covariance(table), expected, atol=1e-12)
    np.testing.assert_allclose(variances(table), np.diag(expected), atol=1e-12)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_the_covariance_of_an_all_or_nothing_game_is_as_published(n):
    found = covariance(table_of(AllOrNothingGame(n)))
    expected = np.full((n, n), 1 / (n + 1) - 1 / n**2)
    np.fill_diagonal(expected, 1 / n - 1 / n**2)
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_the_size_of_a_block_changes_nothing(monkeypatch):
    table = random_table(7)
    whole = covariance(table), difference_variances(table)
    monkeypatch.setattr(theory, "_BLOCK", 24)
    np.testing.assert_allclose(covariance(table), whole[0], rtol=1e-12)
    np.testing.assert_allclose(difference_variances(table), whole[1], rtol=1e-12)


@given(st.integers(1, 6), st.integers(0, 100))
def test_variances_of_differences_follow_from_the_covariance(n, seed):
    table = random_table(n, seed)
    cov, var = covariance(table), variances(table)
    apart = var[:, None] + var - 2 * cov
    np.testing.assert_allclose(difference_variances(table), apart, atol=1e-12)
    independent = difference_variances(table, shared=False)
    np.testing.assert_allclose(independent, (var[:, None] + var) * ~np.eye(n, dtype=bool))


@given(st.integers(1, 6), st.integers(0, 100))
def test_a_player_does_not_differ_from_itself(n, seed):
    for shared in (True, False):
        differences = difference_variances(random_table(n, seed), shared=shared)
        np.testing.assert_array_equal(np.diag(differences), np.zeros(n))
        np.testing.assert_array_equal(differences, differences.T)


def test_a_small_difference_beside_a_large_variance_is_not_lost():
    """Players 0 and 1 interact equally with player 2, and differ by a constant."""
    rows = from_ids(np.arange(8), 3).astype(float)
    table = 2.0**20 * (rows[:, 0] + rows[:, 1]) * rows[:, 2] + rows[:, 0]
    assert difference_variances(table)[0, 1] == 0.0
    assert variances(table)[0] > 2.0**36


def test_sampling_agrees_within_four_standard_errors():
    n, draws = 6, 40_000
    table = random_table(n)
    ids = to_ids(draw_anchors(draws, n, np.random.default_rng(1)))
    samples = samples_and_chances(table)[0][ids]
    centred = samples - shapley_from_table(table)
    products = centred[:, :, None] * centred[:, None, :]
    errors = (products.mean(axis=0) - covariance(table)) / (products.std(axis=0) / math.sqrt(draws))
    assert np.abs(errors).max() < 4
    assert np.abs(centred.mean(axis=0) / (centred.std(axis=0) / math.sqrt(draws))).max() < 4


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 10.0])
@pytest.mark.parametrize("values", ["different", "tied"])
def test_the_bound_is_the_published_sum_over_sets(n, epsilon, values):
    table = random_table(n) if values == "different" else np.round(random_table(n))
    phi, rounds = shapley_from_table(table), 7
    deviation = np.sqrt(difference_variances(table))
    for k in range(1, n + 1):
        expected = 0.0
        for chosen in itertools.combinations(range(n), k):
            if inclusion_exclusion_error(phi, chosen) <= epsilon + 1e-9:
                rest = [j for j in range(n) if j not in chosen]
                z = [(math.sqrt(rounds) * (phi[j] - phi[i]) / deviation[i, j]) for i in chosen for j in rest]
                expected += 1 - sum(map(normal_cdf, z))
        assert math.isclose(identification_bound(table, k, rounds, epsilon), expected, abs_tol=1e-9)


def test_the_bound_holds_for_the_share_of_right_answers():
    n, k, rounds, races = 5, 2, 60, 4_000
    table = table_of(AdditiveGame([5.0, 4.0, 3.0, 2.0, 1.0])) + random_table(n) * 2
    ids = to_ids(draw_anchors(races * rounds, n, np.random.default_rng(2)))
    estimates = samples_and_chances(table)[0][ids].reshape(races, rounds, n).mean(axis=1)
    top = set(np.argsort(shapley_from_table(table))[-k:])
    share = np.mean([set(row[-k:]) == top for row in np.argsort(estimates)])
    bound = identification_bound(table, k, rounds)
    assert 0.5 < bound < 1.0
    assert share > bound - 4 * math.sqrt(bound * (1 - bound) / races)


def test_the_bound_tends_to_one_with_the_rounds():
    bounds = [identification_bound(random_table(5), 2, rounds) for rounds in (1, 10, 100, 10**6)]
    assert bounds == sorted(bounds)
    assert math.isclose(bounds[-1], 1.0)


def test_the_bound_may_be_vacuous():
    assert identification_bound(table_of(AllOrNothingGame(4)), 2, 1000) < 0


def test_without_variance_the_larger_value_is_certain():
    table = table_of(AdditiveGame([0.1, 0.2, 0.3]))
    assert identification_bound(table, 1, 1) == 1.0
    assert identification_bound(np.arange(8.0), 2, 1) == 1.0


def test_without_variance_tied_players_are_equally_likely():
    table = table_of(AdditiveGame([0.3, 0.1, 0.3]))
    assert math.isclose(identification_bound(table, 1, 1), 2 * (1 - 0.5))
    assert identification_bound(np.zeros(8), 1, 1) == 3 * (1 - 2 * 0.5)


def test_many_tied_players_need_no_enumeration():
    n = 14
    table = table_of(AllOrNothingGame(n))
    sets = math.comb(n, n // 2)
    assert identification_bound(table, n // 2, 1) == sets * (1 - (n // 2) ** 2 / 2)


@pytest.mark.parametrize("function", [covariance, variances, difference_variances])
def test_an_invalid_table_is_refused(function):
    with pytest.raises(ParameterError, match=f"The 'table' parameter of {function.__name__} must be"):
        function([1.0, 2.0, 3.0])
    with pytest.raises(GameError, match=r"nan for \{1\}"):
        function([1.0, 2.0, math.nan, 3.0])


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", 0), ("k", 4), ("k", 1.0), ("rounds", 0), ("rounds", 2.5), ("epsilon", -0.1), ("epsilon", math.nan)],
)
def test_invalid_parameters_of_the_bound_are_refused(name, value):
    parameters = {"k": 1, "rounds": 10, "epsilon": 0.0} | {name: value}
    message = f"The '{name}' parameter of identification_bound must be .*Got {value} instead"
    with pytest.raises(ParameterError, match=message):
        identification_bound(random_table(3), **parameters)
