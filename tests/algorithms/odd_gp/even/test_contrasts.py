import numpy as np
import pytest

from topshap.algorithms.odd_gp.active import border_contrasts
from topshap.algorithms.odd_gp.even.contrasts import signed_border_contrasts


@pytest.fixture
def covariance():
    root = np.random.default_rng(0).normal(size=(6, 6))
    return root @ root.T / 6 + 0.1 * np.eye(6)


ESTIMATES = np.array([3.0, -2.0, 1.9, 0.5, -0.4, 0.1])


def test_by_value_the_contrasts_are_those_of_players(covariance):
    ranking = np.argsort(-ESTIMATES)
    expected = border_contrasts(ESTIMATES, covariance, ranking, 2, 1.0)
    assert signed_border_contrasts(
        ESTIMATES, covariance, ranking, 2, rank_by="value", overall_weight=1.0
    ) == pytest.approx(expected)


def test_by_magnitude_every_pair_is_compared_with_both_signs(covariance):
    ranking = np.argsort(-np.abs(ESTIMATES))
    rows = signed_border_contrasts(ESTIMATES, covariance, ranking, 2, rank_by="magnitude", overall_weight=1.0)[:-6]
    assert len(rows) == 2 * 2 * 4
    for row in rows:
        p, q = sorted(np.flatnonzero(row), key=lambda each: -abs(ESTIMATES[each]))
        assert p in ranking[:2]
        assert q in ranking[2:]
        assert np.sign(row[p]) == np.sign(ESTIMATES[p])
    signs = {(*np.flatnonzero(row), *np.sign(row[np.flatnonzero(row)])) for row in rows}
    assert len(signs) == len(rows)


@pytest.mark.parametrize("rank_by", ["value", "lowest", "magnitude"])
def test_the_weighted_variances_of_the_contrasts_add_up_to_one(covariance, rank_by):
    keys = {"value": ESTIMATES, "lowest": -ESTIMATES, "magnitude": np.abs(ESTIMATES)}[rank_by]
    rows = signed_border_contrasts(ESTIMATES, covariance, np.argsort(-keys), 3, rank_by=rank_by, overall_weight=2.0)
    assert np.trace(rows[:-6] @ covariance @ rows[:-6].T) == pytest.approx(1.0)
    assert np.trace(rows[-6:] @ covariance @ rows[-6:].T) == pytest.approx(2.0)


def test_without_a_border_only_the_whole_covariance_counts(covariance):
    rows = signed_border_contrasts(ESTIMATES, covariance, np.arange(6), 6, rank_by="magnitude", overall_weight=1.0)
    assert rows.shape == (6, 6)
