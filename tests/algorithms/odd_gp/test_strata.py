import numpy as np
import pytest

from topshap.algorithms.odd_gp.designs import all_pairs
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.strata import PairStrata, contrast_weights, overall_weights


@pytest.mark.parametrize("players", [[0], [3, 1], [5, 0, 2, 4], [0, 1, 2, 3, 4, 5]])
def test_every_pair_is_in_one_stratum(players):
    strata, pairs = PairStrata(6, np.array(players)), all_pairs(6)
    place = strata.of(pairs)
    np.testing.assert_array_equal(place, strata.of(~pairs))
    np.testing.assert_array_equal(np.bincount(place, minlength=len(strata.counts)), strata.counts)
    named = np.where(pairs[:, players[:1]], pairs, ~pairs)
    np.testing.assert_array_equal(strata.sizes[place], named.sum(axis=1))
    np.testing.assert_array_equal(strata.sides[place], named[:, players])


def test_separated_adds_up_the_weights_of_players_on_different_sides():
    strata = PairStrata(7, np.array([2, 6, 0]))
    weights = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 4.0], [2.0, 4.0, 0.0]])
    for sides, total in zip(strata.sides, strata.separated(weights), strict=True):
        expected = sum(weights[i, j] for i in range(3) for j in range(i) if sides[i] != sides[j])
        assert total == pytest.approx(expected)


def test_a_pair_has_the_weights_of_its_size_in_differences():
    pairs = 2.0 * all_pairs(6) - 1.0
    functional, sizes = pair_functional(pairs), (pairs > 0).sum(axis=1)
    apart = pairs[:, 1] != pairs[:, 4]
    np.testing.assert_allclose(
        np.abs(functional[:, 1] - functional[:, 4]), np.where(apart, contrast_weights(6)[sizes], 0.0)
    )
    centred = functional - functional.mean(axis=1)[:, None]
    np.testing.assert_allclose(np.linalg.norm(centred, axis=1), overall_weights(6)[sizes])
