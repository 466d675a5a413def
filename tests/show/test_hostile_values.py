"""Values of players, which come from data, are shown safely and short everywhere."""

import io
import warnings
from html import unescape

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import topshap
from topshap import cli
from topshap.show.labels import labels_of, value_text
from topshap.show.report import render
from topshap.show.terminal import live_leaderboard

VALUES = [
    "\x1b[2J",
    "</script><script>alert(1)</script>",
    "a\nb",
    "\u202egpj",
    "\ud800",
    "$\\frac$",
    "x" * 100_000,
    10**300,
    float("nan"),
    float("-inf"),
    None,
    "",
    np.datetime64("2024-05-01"),
    True,
    "  ",
    10**5000,
]


class Game(topshap.games.AdditiveGame):
    player_values = VALUES
    output_name = "the output\x1b[2J of <b>"


GAME = Game(np.linspace(3.0, 1.0, len(VALUES)))


def assert_safe(text, *, of_terminal=""):
    assert [c for c in text if not c.isprintable() and c not in "\n" + of_terminal] == []
    text.encode("utf-8")


@pytest.fixture(scope="module")
def top():
    names = [f"player {i}" for i in range(len(VALUES))]
    return topshap.identify(GAME, k=12, budget=100, algorithm="cmcs", player_names=names, random_state=0)


def test_text_is_safe_and_short(top):
    assert_safe(str(top))
    assert_safe(repr(top.headline))
    assert max(len(line) for line in str(top).splitlines()[:-1]) < 100
    assert r"player 0 = \x1b[2J" in str(top)
    assert "player 10  " in str(top)


def test_a_label_is_never_longer_than_its_room(top):
    for length in (12, 20, 28, 40):
        assert max(map(len, labels_of(top, range(len(VALUES)), length))) <= length + 12


def test_the_report_and_the_notebook_are_safe_and_small(top):
    page = render(top)
    assert len(page) < 200_000
    for text in (page, top._repr_html_()):
        assert_safe(unescape(text))
        assert "<script>alert" not in text
        assert "player 7 = 1e+300" in text


@pytest.mark.parametrize("plot", ["leaderboard", "race", "pairwise", "waterfall"])
def test_plots_are_safe(top, plot, tmp_path):
    ax = getattr(topshap.show, plot)(top)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.savefig(tmp_path / "plot.png")
    for text in [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label]:
        assert_safe(text.get_text())


def test_the_live_leaderboard_is_safe_and_shows_values():
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=120, height=40, color_system=None)
    race = topshap.Race(3, 1, budget=8, random_state=0)
    race.player_values = ("\x1b[2J", 39, None)
    with live_leaderboard(race, console=console) as shown:
        while not race.done:
            race.tell(race.ask() @ np.array([3.0, 2.0, 1.0]))
            shown.told()
    drawn = output.getvalue()
    assert "1 = 39" in drawn
    assert r"0 = \x1b[2J" in drawn
    assert "\x1b[2J" not in drawn


def test_a_file_keeps_every_value(top, tmp_path):
    top.save(tmp_path / "top.json")
    again = topshap.load(tmp_path / "top.json")
    assert repr(again.player_values) == repr(top.player_values)
    assert again.output_name == top.output_name
    result = CliRunner().invoke(cli.build(), ["show", str(tmp_path / "top.json")])
    assert result.exit_code == 0
    assert_safe(result.output)


@pytest.mark.parametrize("wrong", ["[[1], 2]", '[{"number": "5"}, 2]', "[1]", f"[{10**400}, 1]", '"ab"'])
def test_a_file_with_other_values_is_refused(tmp_path, wrong):
    top = topshap.identify(topshap.games.AdditiveGame([1.0, 2.0]), k=1)
    top.save(tmp_path / "top.json")
    text = (tmp_path / "top.json").read_text()
    assert '"player_values": null' in text
    (tmp_path / "top.json").write_text(text.replace('"player_values": null', f'"player_values": {wrong}'))
    with pytest.raises(topshap.ParameterError, match="the field 'player_values' must be a list of 2 strings, numbers"):
        topshap.load(tmp_path / "top.json")


def test_a_file_without_values_can_be_read(tmp_path):
    top = topshap.identify(topshap.games.AdditiveGame([1.0, 2.0]), k=1)
    top.save(tmp_path / "top.json")
    text = (tmp_path / "top.json").read_text()
    old = text.replace(',\n "player_values": null,\n "output_name": null', "")
    assert "player_values" not in old
    (tmp_path / "top.json").write_text(old)
    assert topshap.load(tmp_path / "top.json").player_values is None


def test_shap_gets_values_of_any_type(top):
    shown = top.to_shap()
    assert shown.data.dtype == object
    numbers = topshap.Explainer(lambda X: X.sum(axis=1), [[0.0, 0.0]]).explain([1, 2], k=1)
    assert numbers.to_shap().data.tolist() == [1.0, 2.0]
    assert numbers.to_shap(data=["a", "b"]).data.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-0.0, "0"), (1.0, "1"), (1e11, "100000000000"), (1e-300, "1e-300"), (1234.56, "1235"), (1e20, "1e+20")],
)
def test_numbers_are_short(value, text):
    assert value_text(value) == text
