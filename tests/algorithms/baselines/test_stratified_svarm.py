"""Stratified SVARM: means of values by size, and strata without samples."""

import numpy as np
import pytest

import topshap
from topshap.algorithms import StratifiedSVARM
from topshap.core.coalitions import from_ids
from topshap.games import AdditiveGame

N = 5


def by_strata(rows, values, n):
    """The mean over the strata seen from both sides of the difference of means with and without the player."""
    estimates = np.full(n, np.nan)
    for player in range(n):
        differences = []
        for size in range(n):
            with_it = [v for row, v in zip(rows, values, strict=True) if row[player] and row.sum() == size + 1]
            without = [v for row, v in zip(rows, values, strict=True) if not row[player] and row.sum() == size]
            if with_it and without:
                differences.append(np.mean(with_it) - np.mean(without))
        if differences:
            estimates[player] = np.mean(differences)
    return estimates


def with_ends(played):
    rows, values = played.accesses()
    n = rows.shape[1]
    ends = np.array([[False] * n, [True] * n])
    return np.concatenate([ends, rows]), np.append([played.problem.empty, played.problem.grand], values)


def test_coalitions_come_in_complement_pairs_of_uniform_size(play, random_game):
    sizes = []
    for seed in range(20):
        batch = play(StratifiedSVARM(), random_game(N), seed=seed).batch
        np.testing.assert_array_equal(batch[::2], ~batch[1::2])
        sizes += batch[::2].sum(axis=1).tolist()
    counts = np.bincount(sizes, minlength=N + 1)
    assert counts[0] == counts[N] == 0
    expected = len(sizes) / (N - 1)
    assert ((counts[1:N] - expected) ** 2 / expected).sum() < 31  # chi-square with 3 degrees, 1e-6 quantile


@pytest.mark.parametrize("answered", [1, 2, 3, 5, 8, 13, 40, 255])
@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_means_over_the_strata_that_were_seen(play, random_game, answered, seed):
    played = play(StratifiedSVARM(), random_game(N), seed=seed)
    assert not played.answer(answered)
    expected = by_strata(*with_ends(played), N)  # type: ignore[call-arg]
    share = (played.problem.grand - played.problem.empty) / N
    np.testing.assert_allclose(played.standing.estimates, np.where(np.isnan(expected), share, expected), atol=1e-12)


def test_means_include_the_samples_of_all_batches(play, random_game):
    played = play(StratifiedSVARM(), random_game(N))
    for _ in range(3):
        assert played.answer()
    np.testing.assert_allclose(played.standing.estimates, by_strata(*with_ends(played), N), atol=1e-12)  # type: ignore[call-arg]


def test_a_stratum_that_was_never_sampled_does_not_count_as_zero(play):
    game = AdditiveGame(np.full(N, 3.0))
    for answered in range(1, 30):
        played = play(StratifiedSVARM(), game, seed=answered)
        played.answer(answered)
        np.testing.assert_allclose(played.standing.estimates, 3.0)


def test_every_coalition_once_gives_the_exact_values(play, random_game):
    game = random_game(N)
    standing = play(StratifiedSVARM(), game).standing
    inner = from_ids(np.arange(1, 2**N - 1), N)
    standing.add(inner, game(inner))
    np.testing.assert_allclose(standing.estimates, game.shapley_values(), atol=1e-12)


def test_an_empty_batch_changes_nothing(play, random_game):
    standing = play(StratifiedSVARM(), random_game(N)).standing
    before = standing.estimates.copy()
    standing.add(np.empty((0, N), dtype=bool), np.empty(0))
    np.testing.assert_array_equal(standing.estimates, before)


def test_errors_are_unknown_until_every_stratum_was_seen(play, random_game):
    game = random_game(N)
    for answered in (2, 6, 14, 30, 60, 255):
        played = play(StratifiedSVARM(), game)
        played.answer(answered)
        rows, _ = with_ends(played)
        for player in range(N):
            with_it = {int(row.sum()) for row in rows if row[player]}
            without = {int(row.sum()) for row in rows if not row[player]}
            complete = with_it == set(range(1, N + 1)) and without == set(range(N))
            assert np.isfinite(played.standing.std_errors[player]) == complete
    assert np.isfinite(played.standing.std_errors).all()


def test_a_large_baseline_does_not_change_the_standard_errors(play, random_game):
    errors = []
    for baseline in (0.0, 1e9):
        played = play(StratifiedSVARM(), random_game(N, baseline=baseline))
        played.answer(255)
        errors.append(played.standing.std_errors)
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-5)


@pytest.mark.parametrize("counting", ["distinct", "calls"])
def test_two_players_are_exact_after_one_pair(random_game, counting):
    game = random_game(2)
    top = topshap.identify(game, k=1, budget=4, algorithm="stratified-svarm", counting=counting, random_state=0)
    np.testing.assert_allclose(top.estimates, game.shapley_values(), atol=1e-12)
