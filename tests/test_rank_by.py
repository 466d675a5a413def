"""Players ranked by magnitude: the largest absolute values, positive or negative."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, TableGame
from topshap.reference.metrics import inclusion_exclusion_error

ABLE = [name for name, kind in ALGORITHMS.items() if "magnitude" in kind.ranks_by]
NOT_ABLE = sorted(set(ALGORITHMS) - set(ABLE))
WEIGHTS = np.array([0.5, -4.0, 1.0, 3.0, -0.2, 0.1, -2.0, 0.0])


def mixed_game(seed, n=8, rough=0.1):
    """Return a game of weights of both signs, pairwise interactions and some noise."""
    rng = np.random.default_rng(seed)
    x = topshap.core.coalitions.from_ids(np.arange(2**n), n)
    interactions = np.triu(rng.normal(size=(n, n)), 1) * 0.5
    return TableGame(x @ rng.normal(size=n) + ((x @ interactions) * x).sum(axis=1) + rough * rng.normal(size=2**n))


def by_magnitude(game, **options):
    return topshap.identify(game, **({"k": 3, "budget": 100, "rank_by": "magnitude", "random_state": 0} | options))


def test_some_algorithms_rank_by_magnitude_and_some_do_not():
    assert {"odd-gp", "odd-gp@k", "cmcs", "kernelshap"} <= set(ABLE)
    assert {"swap@k", "greedy-cmcs", "cmcs@k"} <= set(NOT_ABLE)


@pytest.mark.parametrize("algorithm", ["auto", *ABLE])
def test_the_largest_magnitudes_are_found_for_either_sign(algorithm):
    top = by_magnitude(AdditiveGame(WEIGHTS), algorithm=algorithm, budget=200)
    assert top.players.tolist() == [1, 3, 6]
    assert top.rank_by == "magnitude"
    assert np.abs(top.estimates[top.ranking]).tolist() == sorted(np.abs(top.estimates), reverse=True)
    assert topshap.identify(AdditiveGame(WEIGHTS), k=3, budget=200, random_state=0).players.tolist() == [3, 2, 0]


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["auto", "cmcs", "kernelshap", "stratified-svarm"]))
def test_a_game_and_its_negative_have_the_same_top(seed, algorithm):
    game = mixed_game(seed)
    negative = TableGame(-game(topshap.core.coalitions.from_ids(np.arange(2**8), 8)))
    one, other = (by_magnitude(g, algorithm=algorithm, random_state=seed) for g in (game, negative))
    assert one.players.tolist() == other.players.tolist()
    assert one.confidence == pytest.approx(other.confidence, abs=0.04, nan_ok=True)  # draws: five standard deviations


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_without_negative_values_ranking_by_magnitude_changes_nothing(seed):
    game = AdditiveGame(np.random.default_rng(seed).uniform(1.0, 2.0, 8))
    one, other = (topshap.identify(game, k=3, budget=100, rank_by=by, random_state=0) for by in ("value", "magnitude"))
    assert one.players.tolist() == other.players.tolist()
    assert np.array_equal(one.estimates, other.estimates)


def test_evaluations_focus_on_close_magnitudes_and_the_confidence_is_calibrated():
    """In forty games, differences across the border of magnitudes are estimated better than in a run by value.

    The geometric mean of the ratio of their standard deviations was 0.88, with a standard error of 0.03.
    """
    ratios, said, right = [], [], []
    for seed in range(40):
        game = mixed_game(seed, n=12, rough=0.5)
        exact = game.shapley_values()
        order, signs = np.argsort(-np.abs(exact)), np.sign(exact)
        deviations = []
        for by in ("magnitude", "value"):
            top = topshap.identify(game, k=3, budget=120, rank_by=by, random_state=seed)
            spread = signs[:, None] * signs * top.covariance
            variances = [spread[i, i] + spread[j, j] - 2.0 * spread[i, j] for i in order[1:3] for j in order[3:5]]
            deviations.append(np.sqrt(np.mean(variances)))
            if by == "magnitude":
                said.append(top.confidence)
                right.append(inclusion_exclusion_error(np.abs(exact), top.players) == 0.0)
                assert top.pairwise()[top.players[0], top.ranking[-1]] > 0.5
        ratios.append(deviations[0] / deviations[1])
    assert np.exp(np.mean(np.log(ratios))) < 0.95
    assert abs(np.mean(said) - np.mean(right)) < 0.2  # three standard errors


def test_a_race_by_magnitude_over_all_coalitions_is_exact():
    game = mixed_game(0)
    top = by_magnitude(game, budget=2**8)
    exact = np.abs(game.shapley_values())
    assert top.stopped == "exact"
    assert set(top.players) == set(np.argsort(-exact)[:3])
    assert top.confidence == 1.0
    assert set(np.unique(top.pairwise())) <= {0.0, 0.5, 1.0}


def test_auto_runs_cmcs_with_a_criterion_and_no_budget():
    top = by_magnitude(AdditiveGame(WEIGHTS), budget=None, stop=lambda race: race.evaluations >= 60)
    assert (top.algorithm, top.players.tolist()) == ("cmcs", [1, 3, 6])


def test_unsupported_options_of_ranking_by_magnitude_are_refused():
    with pytest.raises(ParameterError, match="rank_by"):
        by_magnitude(AdditiveGame(WEIGHTS), rank_by="size")
    for algorithm in NOT_ABLE:
        with pytest.raises(ParameterError, match=r"one that ranks by magnitude: 'auto', .*'odd-gp'"):
            by_magnitude(AdditiveGame(WEIGHTS), algorithm=algorithm)


@pytest.mark.parametrize("guarantee", ["asymptotic", "credible", "exact"])
def test_a_race_by_magnitude_can_stop_by_itself(guarantee):
    game = mixed_game(2, n=10)
    exact = np.abs(game.shapley_values())
    top = by_magnitude(game, budget=None, epsilon=0.05, guarantee=guarantee)
    assert top.stopped in ("confident", "exact")
    assert inclusion_exclusion_error(exact, top.players) <= 0.05
    assert top.algorithm == ("enumeration" if guarantee == "exact" else "odd-gp@k")
    if guarantee == "asymptotic":
        assert "no player left out is ahead of a player in the set by more than 0.05 in magnitude" in top.promise


def test_the_border_of_magnitudes_may_lie_between_values_of_different_signs():
    """phi = 1 and -0.9 compete: their sum, not their difference, has to be shown to be positive."""
    game = topshap.games.UnanimityGame([[0], [1], [2, 3], [4, 5]], [1.0, -0.9, 0.2, -0.2], n_players=12)
    for played in (game, lambda rows: -game(rows)):
        top = by_magnitude(played, n_players=12, k=1, budget=None, epsilon=0.01)
        assert (top.stopped, top.players.tolist()) == ("confident", [0])
        assert top.evaluations < 1000


def test_large_games_stop_by_magnitude_without_enumerating_them():
    weights = np.concatenate([[5.0, -4.0, 3.0], np.linspace(-1.0, 1.0, 37)])
    sets = [[i] for i in range(40)] + [[i, i + 1, i + 2] for i in range(30)]
    game = topshap.games.UnanimityGame(sets, np.concatenate([weights, np.tile([0.3, -0.3], 15)]), n_players=40)
    top = by_magnitude(game, budget=None, epsilon=0.2)
    assert (top.stopped, top.players.tolist()) == ("confident", [0, 1, 2])
    assert inclusion_exclusion_error(np.abs(game.shapley_values()), top.players) <= 0.2


def test_guarantees_that_do_not_exist_by_magnitude_are_refused_by_name():
    game = AdditiveGame(WEIGHTS)
    with pytest.raises(ParameterError, match=r"one that ranks by magnitude: 'auto', .*'odd-gp@k'"):
        by_magnitude(game, budget=None, epsilon=0.1, algorithm="swap@k")
    for options in ({"guarantee": "published"}, {"guarantee": "published", "algorithm": "cmcs"}):
        with pytest.raises(ParameterError, match="'asymptotic', 'credible' or 'exact' by magnitude"):
            by_magnitude(game, budget=None, epsilon=0.1, **options)
    with pytest.raises(ParameterError, match="'cmcs' takes guarantee='credible'"):
        by_magnitude(game, budget=None, epsilon=0.1, algorithm="cmcs")
    with pytest.raises(ParameterError, match="more than 1000 players"):
        by_magnitude(AdditiveGame(np.arange(1500.0)), budget=None, epsilon=0.1)


def test_text_files_and_plots_say_by_magnitude(tmp_path):
    top = by_magnitude(mixed_game(1))
    assert top.headline.startswith("Top 3 of 8 players by magnitude after 100 evaluations")
    top.save(tmp_path / "top.json")
    assert topshap.load(tmp_path / "top.json").rank_by == "magnitude"
    top.to_html(tmp_path / "top.html")
    assert "the top 3 of 8 players by magnitude" in (tmp_path / "top.html").read_text(encoding="utf-8")
    lines = [line.get_ydata()[0] for line in topshap.show.race(top).lines if len(set(line.get_ydata())) == 1]
    assert -lines[-1] == lines[-2]


def test_a_file_without_rank_by_is_read_and_an_unknown_rank_by_is_refused(tmp_path):
    path = tmp_path / "top.json"
    topshap.identify(AdditiveGame(WEIGHTS), k=2, random_state=0).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["rank_by"]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert topshap.load(path).rank_by == "value"
    path.write_text(json.dumps(content | {"rank_by": "charm"}), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"the field 'rank_by' must be one of .* not 'charm'"):
        topshap.load(path)


def test_an_explainer_ranks_by_magnitude():
    explainer = topshap.Explainer(lambda rows: rows @ [1.0, -3.0, 2.0], np.zeros((1, 3)), rank_by="magnitude")
    assert explainer.explain([1.0, 1.0, 1.0], k=2).names == ("1", "2")
