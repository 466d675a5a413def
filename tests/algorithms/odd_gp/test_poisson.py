import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import all_pairs, pair_keys
from topshap.algorithms.odd_gp.poisson import PoissonDesign, block_probabilities
from topshap.algorithms.odd_gp.strata import overall_weights


@given(st.integers(0, 10_000))
def test_a_block_has_the_expected_number_of_new_pairs(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 50, 12).astype(float)
    undrawn, before = np.floor(rng.random(12) * (counts + 1)), 0.9 * rng.random(12)
    weights, expected = rng.exponential(size=12), 1.0 + 20.0 * rng.random()
    probabilities = block_probabilities(counts, undrawn, weights, expected, before)
    assert (probabilities >= 0.0).all()
    assert (probabilities <= 1.0).all()
    assert (undrawn * probabilities).sum() == pytest.approx(min(expected, undrawn.sum()), rel=1e-6)


def test_pairs_are_drawn_with_their_inclusion_probabilities():
    """Two blocks over a game of 5 players, 4000 times: within 4.5 standard errors. No pair is drawn twice."""
    runs, pairs = 4000, all_pairs(5)
    place = {key: row for row, key in enumerate(pair_keys(pairs))}
    times, expected = np.zeros(len(pairs)), np.zeros(len(pairs))
    for seed in range(runs):
        design = PoissonDesign(5, np.random.default_rng(seed))
        first = design.draw(overall_weights(5)[design.strata.sizes], 4.0)
        second = design.draw(np.arange(1.0, len(design.strata.counts) + 1.0), 3.0)
        keys = pair_keys(np.concatenate([first, second]))
        assert len(set(keys)) == len(keys)
        times[[place[key] for key in keys]] += 1.0
        expected += design.inclusion_probabilities(pairs)
    np.testing.assert_allclose(times / runs, expected / runs, atol=4.5 * 0.5 / np.sqrt(runs))


def test_a_large_game_is_drawn_from_without_enumerating_it():
    design = PoissonDesign(200, np.random.default_rng(0))
    first = design.draw(overall_weights(200)[design.strata.sizes], 800.0)
    design.stratify_by(np.arange(100, 200))
    second = design.draw(overall_weights(200)[design.strata.sizes], 400.0)
    assert 650 < len(first) < 950
    assert 300 < len(second) < 500
    rows = np.concatenate([first, second])
    assert len(set(pair_keys(rows))) == len(rows)
    chance = design.inclusion_probabilities(rows)
    assert ((chance > 0.0) & (chance <= 1.0)).all()


def test_all_pairs_are_drawn_in_the_end():
    design = PoissonDesign(6, np.random.default_rng(0))
    found = 0
    while len(block := design.draw(overall_weights(6)[design.strata.sizes], 5.0)):
        found += len(block)
    assert found == 2**5 - 1
