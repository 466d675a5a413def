"""Ordered lists: the k players in the right order, up to epsilon."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.core.standing import FittedStanding
from topshap.core.stopping import Confidence, Credible, SeparatedBorder
from topshap.games import AdditiveGame, TableGame, UnanimityGame
from topshap.statistics.ranking import rank_key

GAME = UnanimityGame([[0], [1], [2], [3, 4], [5, 6, 7]], [3.0, 2.9, -2.0, 1.0, 0.6], n_players=12)


def rough_game(seed, n=9):
    rng = np.random.default_rng(seed)
    rows = from_ids(np.arange(2**n), n)
    return TableGame(rows @ rng.normal(size=n) + 0.5 * rng.normal(size=2**n))


def in_order(game, **options):
    defaults = {"k": 3, "epsilon": 0.02, "ordered": True, "random_state": 0}
    return topshap.identify(game, **(defaults | options))


def order_error(values, players, rank_by="value"):
    """Return the largest amount by which a player is ahead of one listed before it, or of one left out."""
    keys = rank_key(values, rank_by)
    rest = np.setdiff1d(np.arange(len(values)), players)
    listed = [*keys[players], keys[rest].max(initial=-np.inf)]
    return max(0.0, *(after - before for t, after in enumerate(listed) for before in listed[:t]))


@pytest.mark.parametrize("rank_by", ["value", "magnitude", "lowest"])
@pytest.mark.parametrize("guarantee", ["asymptotic", "credible", "exact"])
def test_an_ordered_race_stops_with_the_right_order(rank_by, guarantee):
    top = in_order(GAME, rank_by=rank_by, guarantee=guarantee)
    assert top.stopped in ("confident", "exact")
    assert top.ordered
    assert order_error(GAME.shapley_values(), top.players, rank_by) <= 0.02


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from(["value", "magnitude"]), st.sampled_from([0.0, 0.05]))
def test_the_order_is_right_up_to_epsilon_in_rough_games(seed, rank_by, epsilon):
    """Ten runs at delta = 0.001."""
    game = rough_game(seed, n=8)
    top = in_order(game, epsilon=epsilon, delta=0.001, rank_by=rank_by)
    assert order_error(game.shapley_values(), top.players, rank_by) <= epsilon + 1e-9


def test_an_order_takes_more_evaluations_than_a_set_if_members_are_close():
    lists, sets = (
        np.mean([in_order(GAME, ordered=o, k=2, epsilon=0.0, random_state=s).evaluations for s in range(3)])
        for o in (True, False)
    )
    assert lists > sets


def test_all_players_can_be_ordered():
    top = in_order(GAME, k=12, epsilon=0.1)
    assert top.stopped in ("confident", "exact")
    assert order_error(GAME.shapley_values(), top.players) <= 0.1
    assert "Certain: all players are in the set" not in top.promise
    assert in_order(GAME, k=12, ordered=False).evaluations < top.evaluations


def test_the_promise_says_in_this_order():
    assert in_order(GAME).promise.startswith(
        "With probability at least 95%, the top 3 are in this order: "
        "no player is ahead of one listed before it by more than 0.02."
    )
    assert in_order(GAME).headline.startswith("Top 3 of 12 players in order after")
    assert "by more than 0.02 in magnitude" in in_order(GAME, rank_by="magnitude").promise
    assert "in this order" in in_order(GAME, guarantee="credible").promise


def test_a_budget_for_all_coalitions_needs_no_epsilon_for_an_order():
    top = in_order(AdditiveGame([1.0, 3.0, 2.0]), k=2, epsilon=None)
    assert (top.stopped, top.players.tolist(), top.ordered) == ("exact", [1, 2], True)


def test_a_fixed_budget_is_refused_by_name():
    with pytest.raises(ParameterError, match="'ordered' parameter of identify must be False without 'epsilon'"):
        in_order(GAME, epsilon=None, budget=100)
    assert in_order(GAME, epsilon=None, stop=Confidence(0.05)).stopped == "confident"
    with pytest.raises(ParameterError, match="'ordered' parameter of identify must be a bool"):
        in_order(GAME, ordered="yes")


def test_algorithms_that_compare_across_the_border_only_are_refused_by_name():
    refused = sorted(name for name, kind in ALGORITHMS.items() if not kind.ordered_guarantees)
    assert {"swap@k", "greedy-cmcs", "cmcs@k", "samplingshap@k"} <= set(refused)
    for name in refused:
        with pytest.raises(ParameterError, match=f"ordered=True: 'auto', 'odd-gp@k'; '{name}' takes no ordered lists"):
            in_order(GAME, algorithm=name, budget=200)
    with pytest.raises(ParameterError, match="'asymptotic', 'credible' or 'exact' for an ordered list"):
        in_order(GAME, guarantee="published")
    with pytest.raises(ParameterError, match=r"with guarantee='exact' and ordered=True.*'odd-gp@k' takes"):
        in_order(GAME, guarantee="exact", algorithm="odd-gp@k", value_range=(-9.0, 9.0))


def test_a_range_of_values_does_not_replace_enumeration():
    small = UnanimityGame([[0], [1, 2]], [1.0, 0.5], n_players=6)
    top = in_order(small, guarantee="exact", value_range=(0.0, 2.0))
    assert (top.algorithm, top.stopped) == ("enumeration", "exact")


def test_a_noisy_game_is_ordered_credibly():
    rng = np.random.default_rng(0)

    def noisy(rows):
        return rows @ np.array([4.0, 2.0, 1.0, 0.0, 0.0, -1.0]) + 0.1 * rng.normal(size=len(rows))

    noisy.deterministic = False  # type: ignore[attr-defined]
    top = in_order(noisy, n_players=6, guarantee="credible", epsilon=0.5)
    assert (top.algorithm, top.players.tolist(), top.stopped) == ("cmcs", [0, 1, 2], "confident")
    with pytest.raises(ParameterError, match="'credible' or 'exact' by magnitude, for ordered lists and for pairs"):
        in_order(noisy, n_players=6)


def test_rules_look_at_the_order_only_if_asked_to():
    standing = FittedStanding(np.arange(3), np.zeros(3))
    standing.set(np.array([1.01, 1.0, -9.0]), np.diag([0.1, 0.1, 0.1]))
    assert Credible(0.0, 0.05)(standing, 2)
    assert not Credible(0.0, 0.05, ordered=True)(standing, 2)
    assert Credible(2.5, 0.05, ordered=True)(standing, 3)
    assert Credible(0.0, 0.05)(standing, 3)
    assert not Credible(0.0, 0.05, ordered=True)(standing, 3)
    assert 0.0 < Credible(0.0, 0.05, ordered=True).completion(standing, 3) < 1.0
    standing.worst_bound = lambda: -0.5  # type: ignore[attr-defined]
    assert SeparatedBorder(0.1)(standing, 3)
    rule = SeparatedBorder(0.1, ordered=True)
    assert not rule(standing, 3)
    assert 0.0 < rule.completion(standing, 3) < 1.0
    assert rule.completion(standing, 2) == rule.completion(standing, 3) < SeparatedBorder(0.1).completion(standing, 2)


def test_a_saved_list_is_read_again_and_an_invalid_one_is_refused(tmp_path):
    path = tmp_path / "top.json"
    in_order(GAME).save(path)
    assert topshap.load(path).ordered is True
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | {"ordered": 1}), encoding="utf-8")
    with pytest.raises(ParameterError, match="the field 'ordered' must be true or false, not 1"):
        topshap.load(path)
    del content["ordered"]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert topshap.load(path).ordered is False


def test_the_explainer_the_selector_and_several_outputs_take_ordered():
    weights = np.array([1.0, -2.0, 0.5, -0.1, 0.0, 0.0])
    explainer = topshap.Explainer(lambda X: X @ weights, np.zeros((1, 6)), epsilon=0.05, ordered=True)
    top = explainer.explain(np.ones(6), k=2)
    assert (top.players.tolist(), top.ordered) == ([0, 2], True)
    assert [each.players.tolist() for each in explainer.explain_many(np.array([np.ones(6), -np.ones(6)]), k=2)] == [
        [0, 2],
        [1, 3],
    ]
    several = in_order(lambda rows: np.stack([rows @ weights, -(rows @ weights)], axis=1), n_players=6, k=2)
    assert several.players.tolist() == [[0, 2], [1, 3]]
    assert several.ordered


def test_the_command_orders(tmp_path, monkeypatch, capsys):
    from topshap.cli import main

    source = "import numpy as np\ndef game(rows):\n    return rows @ np.arange(6.0)\ngame.n_players = 6\n"
    (tmp_path / "listed.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    arguments = ["identify", "listed:game", "-k", "2", "--epsilon", "0.5", "--ordered", "--json"]
    monkeypatch.setattr("sys.argv", ["topshap", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["players"], found["ordered"]) == ([5, 4], True)
