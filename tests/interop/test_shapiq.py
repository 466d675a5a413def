"""shapiq: conversion of results and games, and topshap's algorithms as approximators."""

import re
import threading
from importlib.metadata import version

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, TableGame

shapiq = pytest.importorskip("shapiq")

from topshap.interop import from_shapiq, to_shapiq  # noqa: E402 - after the check above


def test_a_result_becomes_interaction_values_of_shapiq(estimated, game):
    exact = estimated(budget=256)
    values = exact.to_shapiq()
    assert (values.index, values.n_players, values.estimated, values.estimation_budget) == ("SV", 8, False, 256)
    np.testing.assert_allclose([values[(i,)] for i in range(8)], game.shapley_values())
    assert values.baseline_value == exact.empty
    assert estimated().to_shapiq().estimated


def test_games_are_converted_to_shapiq_and_back():
    table = np.random.default_rng(0).normal(size=16)
    game = TableGame(table, ["a", "b", "c", "d"])
    theirs = to_shapiq(game)
    assert isinstance(theirs, shapiq.Game)
    assert theirs([("a", "c")])[0] == pytest.approx(table[5] - table[0])
    exact = shapiq.ExactComputer(theirs, n_players=4)("SV", order=1)
    np.testing.assert_allclose([exact[(i,)] for i in range(4)], game.shapley_values())
    back = from_shapiq(to_shapiq(game, normalize=False))
    assert back.player_names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(back(from_ids(np.arange(16), 4)), table)
    assert len(back.fingerprint) == 64
    assert back.fingerprint == from_shapiq(to_shapiq(game, normalize=False)).fingerprint
    assert topshap.identify(theirs, k=1).players[0] == game.shapley_values().argmax()
    with pytest.raises(ParameterError, match="'game' parameter of from_shapiq must be a game of shapiq"):
        from_shapiq(3)


class Squares(shapiq.Game):  # type: ignore[name-defined]
    """A shapiq game with data, and a function that cannot be fingerprinted."""

    def __init__(self, weights):
        self.weights = np.asarray(weights)
        self.rng = np.random.default_rng(0)
        self.lock = threading.Lock()
        self.function = lambda rows: self.lock and (rows @ self.weights) ** 2
        super().__init__(len(weights), normalize=False)

    def value_function(self, coalitions):
        self.rng.random()
        return self.function(np.asarray(coalitions))


def test_a_name_replaces_only_the_functions_in_the_fingerprint_of_a_shapiq_game():
    assert from_shapiq(Squares([1.0, 2.0])).fingerprint is None
    game = from_shapiq(Squares([1.0, 2.0]), fingerprint="mine")
    first = game.fingerprint
    assert re.fullmatch("mine:[0-9a-f]{64}", first)
    game(np.ones((1, 2), dtype=bool))
    assert game.fingerprint == first == from_shapiq(Squares([1.0, 2.0]), fingerprint="mine").fingerprint
    assert from_shapiq(Squares([1.0, 3.0]), fingerprint="mine").fingerprint != first
    assert from_shapiq(Squares([1.0, 2.0]), fingerprint="other").fingerprint != first


def test_topshaps_algorithms_are_approximators_of_shapiq(game):
    approximator = topshap.interop.ShapiqApproximator(n=8, k=2, random_state=0)
    assert isinstance(approximator, shapiq.approximator.base.Approximator)
    found = approximator.approximate(100, to_shapiq(game))
    assert found.estimation_budget == approximator.result_.evaluations <= 100
    np.testing.assert_allclose(found.get_n_order_values(1), game.shapley_values(), atol=0.2)
    again = topshap.interop.ShapiqApproximator(n=8, k=2, random_state=0).approximate(100, game)
    np.testing.assert_allclose(again.get_n_order_values(1), found.get_n_order_values(1))
    with pytest.raises(ParameterError, match="'k' parameter of ShapiqApproximator"):
        topshap.interop.ShapiqApproximator(n=3, k=4)
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        _ = topshap.interop.Other


def test_an_explainer_of_shapiq_takes_topshaps_algorithms_as_its_approximator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    model = LinearRegression().fit(X, X[:, 2] - 2.0 * X[:, 5])
    approximator = topshap.interop.ShapiqApproximator(n=8, k=2, random_state=0)
    explainer = shapiq.TabularExplainer(
        model, X, imputer="baseline", approximator=approximator, index="SV", max_order=1
    )
    found = explainer.explain(X[0], budget=100)
    exact = shapiq.ExactComputer(explainer.imputer, n_players=8)("SV", order=1)
    np.testing.assert_allclose(found.get_n_order_values(1), exact.get_n_order_values(1), atol=1e-4)
    assert approximator.result_.evaluations <= 100


@pytest.mark.parametrize("kind", ["Explainer", "TabPFNExplainer"])
def test_every_explainer_that_takes_an_approximator_takes_topshaps(kind):
    if kind == "TabPFNExplainer" and tuple(map(int, version("shapiq").split(".")[:2])) < (1, 8):
        pytest.skip("it does not work with this version of numpy")
    X = np.random.default_rng(0).normal(size=(60, 8))
    y = X[:, 2] - 2.0 * X[:, 5]
    approximator = topshap.interop.ShapiqApproximator(n=8, k=2, random_state=0)
    options = {"approximator": approximator, "index": "SV", "max_order": 1}
    if kind == "Explainer":  # for any function
        explainer = shapiq.Explainer(LinearRegression().fit(X, y).predict, X, imputer="baseline", **options)
    else:  # for in-context models; it fits any estimator for every coalition
        explainer = shapiq.TabPFNExplainer(
            model=LinearRegression(), data=X[:50], labels=y[:50], x_test=X[50:], **options
        )
    found = explainer.explain(X[0], budget=200)
    exact = shapiq.ExactComputer(explainer.imputer, n_players=8)("SV", order=1)
    np.testing.assert_allclose(found.get_n_order_values(1), exact.get_n_order_values(1), atol=0.02)
    np.testing.assert_array_equal(found.get_n_order_values(1), approximator.result_.estimates)
    assert approximator.result_.evaluations <= 200


def test_an_additive_game_through_shapiq_keeps_its_values_above_the_baseline():
    game = from_shapiq(to_shapiq(AdditiveGame([3.0, 1.0], baseline=2.0)))
    assert game(np.array([[False, False], [True, True]])).tolist() == [0.0, 4.0]
    assert game(np.zeros((0, 2), dtype=bool)).shape == (0,)


def test_an_approximator_finds_what_identify_finds(game):
    approximator = topshap.interop.ShapiqApproximator(n=8, k=2, algorithm="cmcs", random_state=3)
    approximator.approximate(60, game)
    top = topshap.identify(game, k=2, budget=60, algorithm="cmcs", random_state=3)
    found = approximator.result_
    assert found.players.tolist() == top.players.tolist()
    assert found.estimates.tolist() == top.estimates.tolist()
    assert (found.evaluations, found.stopped) == (top.evaluations, top.stopped)


def test_the_error_about_an_invalid_budget_names_it(game):
    with pytest.raises(ParameterError, match="'budget' parameter of approximate must be an int of at least 2"):
        topshap.interop.ShapiqApproximator(n=8, k=2).approximate(0, game)


def test_the_names_are_listed_without_importing_shapiq():
    assert {"ShapiqApproximator", "ShapiqGame", "from_shapiq", "to_shapiq"} <= set(dir(topshap.interop))
