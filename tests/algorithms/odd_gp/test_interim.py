"""Interim analyses of complete and incomplete blocks."""

from types import SimpleNamespace

import numpy as np
import pytest

from topshap.algorithms.odd_gp.interim import BoundedFit, InterimAnalyses, growth, share_of_delta
from topshap.algorithms.odd_gp.player_model import PlayerModel
from topshap.algorithms.odd_gp.poisson import PoissonDesign
from topshap.algorithms.odd_gp.strata import overall_weights
from topshap.core.coalitions import with_complements

N = 8


def test_all_analyses_together_spend_at_most_delta():
    shares = [share_of_delta(analysis) for analysis in range(1, 2000)]
    assert sum(shares) < 1.0
    assert shares == sorted(shares, reverse=True)


def test_the_sample_grows_more_while_bounds_are_too_wide():
    gaps = np.array([[1.0, 2.0]])
    slow, middle, fast = (growth(gaps, gaps - width, 0.0) for width in (0.5, 1.2, 5.0))
    assert (slow, middle, fast) == (0.08, pytest.approx(0.2), 0.4)


@pytest.fixture
def first_block():
    """The first block of a race: its analyses, the design, the block and the values of a rough game."""
    rng = np.random.default_rng(0)
    promise = {"epsilon": 0.01, "delta": 0.05, "guarantee": "asymptotic", "ordered": False, "n_candidates": N}
    problem = SimpleNamespace(n=N, k=3, rng=rng, empty=0.0, grand=1.0, **promise)
    design = PoissonDesign(N, rng)
    standing = BoundedFit(np.arange(N), np.zeros(N))
    block = design.draw(overall_weights(N)[design.strata.sizes], 4.0 * N)
    return (
        InterimAnalyses(problem, standing, design, PlayerModel(problem)),
        standing,
        design,
        block,
        rng.normal(size=2 * len(block)),
    )


def test_a_block_without_a_complete_pair_changes_nothing(first_block):
    interim, standing, design, block, values = first_block
    before = design.inclusion_probabilities(block)
    for known in (0, 1):
        interim.add(block, values[:known])
    assert len(interim.pairs) == 1
    assert standing.bound == -np.inf
    assert (standing.estimates == 0.0).all()
    np.testing.assert_array_equal(design.inclusion_probabilities(block), before)


def test_an_incomplete_block_is_analysed_with_lower_inclusion_probabilities(first_block):
    interim, standing, design, block, values = first_block
    before = design.inclusion_probabilities(block)
    interim.add(block, values[:21])
    assert len(interim.pairs) == 11
    np.testing.assert_allclose(design.inclusion_probabilities(block), 10 / len(block) * before)
    assert standing.estimates.sum() == pytest.approx(1.0)


def test_a_complete_block_keeps_its_inclusion_probabilities(first_block):
    interim, standing, design, block, values = first_block
    before = design.inclusion_probabilities(block)
    assert len(values) == len(with_complements(block))
    interim.add(block, values)
    assert len(interim.pairs) == 1 + len(block)
    np.testing.assert_array_equal(design.inclusion_probabilities(block), before)
    assert standing.estimates.sum() == pytest.approx(1.0)
