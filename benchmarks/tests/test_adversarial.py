"""Adversarial games have the properties they are named after."""

from collections import Counter

import numpy as np
import pytest

from topshap.core.coalitions import from_ids
from topshap_bench.adversarial import KINDS, K, adversarial_game

NUMBERS = range(5)
RECORDED = {
    "near-tie": "0de97370670f",
    "tie": "7b7a2ba92470",
    "rare-pivot": "5355d92c9b7b",
    "all-rare": "314579c05dfb",
    "unanimity": "267221aef612",
    "voting": "41984900c775",
    "heavy-tail": "5af1c9eb1911",
}


def games(kind):
    return [adversarial_game(kind, number) for number in NUMBERS]


def all_coalitions(game):
    return from_ids(np.arange(2**game.n_players), game.n_players)


def contributions(game, player):
    """Return the marginal contributions of a player to all coalitions without it, by the index of the coalition."""
    without = np.flatnonzero(~all_coalitions(game)[:, player])
    return without, game.values[without + 2**player] - game.values[without]


def changes(game, player):
    """Return the fraction of coalitions in which the contribution of a player is not its most frequent one."""
    _, counts = np.unique(np.round(contributions(game, player)[1], 9), return_counts=True)
    return 1.0 - counts.max() / counts.sum()


def transform(values, butterfly):
    """Return the coefficients of a table for a basis of products over players."""
    table = values.reshape((2,) * (len(values).bit_length() - 1))
    for axis in range(table.ndim):
        outside, inside = np.take(table, 0, axis), np.take(table, 1, axis)
        table = np.stack(butterfly(outside, inside), axis)
    return table.ravel()


def sizes_of_terms(values, butterfly):
    terms = np.flatnonzero(np.abs(transform(values, butterfly)) > 1e-9)
    return np.array([int(term).bit_count() for term in terms])


@pytest.mark.parametrize("kind", KINDS)
def test_the_game_depends_on_its_number_only(kind):
    first, again, other = (adversarial_game(kind, number, n_players=10).values for number in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_players_is_in_the_documented_range(kind):
    low, high = KINDS[kind].n_players
    assert 10 <= low <= high <= 14
    assert all(low <= game.n_players <= high for game in games(kind))


@pytest.mark.parametrize(("kind", "part"), [("near-tie-lowest", 0.01), ("tie-lowest", 0.0)])
def test_the_border_of_the_lowest_is_as_narrow_as_documented(kind, part):
    for number in NUMBERS:
        phi = np.sort(adversarial_game(kind, number).shapley_values())
        assert phi[K] - phi[K - 1] == pytest.approx(part * np.ptp(phi), rel=0.2, abs=1e-9)


@pytest.mark.parametrize(("kind", "gap"), [("near-tie-gap", 0.5), ("tie-gap", 0.0)])
def test_no_gap_is_as_wide_as_epsilon_or_positive(kind, gap):
    for number in NUMBERS:
        phi = np.sort(adversarial_game(kind, number).shapley_values())
        assert np.diff(phi) == pytest.approx(gap, abs=1e-9)
        assert gap < KINDS[kind].epsilon or KINDS[kind].epsilon == 0.0 == gap


@pytest.mark.parametrize("kind", RECORDED)
def test_the_numbers_of_games_in_published_reports_keep_their_meaning(kind):
    assert adversarial_game(kind, 3).fingerprint[:12] == RECORDED[kind]


@pytest.mark.parametrize(("kind", "part"), [("near-tie", 0.01), ("tie", 0.0)])
def test_the_border_is_as_narrow_as_documented(kind, part):
    """The gap is a fraction of the range before the change, and the change hardly affects the range."""
    for number in NUMBERS:
        phi = np.sort(adversarial_game(kind, number).shapley_values())[::-1]
        assert phi[K - 1] - phi[K] == pytest.approx(part * np.ptp(phi), rel=0.2, abs=1e-9)


def test_the_heavy_tail_game_of_the_benchmarks_has_a_spike():
    values = np.sort(adversarial_game("heavy-tail", 35).values)
    assert values[1] - values[0] > 15 * (values[-1] - values[1])


def test_four_near_dummies_contribute_in_one_pattern_of_seven_players_only():
    shared = set()
    for game in games("rare-dummies"):
        patterns = []
        for player in range(game.n_players):
            without, added = contributions(game, player)
            matching = all_coalitions(game)[without[np.abs(added) > 1e-9]]
            others = np.flatnonzero((matching == matching[0]).all(axis=0)) if len(matching) else np.array([])
            if len(matching) == len(without) / 128 and len(others) == 8:  # the player itself is never inside
                assert np.ptp(added[np.abs(added) > 1e-9]) < 1e-9
                assert 0.5 <= added.max() <= 1.0
                patterns.append(frozenset(others) - {player})
        assert len(patterns) >= 4  # a player in the pattern of a single near-dummy contributes in one pattern as well
        assert np.unique(np.round([np.median(contributions(game, i)[1]) for i in range(game.n_players)], 9)).size == 4
        shared.add(max(Counter(patterns).values()) == 4)
    assert shared == {True, False}


def test_spikes_are_positive_and_negative_and_the_rest_of_rare_signed_is_small():
    for game in games("rare-signed"):
        added = [contributions(game, player)[1] for player in range(game.n_players)]
        assert all(abs(np.median(of_player)) < 0.15 for of_player in added)
        assert max(of_player.max() for of_player in added) > 0.3
        assert min(of_player.min() for of_player in added) < -0.3


def test_rare_smooth_is_logistic_in_most_coalitions():
    """The logits of a logistic game are additive, so every player changes them by its weight."""
    for game in games("rare-smooth"):
        x, values = all_coalitions(game), game.values
        inside = (values > 0.0) & (values < 1.0)
        logits = np.log(values[inside] / (1.0 - values[inside]))
        design = np.column_stack([x[inside], np.ones(inside.sum())]).astype(float)
        kept = np.ones(len(logits), dtype=bool)
        for _ in range(30):
            weights = np.linalg.lstsq(design[kept], logits[kept], rcond=None)[0]
            away = np.abs(logits - design @ weights)
            kept = away <= max(np.median(away), 1e-9)
        fraction = kept.sum() / len(values)
        assert np.abs(logits - design @ weights)[kept].max() < 1e-6
        assert 0.4 < fraction < 1.0


def test_only_the_players_at_the_border_have_spikes_and_their_weights_are_nearly_equal():
    for game in games("rare-border"):
        weights = np.array([np.median(contributions(game, player)[1]) for player in range(game.n_players)])
        order = np.argsort(-weights)
        assert weights[order[K - 1]] - weights[order[K]] == pytest.approx(0.01)
        spikes = game.values - all_coalitions(game) @ weights
        without_both = ~all_coalitions(game)[:, order[[K - 1, K]]].any(axis=1)
        assert np.abs(spikes[without_both]).max() < 1e-9
        assert all(0.0 < changes(game, player) <= 2 / 2**5 for player in order[[K - 1, K]])


def test_a_step_game_is_constant_in_many_directions():
    for game in games("step"):
        added = np.concatenate([contributions(game, player)[1] for player in range(game.n_players)])
        assert np.mean(np.abs(added) < 1e-12) > 0.1


def test_a_product_game_is_additive_in_logarithms():
    for game in games("product"):
        logs = np.log(game.values)
        assert np.allclose(logs, all_coalitions(game) @ logs[2 ** np.arange(game.n_players)])


def test_the_value_in_a_max_game_is_that_of_its_best_member():
    for game in games("max"):
        single = game.values[2 ** np.arange(game.n_players)]
        assert np.array_equal(game.values, (all_coalitions(game) * single).max(axis=1))


def test_synergies_are_positive_and_negative_products_of_two_to_five_players():
    for game in games("synergy"):
        products = transform(game.values, lambda outside, inside: (outside, inside - outside))
        sizes = np.array([int(term).bit_count() for term in range(len(products))])
        of_several = products[(np.abs(products) > 1e-9) & (sizes > 1)]
        assert np.all(sizes[np.abs(products) > 1e-9] <= 5)
        assert len(of_several) <= game.n_players
        assert of_several.min() < 0.0 < of_several.max()


def test_a_cut_separates_nothing_from_the_empty_and_the_grand_coalition():
    for game in games("graph-cut"):
        assert game.values[0] == game.values[-1] == 0.0
        assert game.values.min() >= 0.0
        assert sizes_of_terms(game.values, lambda outside, inside: (outside, inside - outside)).max() == 2
        assert np.ptp(game.shapley_values()) > 0.0


def test_claims_exceed_the_estate_of_a_bankruptcy():
    for game in games("bankruptcy"):
        estate, claims = game.values[-1], game.values[-1] - game.values[-1 - 2 ** np.arange(game.n_players)]
        assert claims.sum() > estate
        expected = np.maximum(estate - ~all_coalitions(game) @ claims, 0.0)
        assert np.allclose(game.values[expected > 0], expected[expected > 0]) or claims.max() >= estate


def test_a_sparse_polynomial_has_few_products_of_signs():
    for game in games("sparse-polynomial"):
        sizes = sizes_of_terms(game.values, lambda outside, inside: (inside + outside, inside - outside))
        assert len(sizes) <= 2 * game.n_players
        assert sizes.min() >= 1
        assert sizes.max() <= 4


def test_a_random_assignment_satisfies_seven_eighths_of_the_clauses():
    for game in games("3-sat"):
        clauses = round(4.26 * game.n_players)
        assert np.allclose(game.values * clauses, np.round(game.values * clauses))
        assert game.values.max() <= 1.0
        assert game.values.mean() == pytest.approx(7 / 8)


def test_contributions_in_an_additive_game_are_constant():
    for game in games("additive"):
        assert all(changes(game, player) == 0.0 for player in range(game.n_players))
