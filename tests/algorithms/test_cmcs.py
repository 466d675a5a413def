"""CMCS, its ablations and permutation sampling: the coalitions they evaluate, and the estimates."""

import itertools

import numpy as np
import pytest

import topshap
from topshap.algorithms import CMCS, ApproShapley, Identical, Independent, SameLength
from topshap.algorithms.cmcs import extended_marginals, flips
from topshap.core import rounds as core_rounds
from topshap.games import AdditiveGame

N = 6


def contribution(one, value, other, other_value):
    """Return the player in which two coalitions differ, and its contribution."""
    (player,) = np.flatnonzero(one ^ other)
    return int(player), (value - other_value) if one[player] else (other_value - value)


def means(contributions, n=N):
    samples = [[] for _ in range(n)]
    for player, amount in contributions:
        samples[player].append(amount)
    counts = np.array([len(mine) for mine in samples])
    return counts, np.array([np.mean(mine) if mine else np.nan for mine in samples])


def around_anchors(rows, values):
    """Return the contributions in rounds of an anchor and its neighbours, of which the last may be incomplete."""
    found = []
    for start in range(0, len(rows), N + 1):
        neighbours = range(start + 1, min(start + N + 1, len(rows)))
        found += [contribution(rows[start], values[start], rows[other], values[other]) for other in neighbours]
    return found


def in_pairs(rows, values):
    return [contribution(rows[i], values[i], rows[i + 1], values[i + 1]) for i in range(0, len(rows) // 2 * 2, 2)]


def along_walks(rows, values, empty, grand):
    """Return the contributions along permutations of n - 1 coalitions each, of which the last may be incomplete."""
    found = []
    empty_coalition, grand_coalition = np.zeros(N, dtype=bool), np.ones(N, dtype=bool)
    for start in range(0, len(rows), N - 1):
        walk = [(empty_coalition, empty), *zip(rows[start : start + N - 1], values[start : start + N - 1], strict=True)]
        if len(walk) == N:
            walk.append((grand_coalition, grand))
        found += [contribution(*after, *before) for before, after in itertools.pairwise(walk)]
    return found


def check_means(played, contributions):
    counts, expected = means(contributions)
    np.testing.assert_array_equal(played.standing.counts, counts)
    share = (played.problem.grand - played.problem.empty) / N
    np.testing.assert_allclose(played.standing.estimates, np.where(counts > 0, expected, share), atol=1e-12)


# CMCS.


def test_a_round_is_an_anchor_and_each_of_its_neighbours(play, random_game):
    played = play(CMCS(), random_game(N))
    rounds = played.batch.reshape(-1, N + 1, N)
    for rows in rounds:
        flipped = [np.flatnonzero(row ^ rows[0]).tolist() for row in rows[1:]]
        assert sorted(flipped) == [[player] for player in range(N)]


@pytest.mark.parametrize("batches", [1, 3])
def test_estimates_are_the_means_of_the_extended_marginal_contributions(play, random_game, batches):
    played = play(CMCS(), random_game(N))
    for _ in range(batches):
        assert played.answer()
    check_means(played, around_anchors(*played.accesses()))


@pytest.mark.parametrize("answered", range(2 * (N + 1) + 1))
def test_an_incomplete_round_counts_for_the_players_sampled_in_it(play, random_game, answered):
    played = play(CMCS(), random_game(N))
    assert not played.answer(answered)
    check_means(played, around_anchors(*played.accesses()))
    assert played.standing.counts.sum() == N * (answered // (N + 1)) + max(answered % (N + 1) - 1, 0)


def test_a_budget_may_end_between_two_rounds(play, random_game):
    played = play(CMCS(), random_game(N))
    assert played.answer()
    estimates = played.standing.estimates.copy()
    assert not played.answer(0)
    np.testing.assert_array_equal(played.standing.estimates, estimates)


def test_the_covariance_is_that_of_the_samples_in_common_rounds(play, random_game):
    played = play(CMCS(), random_game(N))
    played.answer(5 * (N + 1))
    samples = np.empty((5, N))
    for j, (player, amount) in enumerate(around_anchors(*played.accesses())):
        samples[j // N, player] = amount
    np.testing.assert_allclose(played.standing.covariance(), np.cov(samples.T) / 5, atol=1e-12)


def test_an_extended_marginal_is_the_value_with_the_player_minus_the_value_without():
    anchor, values = np.array([True, False]), np.array([5.0, 3.0, 9.0])
    np.testing.assert_array_equal(extended_marginals(anchor, values), [5.0 - 3.0, 9.0 - 5.0])


def test_flips_give_the_anchor_and_its_neighbours():
    anchor = np.array([True, False, True])
    rows = anchor ^ flips(np.array([2, 1]), 3)
    np.testing.assert_array_equal(rows, [[True, False, True], [True, False, False], [True, True, True]])


@pytest.mark.parametrize("n", [3000, 4500])
@pytest.mark.parametrize("algorithm", ["cmcs", "independent", "approshapley"])
def test_batches_of_thousands_of_players_are_bounded_in_size(counted, n, algorithm):
    game = counted(AdditiveGame(np.arange(n) % 10))
    budget = n + 3
    top = topshap.identify(game, k=5, budget=budget, algorithm=algorithm, random_state=0)
    assert (top.evaluations, top.stopped) == (budget, "budget")
    assert max(batch.nbytes for batch in game.batches) <= core_rounds.MAX_BATCH_BYTES
    sampled = {"cmcs": n, "independent": budget // 2 - 1, "approshapley": n}[algorithm]
    assert (top.estimates == np.arange(n) % 10).sum() >= sampled


# The ablations.


@pytest.mark.parametrize("algorithm", [Independent, SameLength, Identical])
def test_an_ablation_evaluates_both_coalitions_of_every_contribution(play, random_game, algorithm):
    played = play(algorithm(), random_game(N))
    for _ in range(3):
        assert len(played.batch) == 2 * N
        played.answer()
    contributions = in_pairs(*played.accesses())
    assert [sorted(player for player, _ in contributions[r : r + N]) for r in (0, N, 2 * N)] == [list(range(N))] * 3
    check_means(played, contributions)


@pytest.mark.parametrize("algorithm", [Independent, SameLength, Identical])
@pytest.mark.parametrize("answered", range(2 * N))
def test_an_ablation_uses_the_complete_pairs_of_an_incomplete_round(play, random_game, algorithm, answered):
    played = play(algorithm(), random_game(N))
    assert not played.answer(answered)
    check_means(played, in_pairs(*played.accesses()))
    assert played.standing.counts.sum() == answered // 2


def anchor_sizes(rows):
    """For each pair, the sizes that its anchor may have had: with or without the player."""
    return rows[::2].sum(axis=1), rows[1::2].sum(axis=1)


def test_the_anchors_of_a_round_have_one_size_in_same_length_and_are_one_set_in_identical(play, random_game):
    for seed in range(20):
        large, small = anchor_sizes(play(SameLength(), random_game(N), seed=seed).batch)
        assert any(np.all((large == size) | (small == size)) for size in range(N + 1))
        rows = play(Identical(), random_game(N), seed=seed).batch
        anchors = [{tuple(with_it), tuple(without)} for with_it, without in zip(rows[::2], rows[1::2], strict=True)]
        assert len(set.intersection(*anchors)) == 1


def test_the_anchors_of_a_round_differ_in_size_when_they_are_independent(play, random_game):
    differ = 0
    for seed in range(20):
        large, small = anchor_sizes(play(Independent(), random_game(N), seed=seed).batch)
        differ += not any(np.all((large == size) | (small == size)) for size in range(N + 1))
    assert differ == 20


def test_identical_has_as_many_samples_as_cmcs_only_if_repeats_are_free(random_game):
    game, samples = random_game(9), {}
    for counting in ("distinct", "calls"):
        for algorithm in ("cmcs", "identical"):
            race = topshap.Race(9, 2, budget=200, algorithm=algorithm, counting=counting, random_state=0)
            while not race.done:
                race.tell(game(race.ask()))
            samples[counting, algorithm] = race.standing.counts.sum()
    assert abs(samples["distinct", "identical"] - samples["distinct", "cmcs"]) <= 9
    assert samples["calls", "identical"] < 0.7 * samples["calls", "cmcs"]


# Permutations.


def test_a_walk_adds_one_player_at_a_time(play, random_game):
    played = play(ApproShapley(), random_game(N))
    walks = played.batch.reshape(-1, N - 1, N)
    np.testing.assert_array_equal(walks.sum(axis=2), np.tile(np.arange(1, N), (len(walks), 1)))
    assert np.all(walks[:, :-1] <= walks[:, 1:])


@pytest.mark.parametrize("answered", [*range(2 * (N - 1) + 1), None])
def test_all_contributions_along_permutations_are_used_also_in_an_incomplete_one(play, random_game, answered):
    played = play(ApproShapley(), random_game(N))
    played.answer(answered)
    check_means(played, along_walks(*played.accesses(), played.problem.empty, played.problem.grand))  # type: ignore[call-arg]


def test_estimates_of_complete_permutations_add_up_to_the_gain(random_game):
    game = random_game(N)
    for permutations in (1, 2, 7):
        budget = 2 + permutations * (N - 1)
        top = topshap.identify(
            game, k=2, budget=budget, algorithm="approshapley", counting="calls", random_state=permutations
        )
        assert top.estimates.sum() == pytest.approx(top.grand - top.empty)


def test_all_orders_are_equally_likely(play, random_game):
    firsts = np.zeros(4)
    pairs = np.zeros((4, 4))
    for seed in range(10):
        walks = play(ApproShapley(), random_game(4), seed=seed).batch.reshape(-1, 3, 4)
        first, second = walks[:, 0], walks[:, 1] ^ walks[:, 0]
        firsts += first.sum(axis=0)
        pairs += first.T.astype(float) @ second
    assert not np.diag(pairs).any()
    expected = pairs.sum() / 12
    assert ((pairs - expected) ** 2)[~np.eye(4, dtype=bool)].sum() / expected < 50  # 11 degrees, 1e-6 quantile 49.6
    assert np.abs(firsts / firsts.sum() - 0.25).max() < 0.08
