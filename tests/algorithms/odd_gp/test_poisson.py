import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import all_pairs, pair_keys
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.poisson import PairClasses, PoissonPairs, chances, draw_sets, separation, spread


@pytest.mark.parametrize("watched", [[0], [3, 1], [5, 0, 2, 4], [0, 1, 2, 3, 4, 5]])
def test_every_pair_is_in_one_class(watched):
    classes, pairs = PairClasses(6, np.array(watched)), all_pairs(6)
    place = classes.of(pairs)
    np.testing.assert_array_equal(place, classes.of(~pairs))
    np.testing.assert_array_equal(np.bincount(place, minlength=len(classes.counts)), classes.counts)
    named = np.where(pairs[:, watched[:1]], pairs, ~pairs)
    np.testing.assert_array_equal(classes.sizes[place], named.sum(axis=1))
    np.testing.assert_array_equal(classes.sides[place], named[:, watched])


def test_separated_adds_up_the_weights_of_players_on_different_sides():
    classes = PairClasses(7, np.array([2, 6, 0]))
    weights = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 4.0], [2.0, 4.0, 0.0]])
    for sides, total in zip(classes.sides, classes.separated(weights), strict=True):
        expected = sum(weights[i, j] for i in range(3) for j in range(i) if sides[i] != sides[j])
        assert total == pytest.approx(expected)


def test_a_pair_adds_to_a_difference_what_separation_says():
    pairs = 2.0 * all_pairs(6) - 1.0
    functional, sizes = pair_functional(pairs), (pairs > 0).sum(axis=1)
    apart = pairs[:, 1] != pairs[:, 4]
    np.testing.assert_allclose(np.abs(functional[:, 1] - functional[:, 4]), np.where(apart, separation(6)[sizes], 0.0))
    centred = functional - functional.mean(axis=1)[:, None]
    np.testing.assert_allclose(np.linalg.norm(centred, axis=1), spread(6)[sizes])


@given(st.integers(0, 10_000))
def test_a_block_brings_about_as_many_as_expected_and_lowers_no_chance(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 50, 12).astype(float)
    unseen, had = np.floor(rng.random(12) * (counts + 1)), 0.9 * rng.random(12)
    weights, expected = rng.exponential(size=12), 1.0 + 20.0 * rng.random()
    chance = chances(counts, unseen, weights, expected, had)
    assert (chance >= 0.0).all()
    assert (chance <= 1.0).all()
    assert (unseen * chance).sum() == pytest.approx(min(expected, unseen.sum()), rel=1e-6)


def test_pairs_come_up_as_often_as_their_chances_say():
    """Two blocks over a game of 5 players, 4000 times: within 4.5 standard errors, and never twice."""
    runs, pairs = 4000, all_pairs(5)
    place = {key: row for row, key in enumerate(pair_keys(pairs))}
    times, said = np.zeros(len(pairs)), np.zeros(len(pairs))
    for seed in range(runs):
        design = PoissonPairs(5, np.random.default_rng(seed))
        first = design.draw(spread(5)[design.classes.sizes], 4.0)
        second = design.draw(np.arange(1.0, len(design.classes.counts) + 1.0), 3.0)
        keys = pair_keys(np.concatenate([first, second]))
        assert len(set(keys)) == len(keys)
        times[[place[key] for key in keys]] += 1.0
        said += design.chances_of(pairs)
    np.testing.assert_allclose(times / runs, said / runs, atol=4.5 * 0.5 / np.sqrt(runs))


def test_a_large_game_is_drawn_from_without_listing_it():
    design = PoissonPairs(200, np.random.default_rng(0))
    first = design.draw(spread(200)[design.classes.sizes], 800.0)
    design.watch(np.arange(100, 200))
    second = design.draw(spread(200)[design.classes.sizes], 400.0)
    assert 650 < len(first) < 950
    assert 300 < len(second) < 500
    rows = np.concatenate([first, second])
    assert len(set(pair_keys(rows))) == len(rows)
    chance = design.chances_of(rows)
    assert ((chance > 0.0) & (chance <= 1.0)).all()


def test_all_pairs_come_up_in_the_end():
    design = PoissonPairs(6, np.random.default_rng(0))
    found = 0
    while len(block := design.draw(spread(6)[design.classes.sizes], 5.0)):
        found += len(block)
    assert found == 2**5 - 1


def test_sets_are_different_and_of_the_right_size():
    rng = np.random.default_rng(0)
    for count in (1, 5, 20):
        rows = draw_sets(6, 3, count, rng)
        assert len({row.tobytes() for row in rows}) == count
        assert (rows.sum(axis=1) == 3).all()
