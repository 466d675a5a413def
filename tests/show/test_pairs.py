"""Results for pairs in words, plots and reports."""

import re
from typing import Any

import numpy as np
import pytest

import topshap
from topshap.core.errors import ParameterError
from topshap.show.network import Network, leading_players
from topshap.show.report import render
from topshap.statistics.partial_covariance import PartialCovariance

NAMES = ["<b>age</b>", "$x$", "bmi", "fat", "quote \" '", "map"]


def game(coalitions):
    a, b, c, d, e, f = np.asarray(coalitions, dtype=float).T
    return 3.0 * a - 2.0 * a * b + 1.5 * c * d + 0.5 * b * c * e + 0.1 * d * e + 0.3 * e * f


@pytest.fixture(scope="module")
def exact() -> Any:
    return topshap.identify(game, 6, 2, order=2, random_state=0, player_names=NAMES)


@pytest.fixture(scope="module")
def estimated(exact) -> Any:
    """Return a result with standard errors and a history, as of an algorithm that samples."""
    from dataclasses import replace

    from topshap.core.history import History

    rng = np.random.default_rng(0)
    moments = exact.estimates + rng.normal(size=(4, 15)) * np.array([[0.3], [0.2], [0.1], [0.0]])
    errors = np.repeat([[0.4], [0.3], [0.2], [0.1]], 15, axis=1)
    history = History(np.array([8, 12, 20, 30]), moments, errors)
    some = PartialCovariance(np.array([0, 9]), np.array([[0.01, 0.005], [0.005, 0.01]]))
    changed = {"std_errors": np.full(15, 0.1), "covariance": some, "history": history, "stopped": "budget"}
    return replace(exact, **changed, algorithm="odd-gp", evaluations=30, budget=30)


def test_the_text_is_about_pairs(exact, estimated):
    text = str(exact)
    assert text.startswith("Top 2 of 15 pairs of 6 players by magnitude after 64 evaluations (exact: all coalitions")
    assert "<b>age</b> x $x$" in text
    assert exact.promise == "Certain: all coalitions are known. It took 64 evaluations of a budget of 64."
    assert "player" not in estimated.promise
    assert "sure of the set" in estimated.headline


@pytest.mark.parametrize("guarantee", ["asymptotic", "credible", "exact"])
def test_a_guarantee_is_about_pairs(estimated, guarantee):
    from dataclasses import replace

    top = replace(estimated, stopped="confident", epsilon=0.5, delta=0.05, guarantee=guarantee)
    assert "no pair left out is ahead of a pair in the set by more than 0.5" in top.promise
    assert "player" not in top.promise


def test_ties_are_about_pairs():
    top = topshap.identify(topshap.games.AdditiveGame([1.0, 2.0, 3.0]), k=1, order=2, random_state=0)
    assert "all 3 pairs tie at the border" in top.headline
    one = topshap.identify(topshap.games.UnanimityGame([[0, 1], [2, 3]], [1.0, 1.0], n_players=4), k=1, order=2)
    assert "pairs 0 x 1 and 2 x 3 tie at the border" in one.headline


def test_the_network_has_the_players_of_the_leading_pairs():
    weights = np.random.default_rng(0).normal(size=45)
    pairs = [[i, j] for i in range(10) for j in range(i + 1, 10)]
    everyone = topshap.games.UnanimityGame(pairs, weights, n_players=10)
    top: Any = topshap.identify(everyone, k=3, order=2, budget=2**10)
    network = Network.of(top, most=5)
    assert len(network.players) == 5
    assert np.array_equal(network.players, leading_players(top, 5))
    assert set(top.pairs[:2].ravel()) <= set(network.players)
    assert [edge.rank for edge in network.edges] == sorted((edge.rank for edge in network.edges), reverse=True)
    assert max(edge.strength for edge in network.edges) == 1.0
    np.testing.assert_allclose(np.hypot(*network.places.T), 1.0)
    assert len(Network.of(top, most_pairs=7).edges) == 7
    assert len(Network.of(top).edges) == 45


def test_plots_of_pairs(exact, estimated):
    for top in (exact, estimated):
        ax = topshap.show.network(top)
        assert len(ax.lines) == len(Network.of(top).edges)
        assert [text.get_text() for text in ax.texts] == NAMES
        assert "Top 2 of 15 pairs by magnitude" in ax.get_title(loc="left")
        dashed = [line.get_linestyle() for line in ax.lines]
        assert dashed.count("--") == 1
        heat = topshap.show.matrix(top)
        shown: Any = heat.images[0].get_array()
        assert np.array_equal(shown.data, shown.data.T)
        assert shown.mask.diagonal().all()
        assert len(heat.patches) == 4
        assert topshap.show.leaderboard(top).get_xlabel().startswith("interaction")
        assert topshap.show.pairwise(top, most=4).images[0].get_array().shape == (4, 4)
        ax.figure.canvas.draw()
        heat.figure.canvas.draw()
    assert topshap.show.race(estimated).get_ylabel() == "interaction"
    assert top.plot() is not None


def test_plots_show_at_most_the_leading_players():
    pairs = [[i, i + 1] for i in range(12)]
    top: Any = topshap.identify(
        topshap.games.UnanimityGame(pairs, np.arange(1.0, 13.0), n_players=13), k=2, order=2, budget=2**13
    )
    ax = topshap.show.network(top, most=4, most_pairs=2)
    assert len(ax.texts) == 4
    assert len(ax.lines) == 2
    assert "(4 of 13 players shown)" in ax.get_title(loc="left")
    assert topshap.show.matrix(top, most=4).images[0].get_array().shape == (4, 4)
    assert not topshap.show.matrix(top).texts


def test_plots_without_a_ranking_say_so():
    race = topshap.Race(4, 2, order=2, random_state=0)
    race.tell([0.0, 1.0])
    top: Any = race.result()
    ax = topshap.show.network(top)
    assert not ax.lines
    assert "No ranking" in ax.get_title(loc="left")
    assert "No ranking" in topshap.show.matrix(top).get_title(loc="left")
    assert "No ranking" in str(top)
    assert 'class="network"' not in render(top)


def test_plots_of_players_refuse_pairs_and_the_other_way_round(exact):
    players = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0]), k=1)
    for plot in (topshap.show.network, topshap.show.matrix):
        with pytest.raises(ParameterError, match=r"'top' parameter of .* must be a result for pairs"):
            plot(players)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'top' parameter of waterfall must be a result for players"):
        topshap.show.waterfall(exact)
    with pytest.raises(ParameterError, match="'top' parameter of text_map must be a result for players"):
        topshap.show.text_map(exact)
    with pytest.raises(ParameterError, match="'top' parameter of image_map must be a result for players"):
        topshap.show.image_map(exact, np.zeros((2, 2)), np.zeros((2, 2), dtype=int))


def test_the_report_has_the_network_and_the_matrix_and_escapes_names(exact, estimated):
    for top in (exact, estimated):
        page = render(top)
        assert '<svg class="network"' in page
        assert '<table class="pairs matrix">' in page
        assert "All pairs" in page
        assert "h-steps" not in page
        assert "<b>age</b>" not in page
        assert "&lt;b&gt;age&lt;/b&gt;" in page
        assert not re.search(r"<[^>]+\sstyle=", page)
        assert page.count("<line ") == len(Network.of(top).edges)
    assert "h-steps" in render(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0]), k=1))


def test_a_large_report_stays_small(pairs_algorithm):
    top: Any = topshap.identify(
        lambda coalitions: coalitions.sum(axis=1) * 1.0,
        200,
        5,
        order=2,
        budget=20,
        algorithm=pairs_algorithm(),
        random_state=0,
    )
    assert len(render(top)) < 250_000
    assert "The first" in render(top)


def test_a_notebook_shows_pairs(exact):
    html = exact._repr_html_()
    assert "pairs of 6 players" in html
    assert "&lt;b&gt;age&lt;/b&gt; x" in html
    assert "interaction -2" in html


def test_the_advice_about_rare_contributions_names_an_algorithm_for_pairs():
    table = np.zeros(2**10)
    table[0b1111111] = 5.0
    with pytest.warns(topshap.RareContributionsWarning, match="algorithm='odd-gp@k', a run goes on"):
        topshap.identify(topshap.games.TableGame(table), k=1, order=2, budget=100, random_state=0)
