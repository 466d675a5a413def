"""Results of several outputs as text, HTML and a plot, and the displays of a running race."""

import io
import re
from html import unescape

import numpy as np
import pytest
from rich.console import Console

import topshap
from topshap.games import TableGame
from topshap.show.outputs_html import render_outputs
from topshap.show.progress_bar import progress_bar
from topshap.show.terminal import live_leaderboard

HOSTILE = ["<script>alert(1)</script>", "\x1b[2J", "\ud800", "$\\frac$", "a\nb", "&amp;"]


def several(n_outputs=3, n=6, names=None, **options):
    values = np.random.default_rng(0).normal(size=(2**n, n_outputs))
    game = TableGame(values, output_names=names)
    return topshap.identify(game, **({"k": 2, "budget": 40, "random_state": 0} | options))


def test_the_text_has_one_line_per_output():
    lines = str(several(names=["low", "middle", "high"])).splitlines()
    assert lines[0] == "Top 2 of 6 players for each of 3 outputs after 40 evaluations (the budget was spent)"
    assert [re.match(r"(\w+): +\d, \d \((\d+|>99|<1)% sure\)$", line)[1] for line in lines[1:4]] == [
        "low",
        "middle",
        "high",
    ]
    assert lines[4].startswith("No guarantee: after a fixed budget")


def test_the_text_is_bounded():
    lines = str(several(500, k=6)).splitlines()
    assert len(lines) == 23
    assert lines[21] == "... 480 more outputs"
    assert all(len(line) < 200 for line in lines)


def test_nothing_known_is_not_shown_as_a_ranking():
    assert str(several(budget=2)).count("no ranking: nothing distinguishes the players yet") == 3


def test_text_and_html_escape_names():
    tops = several(names=HOSTILE[:3], player_names=HOSTILE)
    assert [c for c in str(tops) if not c.isprintable() and c != "\n"] == []
    for page in (render_outputs(tops, title=HOSTILE[0], game=HOSTILE[1]), tops._repr_html_()):
        assert "<script" not in page
        assert "\x1b" not in page
        assert HOSTILE[0] in unescape(page)
        page.encode("utf-8")


def test_the_report_has_a_table_and_a_leaderboard_per_output(tmp_path):
    tops = several(names=["low", "middle", "high"])
    tops.to_html(tmp_path / "tops.html", title="Three outputs", game="a table")
    page = (tmp_path / "tops.html").read_text(encoding="utf-8")
    assert page.count("<details") == page.count('<ol class="ts-board"') == 3
    assert page.count('<th scope="row" ') == 3
    assert "<h1>Three outputs</h1>" in page
    assert "a table" in page
    assert tops.headline in unescape(page)
    assert "script-src" not in page
    assert not re.search(r"https?://", page)


def test_the_report_is_bounded():
    page = render_outputs(several(3000))
    assert page.count("<details") == 50
    assert page.count('<th scope="row" ') == 1000
    assert "The first 1000 of 3,000 outputs are shown." in page
    assert len(page) < 600_000


def test_the_heat_map_marks_the_top_k_of_every_output():
    weights = np.array([[3.0, 0.0], [1.0, 1.0], [2.0, 5.0]])
    tops = topshap.identify(lambda rows: rows @ weights, 3, k=1)
    ax = tops.plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "0", "1"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1"]
    x, y = ax.get_lines()[0].get_data()
    assert sorted(zip(y.tolist(), x.tolist(), strict=True)) == [(0, 1), (1, 0)]
    np.testing.assert_allclose(ax.get_images()[0].get_array(), [[2 / 3, 1.0, 1 / 3], [1.0, 0.0, 0.2]])


@pytest.mark.parametrize("size", [5e-324, 1e-300, 0.0, 1e297])
def test_the_heat_map_takes_values_of_any_size(size):
    tops = topshap.identify(lambda rows: rows @ (np.ones((3, 2)) * [size, 1.0]), 3, k=1)
    assert np.isfinite(tops.plot().get_images()[0].get_array()).all()


def test_the_heat_map_is_bounded():
    ax = topshap.show.output_map(several(100), most_outputs=7, most_players=3)
    assert ax.get_images()[0].get_array().shape == (7, 3)


@pytest.mark.parametrize("plot", [topshap.show.leaderboard, topshap.show.race, topshap.show.pairwise])
def test_plots_of_one_output_refuse_several(plot):
    with pytest.raises(topshap.ParameterError, match=r"the result of one output, such as tops\[0\].* 3 outputs"):
        plot(several())


@pytest.mark.parametrize("epsilon", [None, 0.5])
def test_the_progress_bar_shows_the_first_output(epsilon, capsys):
    options = {"budget": None, "epsilon": epsilon, "algorithm": "cmcs", "guarantee": "credible"} if epsilon else {}
    several(progress=True, **options)
    assert "3 outputs, first top: " in capsys.readouterr().err


def test_the_live_leaderboard_shows_the_first_output():
    game = TableGame(np.random.default_rng(0).normal(size=(2**6, 3)))
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, height=30, color_system=None)
    race = topshap.Race(6, 2, budget=40, random_state=0)
    with live_leaderboard(race, console=console) as view:
        view.draw()
        while not race.done:
            race.tell(game(race.ask()))
            view.draw()
    assert "Top 2 of 6 for the first of 3 outputs after 40 of 40 evaluations" in screen.getvalue()


def test_a_bar_can_be_drawn_before_the_race_starts(capsys):
    with progress_bar(topshap.Race(6, 2, n_outputs=3)) as bar:
        bar.draw()
    assert "0 of 64 evaluations" in capsys.readouterr().err
