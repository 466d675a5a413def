"""One leaderboard in four forms: text, matplotlib, HTML and terminal show the same players and numbers."""

import io
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from rich.console import Console

import topshap
from topshap import show
from topshap.show.board import Leaderboard, probability_ahead, tied_at_border
from topshap.show.html import html_leaderboard
from topshap.show.labels import shown_ranks
from topshap.show.terminal import live_leaderboard

WEIGHTS = np.array([0.5, -4.0, 1.0, 3.0, -0.2, 0.1, -2.0, 0.0])
NAMES = [f"player {letter}" for letter in "abcdefgh"]


@pytest.fixture(params=["value", "magnitude"])
def race(request):
    """Return a race that is over, with a game that has interactions, so that errors are not zero."""
    race = topshap.Race(8, 3, budget=100, algorithm="cmcs", rank_by=request.param, player_names=NAMES, random_state=0)
    while not race.done:
        coalitions = race.ask()
        race.tell(coalitions @ WEIGHTS + np.sin(coalitions.sum(axis=1)))
    return race


def in_terminal(race):
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=30, color_system=None)
    with live_leaderboard(race, console=console):
        pass
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue()).split("Top ")[-1]  # type: ignore[attr-defined]


def test_all_four_show_the_same_players_in_the_same_order_with_the_same_border(race):
    top = race.result()
    names = [NAMES[i] for i in top.ranking]
    page = html_leaderboard(top)
    assert re.findall("player [a-h]", str(top)) == names
    assert [label.get_text() for label in show.leaderboard(top).get_yticklabels()] == names
    assert re.findall('ts-name">(player [a-h])', page) == names
    assert re.findall("player [a-h]", in_terminal(race)) == names
    last = names[2]
    assert re.search(rf"{last} .*\n +--\n", str(top))
    assert re.search(rf'ts-last" title="{last}', page)
    assert re.search(rf"{last} .*\n +--------", in_terminal(race))
    border = [line for line in show.leaderboard(top).lines if set(line.get_ydata()) == {2.5}]
    assert len(border) == 1


def test_numbers_and_errors_agree(race):
    top = race.result()
    halves = [f"{high - low:.2g}" for low, high in (top.interval() * 0.5)[top.ranking]]
    for text in (str(top), in_terminal(race)):
        shown = re.findall(r"(-?[\d.]+) ± (\S+)", text)
        np.testing.assert_allclose([float(x) for x, _ in shown], top.estimates[top.ranking], rtol=1e-2, atol=1e-2)
        assert [error for _, error in shown] == halves
    page = unescape(html_leaderboard(top))
    assert len(re.findall(r"95% interval: \S+ to \S+", page)) == 8


def test_rows_say_how_many_players_are_hidden(found):
    top = found(n=1000, k=100, budget=3000, algorithm="greedy-cmcs")
    board = Leaderboard.of(top, shown_ranks(1000, 100, 24))
    assert [row.hidden for row in board.rows if row.hidden] == [82, 894]
    assert sum(row.in_top for row in board.rows) == 18
    assert sum(row.hidden + 1 for row in board.rows) == 1000


def test_a_leaderboard_of_everyone_has_no_border(found):
    board = Leaderboard.of(found(n=5, k=5, budget=20), np.arange(5))
    assert board.border is None


def test_the_limits_hold_zero_and_every_interval(race):
    board = Leaderboard.of(race.result(), np.arange(8))
    low, high = board.limits
    assert low <= 0.0 <= high
    assert all(low <= row.interval[0] <= row.interval[1] <= high for row in board.rows)


def test_without_anything_learned_no_player_is_ranked(found):
    top = found(n=20, k=3, budget=2)
    page = html_leaderboard(top)
    assert str(top).splitlines() == [
        "Top 3 of 20 players after 2 evaluations (the budget was spent, nothing distinguishes the players yet)",
        "No ranking: nothing distinguishes the players yet.",
        "No guarantee: the budget was spent. It took 2 evaluations of a budget of 2.",
    ]
    assert "No ranking: nothing distinguishes the players yet." in page
    assert "ts-row" not in page
    assert '<li class="ts-row' not in top._repr_html_()
    ax = show.leaderboard(top)
    assert ax.get_title(loc="left").endswith(": nothing distinguishes the players yet")
    assert len({bar.get_facecolor() for bar in ax.patches}) == 1
    board = Leaderboard.of(top, np.arange(20))
    assert board.border is None
    assert not any(row.in_top for row in board.rows)


@pytest.mark.parametrize("algorithm", ["odd-gp", "odd-gp@k", "cmcs", "swap@k", "approshapley"])
def test_exact_ties_at_zero_are_called_ties(algorithm):
    game = topshap.games.AdditiveGame([3.0, 2.0, 1.0, *[0.0] * 12])
    top = topshap.identify(game, k=5, budget=200, algorithm=algorithm, random_state=0)
    tie = r"\(the budget was spent, (the estimates of )?12 players tie at the border(, to within \S+)?\)$"
    assert re.search(tie, top.headline)
    tied = [bool(re.search(r" 0 ± \S+  tied$", line)) for line in str(top).splitlines() if "±" in line]
    assert tied == [False] * 3 + [True] * 7 + [False]  # the last line explains the intervals
    assert re.findall(r'ts-chance">([^<]*)<', html_leaderboard(top)) == ["&gt;99%"] * 3 + ["tied"] * 12
    assert [text.get_text() for text in show.leaderboard(top).texts][1:] == [">99%"] * 3 + ["tied"] * 12


def directed_cut(n, seed):
    """Return the game that counts the arrows out of a coalition, and its Shapley values, among which many are equal."""
    arrows = np.random.default_rng(seed).random((n, n)) < 0.3
    arrows[np.diag_indices(n)] = False

    def game(coalitions):
        return ((coalitions.astype(float) @ arrows) * ~coalitions).sum(axis=1)

    return game, (arrows.sum(axis=1) - arrows.sum(axis=0)) / 2


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_players_with_equal_values_in_a_graph_cut_are_tied_and_the_words_say_how_closely(seed):
    game, values = directed_cut(12, seed)
    top = topshap.identify(game, n_players=12, k=3, budget=240, algorithm="odd-gp", random_state=seed)
    assert set(values[top.tied]) == {values[top.players[-1]]}
    assert "tied" in str(top)
    assert "sure" not in str(top)
    within = float(re.search(r"tie at the border, to within (\S+)\)", top.headline).group(1))
    assert 0.0 < within < 0.02 * np.abs(values).max()


def test_a_tie_of_players_about_whom_little_is_known_is_not_called_close():
    game, _ = directed_cut(12, 1)
    top = topshap.identify(game, n_players=12, k=3, budget=24, algorithm="odd-gp", random_state=1)
    assert top.headline.endswith("tie at the border)")
    assert len(top.tied) > 0


def test_known_values_that_are_equal_tie_themselves(found):
    top = found(n=5, k=2)
    values = np.array([3.0, 1.0, 1.0, 0.5, 0.0])
    known = replace(top, players=np.array([0, 1]), estimates=values, std_errors=np.ones(5), covariance=np.ones((5, 5)))
    assert "the estimates of" not in known.headline
    assert known.headline.endswith("tie at the border)")


def test_exact_values_tie_too():
    names = ["age", "bmi", "sex", "map"]
    game = topshap.games.AdditiveGame([3.0, 1.0, 1.0, 0.0])
    top = topshap.identify(game, k=2, player_names=names, random_state=0)
    assert top.headline.endswith("(exact: all coalitions are known, bmi and sex tie at the border)")
    assert re.findall(r'ts-chance">([^<]*)<', html_leaderboard(top)) == ["", "tied", "tied", ""]


def test_a_tie_inside_the_set_or_within_the_errors_is_not_a_tie_at_the_border():
    for weights in ([2.0, 2.0, 1.0, 0.0], [3.0, 2.0, 1.0, 1.0], [2.0, 2.0, 2.0 - 1e-7, 0.0]):
        top = topshap.identify(topshap.games.AdditiveGame(weights), k=2, random_state=0)
        assert len(tied_at_border(top)) == 0
        assert "tie" not in str(top)


def test_by_magnitude_opposite_values_tie():
    game = topshap.games.AdditiveGame([3.0, -1.0, 1.0, 0.0])
    assert len(tied_at_border(topshap.identify(game, k=2, random_state=0))) == 0
    top = topshap.identify(game, k=2, rank_by="magnitude", random_state=0)
    assert sorted(tied_at_border(top)) == [1, 2]


def test_numbers_far_below_their_error_are_shown_as_zero():
    game = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=20)
    top = topshap.identify(game, k=7, budget=600, random_state=0)
    assert 0.0 < np.abs(top.estimates[top.ranking[7:]]).max() < 1e-5
    assert re.findall('ts-value">([^<]*)<', html_leaderboard(top))[7:] == ["0"] * 13


def test_probabilities_of_some_players_are_those_of_all(race):
    top = race.result()
    some = np.array([4, 0, 7])
    np.testing.assert_array_equal(probability_ahead(top, some), top.pairwise()[np.ix_(some, some)])


def test_text_and_notebook_explain_the_interval(race):
    top = race.result()
    assert str(top).splitlines()[-2] == "± is the 95% interval (1.96 standard errors)."
    assert "thin lines are 95% intervals (1.96 standard errors)" in top._repr_html_()


def test_names_in_text_stay_on_their_line(found):
    lines = str(found()).splitlines()
    assert sum(bool(re.match(r" +\d+  ", line)) for line in lines) == 10
    assert any(r"tri\nglycerides" in line for line in lines)
