"""The values evaluated so far, and the comparisons that each pair has drawn from them."""

import numpy as np
import pytest

from topshap.algorithms.swap.samples import Samples
from topshap.core.algorithm import Problem
from topshap.core.coalitions import to_ids
from topshap.core.ledger import Ledger
from topshap.games import TableGame

N = 8
GAME = TableGame(np.random.default_rng(0).random(2**N))


def problem(*, deterministic=True, n=N):
    rng = np.random.default_rng(1)
    ledger = Ledger(n, 1000, "calls", deterministic=deterministic)
    empty, grand = (GAME.values[[0, -1]]).tolist()
    return Problem(n, 2, rng, rng.permutation(n), empty, grand, ledger=ledger)


def started(**options):
    samples = Samples(problem(**options))
    samples.add_first(GAME(samples.coalitions(samples.first_keys())))
    return samples


@pytest.mark.parametrize("deterministic", [True, False])
def test_the_first_round_evaluates_no_value_twice_and_not_the_empty_or_grand_coalition(deterministic):
    samples = Samples(problem(deterministic=deterministic))
    keys = samples.first_keys()
    assert len(set(keys)) == len(keys)
    ids = to_ids(samples.coalitions(keys))
    assert not {0, 2**N - 1} & set(ids.tolist())
    if deterministic:
        assert len(set(ids.tolist())) == len(ids)


def test_the_first_round_compares_all_players_on_the_smallest_and_largest_sets_first():
    samples = Samples(problem())
    sizes = samples.coalitions(samples.first_keys()).sum(axis=1)
    assert sizes[: 2 * N].tolist() == [1] * N + [N - 1] * N


def test_a_comparison_is_the_difference_of_two_values_on_the_same_background_set():
    samples = started()
    for stratum in range(N - 1):
        more = samples.next_comparisons(0, 3, stratum, 100)
        keys = samples.unknown(more.keys)
        samples.add([more], keys, GAME(samples.coalitions(keys)))
    exact = GAME.shapley_values()
    moments = samples.moments(np.array([[0, 3]]))
    np.testing.assert_array_equal(moments.counts[0], samples.population.sizes)
    assert samples.population.weights @ moments.means[0] == pytest.approx(exact[0] - exact[3])


def test_no_coalition_is_evaluated_twice():
    samples = started()
    evaluated = to_ids(samples.coalitions(samples.first_keys())).tolist()
    for pair in ((0, 1), (0, 2), (1, 2), (0, 1)):
        for stratum in range(N - 1):
            more = samples.next_comparisons(*pair, stratum, 4)
            keys = samples.unknown(more.keys)
            evaluated += to_ids(samples.coalitions(keys)).tolist()
            samples.add([more], keys, GAME(samples.coalitions(keys)))
    assert len(set(evaluated)) == len(evaluated)


def test_in_a_noisy_game_every_anchor_has_its_own_values():
    samples = started(deterministic=False)
    more = samples.next_comparisons(0, 1, 0, 6)  # the empty set, again and again
    assert len(more.positions) == 6
    assert len(set(more.keys)) == 12
    assert len(set(to_ids(samples.coalitions(more.keys)).tolist())) == 2


def test_with_a_prefix_of_the_values_only_complete_comparisons_count():
    samples = started()
    before = samples.counts(1, 4)
    more = samples.next_comparisons(1, 4, 3, 3)
    keys = samples.unknown(more.keys)
    assert keys[-2:] == more.keys[-2:]
    samples.add([more], keys, GAME(samples.coalitions(keys))[:-1])
    gained = samples.counts(1, 4) - before
    assert gained.tolist() == [0, 0, 0, len(more.positions) - 1, 0, 0, 0]
    assert samples.unknown(more.keys) == keys[-1:]


def test_the_sample_of_a_pair_does_not_depend_on_the_other_pairs():
    alone, together = started(), started()
    for stratum in range(1, N - 2):
        other = together.next_comparisons(0, 2, stratum, 2)
        keys = together.unknown(other.keys)
        together.add([other], keys, GAME(together.coalitions(keys)))
    np.testing.assert_array_equal(alone.counts(0, 1), together.counts(0, 1))
    pair = np.array([[0, 1]])
    np.testing.assert_array_equal(alone.moments(pair).means, together.moments(pair).means)
