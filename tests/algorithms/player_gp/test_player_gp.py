"""player-gp: unbiased estimates from random coalitions, combined with a prior and the players' features."""

import numpy as np
import pytest

import topshap
from topshap.algorithms import PlayerGP, choose
from topshap.algorithms.player_gp.contributions import Sample
from topshap.algorithms.player_gp.landmarks import bases
from topshap.algorithms.player_gp.shrinkage import combine
from topshap.algorithms.player_gp.sizes import adapted, draw_sizes, log_uniform
from topshap.core.coalitions import draw_of_sizes
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, InformedGame, TableGame


class Majority:
    """A game of n weighted players whose contributions shrink with the size: sqrt of the sum of positive weights."""

    def __init__(self, weights):
        self.weights = weights
        self.n_players = len(weights)

    def __call__(self, coalitions):
        return np.sqrt(1.0 + coalitions @ np.abs(self.weights)) + coalitions @ self.weights / 10.0


def rough_game(n=200, seed=0):
    """A game, and estimates of its Shapley values that are accurate enough to judge others by."""
    rng = np.random.default_rng(seed)
    game = Majority(rng.normal(size=n))
    return game, topshap.identify(game, k=10, budget=60 * n, algorithm="cmcs", random_state=1).estimates


def error(top, truth):
    return float(np.sqrt(np.mean((top.estimates - truth) ** 2)))


def samples_of(game, n, prior, largest, *, runs, count=40):
    found = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        sample, density = Sample(n, prior), log_uniform(n, largest)
        rows = draw_of_sizes(draw_sizes(density, count, rng), n, rng)
        sample.add(rows, game(rows) - game(np.zeros((1, n), dtype=bool)), density)
        found.append(sample.estimate())
    return found


@pytest.mark.parametrize("with_prior", [False, True])
def test_estimates_from_random_coalitions_are_unbiased(with_prior):
    rng = np.random.default_rng(3)
    game = TableGame(rng.normal(size=64) + np.arange(64) / 10.0)
    truth = game.shapley_values() - game.shapley_values().mean()
    prior = rng.normal(size=6) if with_prior else None
    centred = None if prior is None else prior - prior.mean()
    found = samples_of(game, 6, centred, 5, runs=600, count=60)
    values = np.array([each.values for each in found])
    spread = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - truth) < 4.5 * spread + 0.02 * np.abs(truth).max()).all()
    assert np.sqrt(np.mean([each.std_error**2 for each in found])) == pytest.approx(values.std(axis=0).mean(), rel=0.15)


def test_the_bias_of_truncation_is_the_contribution_to_larger_coalitions():
    """In an additive game, a player contributes the same to all sizes: its lead shrinks in proportion."""
    weights = np.arange(8.0)
    found = samples_of(AdditiveGame(weights), 8, None, 3, runs=600)
    expected = (weights - weights.mean()) * 3 / 7
    np.testing.assert_allclose(np.mean([each.values for each in found], axis=0), expected, atol=0.15)


def test_sizes_with_large_residuals_are_drawn_more_often():
    sizes = np.repeat(np.arange(1, 100), 4)
    density = adapted(100, 99, sizes, np.where(sizes < 20, 1.0, 0.01))
    assert density.sum() == pytest.approx(1.0)
    assert density[:19].sum() > 0.8
    assert (density >= 0.19 * log_uniform(100, 99)).all()


def test_a_prior_reduces_the_error_and_a_useless_one_hardly_increases_it():
    game, truth = rough_game()
    rng = np.random.default_rng(0)
    options = {"k": 10, "budget": 150, "algorithm": "player-gp"}
    priors = {"none": None, "good": truth + rng.normal(scale=truth.std() / 2, size=200), "random": rng.normal(size=200)}
    errors = {
        name: np.mean(
            [
                error(
                    topshap.identify(
                        game if prior is None else InformedGame(game, prior=prior), random_state=seed, **options
                    ),
                    truth,
                )
                for seed in range(4)
            ]
        )
        for name, prior in priors.items()
    }
    assert errors["good"] < 0.75 * errors["none"]
    assert errors["random"] < 1.1 * errors["none"]


@pytest.mark.parametrize("budget", [60, 150, 400])
@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_estimates_with_a_prior_are_better_than_the_prior_alone(noise, budget):
    game, truth = rough_game()
    similar = []
    for seed in range(4):
        prior = truth + np.random.default_rng(seed).normal(scale=noise * truth.std(), size=200)
        options = {"k": 10, "budget": budget, "algorithm": "player-gp", "random_state": seed}
        estimates = topshap.identify(InformedGame(game, prior=prior), **options).estimates
        similar.append([np.corrcoef(each, truth)[0, 1] for each in (estimates, prior)])
    with_prior, alone = np.mean(similar, axis=0)
    assert with_prior > alone


def test_estimates_that_are_only_noise_hardly_change_the_order_of_the_prior():
    n, similar = 1000, []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        prior = rng.normal(size=n)
        prior -= prior.mean()
        direction = prior / np.linalg.norm(prior)
        fixed = np.stack([np.full(n, n**-0.5), direction], axis=1)
        noise = rng.normal(size=n)
        posterior = combine(noise - noise.mean(), direction, bases(rng.normal(size=(n, 3)), np.arange(200), fixed))
        similar.append(np.corrcoef(posterior.mean, prior)[0, 1])
    assert np.mean(similar) > 0.7


def test_a_prior_that_contradicts_precise_estimates_is_given_up():
    truth = np.random.default_rng(0).normal(scale=20.0, size=300)
    truth -= truth.mean()
    posterior = combine(truth, -truth / np.linalg.norm(truth), [])
    np.testing.assert_allclose(posterior.mean, truth, rtol=0.05)
    np.testing.assert_allclose(posterior.deviation, 1.0, atol=0.1)


def test_the_unit_of_the_prior_does_not_matter():
    game, truth = rough_game(60)
    options = {"k": 5, "budget": 200, "random_state": 0}
    tops = [topshap.identify(InformedGame(game, prior=unit * truth), **options) for unit in (1.0, 2.0**12)]
    np.testing.assert_allclose(tops[0].estimates, tops[1].estimates, rtol=1e-9)


def test_features_of_players_with_similar_values_reduce_the_error():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 2))
    weights = np.sin(features[:, 0]) + features[:, 1] ** 2 / 4
    game, options = AdditiveGame(weights), {"k": 5, "budget": 300, "algorithm": "player-gp"}
    informed = InformedGame(game, player_features=features)
    plain, better = (
        np.mean([error(topshap.identify(each, random_state=seed, **options), weights) for seed in range(3)])
        for each in (game, informed)
    )
    assert better < 0.7 * plain


@pytest.mark.parametrize("informed", [False, True])
def test_standard_errors_are_calibrated_on_average(informed):
    game, truth = rough_game()
    if informed:
        rng = np.random.default_rng(5)
        prior, features = truth + rng.normal(scale=truth.std(), size=200), game.weights[:, None]
        game = InformedGame(game, prior=prior, player_features=features)
    scores = []
    for seed in range(6):
        top = topshap.identify(game, k=10, budget=200, algorithm="player-gp", random_state=seed)
        scores.append((top.estimates - truth) / top.std_errors)
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.5


def test_estimates_add_up_to_the_gain():
    game, truth = rough_game(50)
    top = topshap.identify(InformedGame(game, prior=truth, player_features=truth[:, None]), k=5, budget=100)
    assert top.estimates.sum() == pytest.approx(top.grand - top.empty)


def test_before_any_coalition_the_estimates_are_those_of_the_prior():
    game = InformedGame(AdditiveGame(np.arange(6.0)), prior=np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.0]))
    top = topshap.identify(game, k=1, budget=2)
    assert top.players.tolist() == [1]
    np.testing.assert_allclose(top.estimates, [2.0, 5.0, 2.0, 2.0, 2.0, 2.0])


def test_the_result_is_the_same_for_any_number_of_workers():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=2500)
    game = InformedGame(AdditiveGame(weights), prior=weights + rng.normal(size=2500), player_features=weights[:, None])
    alone, parallel = (topshap.identify(game, k=5, budget=150, n_jobs=jobs, random_state=0) for jobs in (1, 2))
    assert alone.algorithm == "player-gp"
    np.testing.assert_array_equal(alone.estimates, parallel.estimates)
    np.testing.assert_array_equal(alone.std_errors, parallel.std_errors)


def test_a_race_is_extended_as_if_it_had_the_larger_budget_from_the_start():
    game, truth = rough_game(40)
    side = topshap.SideInformation(40, prior=truth)

    def race(budget):
        return topshap.Race(40, 5, budget=budget, random_state=0, side_information=side)

    def play(each):
        while not each.done:
            each.tell(game(each.ask()))
        return each

    extended = play(race(100))
    extended.extend(333)
    # The sums of the game are rounded differently in batches of other sizes.
    np.testing.assert_allclose(play(extended).result().estimates, play(race(333)).result().estimates, rtol=1e-9)


@pytest.mark.parametrize("rank_by", ["lowest", "value"])
def test_the_prior_points_the_same_way_when_the_lowest_values_are_looked_for_until_confident(rank_by):
    weights = np.concatenate([[-3.0], np.zeros(40), [3.0]])
    game = InformedGame(AdditiveGame(weights), prior=weights)
    options = {"epsilon": 1.0, "guarantee": "credible", "algorithm": "player-gp", "random_state": 0}
    top = topshap.identify(game, k=1, budget=200, rank_by=rank_by, **options)
    assert top.players.tolist() == [0 if rank_by == "lowest" else 41]
    assert np.corrcoef(top.estimates, weights)[0, 1] > 0.9


def test_a_truncated_run_ends_when_all_its_coalitions_are_known():
    top = topshap.identify(AdditiveGame(np.arange(5.0)), k=1, budget=31, algorithm=PlayerGP(largest_share=0.4))
    assert top.evaluations == 2 + 5 + 10
    assert top.stopped == "finished"


def test_a_prior_may_be_a_game_without_a_closed_form():
    game, truth = rough_game(60)
    cheap = Majority(game.weights * 1.1)
    top = topshap.identify(InformedGame(game, prior=cheap), k=5, budget=80, random_state=0)
    assert top.algorithm == "player-gp"
    assert np.corrcoef(top.estimates, truth)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("players", "budget", "informed", "expected"),
    [
        (2001, 500, False, "player-gp"),
        (2001, 501, False, "cmcs"),
        (2001, 10_000, True, "player-gp"),
        (2001, 10_005, True, "cmcs"),
        (100, 499, True, "player-gp"),
        (100, 500, True, "odd-gp"),
    ],
)
def test_auto_uses_it_for_many_players_with_few_evaluations_or_side_information(players, budget, informed, expected):
    assert choose(n_players=players, budget=budget, guarantee=None, informed=informed).name == expected


def test_an_algorithm_that_does_not_use_side_information_refuses_it():
    side = topshap.SideInformation(5, prior=np.arange(5.0))
    with pytest.raises(ParameterError, match=r"'algorithm' .* one that uses side information: 'player-gp'"):
        topshap.Race(5, 2, budget=20, algorithm="cmcs", side_information=side)
    with pytest.raises(ParameterError, match=r"'side_information' .* that of 6 players"):
        topshap.Race(6, 2, budget=20, side_information=side)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": [1.0, 2.0]}, "'prior' .* one number for each of the 3 players. Got 2 numbers"),
        ({"features": [[1.0], [np.nan], [0.0]]}, "'player_features' .* Got nan or infinite"),
        ({"features": [1.0, 2.0, 3.0]}, "'player_features' .* shape \\(3,\\)"),
        ({"features": [["a"], ["b"], ["c"]]}, "'player_features' .* Got a list"),
    ],
)
def test_side_information_is_checked(options, message):
    with pytest.raises(ParameterError, match=message):
        topshap.SideInformation(3, **options)


def test_its_parameters_are_checked():
    with pytest.raises(ParameterError, match="'largest_share' parameter of PlayerGP must be a number in"):
        PlayerGP(largest_share=1.5)
    with pytest.raises(ParameterError, match="'n_landmarks' parameter of PlayerGP"):
        PlayerGP(n_landmarks=0)
