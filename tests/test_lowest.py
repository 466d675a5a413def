"""Players ranked from the lowest, such as the most harmful training points."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.stopping import GUARANTEES
from topshap.games import AdditiveGame, TableGame

WEIGHTS = np.array([0.5, -4.0, 1.0, 3.0, -0.2, 0.1, -2.0, 0.0])
ONLY_HIGHEST = sorted(name for name, kind in ALGORITHMS.items() if "lowest" not in kind.ranks_by)


def lowest(game, **options):
    return topshap.identify(game, **({"k": 3, "budget": 150, "rank_by": "lowest", "random_state": 0} | options))


def negated(game):
    return TableGame(-game.values)


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_every_algorithm_finds_the_lowest(algorithm):
    top = lowest(AdditiveGame(WEIGHTS), algorithm=algorithm)
    assert top.players.tolist() == [1, 6, 4]
    assert top.rank_by == "lowest"
    assert top.estimates[top.ranking].tolist() == sorted(top.estimates)
    error = np.abs(top.estimates[[1, 6, 4]] - [-4.0, -2.0, -0.2])
    # player-gp samples random coalitions for any number of players, so it is less accurate with few of them.
    assert (error <= (3.0 * top.std_errors[[1, 6, 4]] if algorithm == "player-gp" else 0.3)).all()


@settings(max_examples=25)
@given(st.sampled_from(ONLY_HIGHEST), st.integers(0, 99), st.sampled_from(["distinct", "calls"]))
def test_the_lowest_of_a_game_are_the_highest_of_its_negative(random_game, algorithm, seed, counting):
    game = random_game(7, seed)
    options = {"k": 2, "budget": 90, "algorithm": algorithm, "counting": counting, "random_state": seed}
    low, high = lowest(game, **options), topshap.identify(negated(game), **options)
    np.testing.assert_array_equal(low.players, high.players)
    np.testing.assert_array_equal(low.estimates, -high.estimates)
    np.testing.assert_array_equal(low.std_errors, high.std_errors)
    np.testing.assert_array_equal(low.history.estimates, -high.history.estimates)
    assert (low.evaluations, low.calls, low.stopped) == (high.evaluations, high.calls, high.stopped)
    assert (low.empty, low.grand) == (-high.empty, -high.grand)
    assert low.confidence == pytest.approx(high.confidence, abs=0.04, nan_ok=True)  # draws: five standard deviations


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("algorithm", ["auto", *(name for name, kind in ALGORITHMS.items() if not kind.needs_budget)])
def test_a_race_for_the_lowest_can_stop_by_itself(guarantee, algorithm):
    """Every algorithm gives the guarantees for the lowest values that it gives for the highest."""
    if algorithm in ALGORITHMS and guarantee not in ALGORITHMS[algorithm].guarantees:
        pytest.skip("another guarantee")
    game = topshap.games.UnanimityGame([[0], [1, 2], [3], [4, 5]], [2.0, 1.0, -2.0, -3.0], n_players=9)
    options = {"k": 3, "epsilon": 0.3, "guarantee": guarantee, "algorithm": algorithm, "random_state": 1}
    low = lowest(game, budget=None, value_range=(-6.0, 4.0), **options)
    assert low.stopped in ("confident", "exact")
    assert set(low.players.tolist()) == {3, 4, 5}

    def of_negative(coalitions):
        return -game(coalitions)

    high = topshap.identify(of_negative, 9, value_range=(-4.0, 6.0), **options)
    assert (low.evaluations, low.players.tolist()) == (high.evaluations, high.players.tolist())
    assert low.promise == high.promise.replace("[-4, 6]", "[-6, 4]")


def test_criteria_and_callbacks_get_the_estimates_of_the_game_not_of_its_negative():
    seen = []

    def look(race):
        seen.append(race.standing.estimates.copy())
        assert race.standing.rank_by == "lowest"
        assert race.standing.counts.min() >= 0
        assert 0.0 <= race.completion <= 1.0
        return False

    def is_clear(race):
        return bool(race.standing.estimates[1] < -5.0)

    top = lowest(AdditiveGame(WEIGHTS), algorithm="greedy-cmcs", callback=look, stop=is_clear)
    np.testing.assert_allclose(seen[-1], WEIGHTS, atol=1e-9)
    np.testing.assert_allclose(top.estimates, WEIGHTS, atol=1e-9)


def test_a_race_for_the_lowest_can_be_extended():
    game = topshap.games.UnanimityGame([[0, 1], [2], [3, 4]], [1.0, -2.0, -1.0], n_players=8)
    race = topshap.Race(8, 2, budget=40, algorithm="cmcs@k", rank_by="lowest", random_state=0)
    while not race.done:
        race.tell(game(race.ask()))
        assert race.result().rank_by == "lowest"
    race.extend(80)
    while not race.done:
        race.tell(game(race.ask()))
    whole = lowest(game, k=2, budget=80, algorithm="cmcs@k")
    np.testing.assert_array_equal(race.result().estimates, whole.estimates)


def test_a_race_for_the_lowest_over_all_coalitions_is_exact():
    top = lowest(AdditiveGame(WEIGHTS[:4]), k=2, budget=16)
    assert (top.stopped, top.players.tolist(), top.confidence) == ("exact", [1, 0], 1.0)
    np.testing.assert_allclose(top.pairwise()[1], [1.0, 0.5, 1.0, 1.0])


def test_text_files_plots_and_the_report_say_from_the_lowest(tmp_path):
    top = lowest(AdditiveGame(WEIGHTS), budget=60)
    assert str(top).startswith("Top 3 of 8 players from the lowest after 60 evaluations")
    top.save(tmp_path / "top.json")
    assert topshap.load(tmp_path / "top.json").rank_by == "lowest"
    top.to_html(tmp_path / "top.html")
    page = (tmp_path / "top.html").read_text(encoding="utf-8")
    assert "from the lowest" in page
    assert "a lower value" in page
    assert "lowest" in top._repr_html_()
    for plot in (topshap.show.leaderboard, topshap.show.race, topshap.show.pairwise):
        assert plot(top).figure is not None
    first, last = top.to_frame()["estimate"].iloc[[0, -1]]
    assert first == top.estimates.min()
    assert last == top.estimates.max()


def test_the_explainer_and_the_selector_rank_from_the_lowest():
    weights = np.array([1.0, -2.0, 0.5, -0.1])
    explainer = topshap.Explainer(lambda X: X @ weights, np.zeros((1, 4)), rank_by="lowest")
    assert explainer.explain(np.ones(4), k=2).players.tolist() == [1, 3]
    assert [top.players.tolist() for top in explainer.explain_many(np.array([np.ones(4), -np.ones(4)]), k=1)] == [
        [1],
        [0],
    ]
    from sklearn.datasets import make_regression
    from sklearn.linear_model import LinearRegression

    X, y = make_regression(n_features=6, n_informative=2, shuffle=False, random_state=0)
    selector = topshap.TopKSelector(LinearRegression(), k=2, budget=50, rank_by="lowest", random_state=0).fit(X, y)
    assert not set(selector.get_support(indices=True)) & {0, 1}


def test_the_command_ranks_from_the_lowest(tmp_path, monkeypatch, capsys):
    from topshap.cli import main

    weights = "np.array([1.0, -2.0, 0.5, -0.1])"
    source = f"import numpy as np\ndef game(rows):\n    return rows @ {weights}\ngame.n_players = 4\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["topshap", "identify", "mine:game", "-k", "2", "--rank-by", "lowest", "--json"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert json.loads(capsys.readouterr().out)["players"] == [1, 3]
