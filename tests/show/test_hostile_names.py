"""Control characters in names, such as terminal escapes, reach neither a terminal nor a plot."""

import io
import sys
import warnings
from html import unescape

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import topshap
from topshap import cli
from topshap.show.report import render
from topshap.show.terminal import live_leaderboard

NAMES = [
    "\x1b[2J",
    "\x00",
    "a\nb",
    "c\rd",
    "\u202egpj",
    "\x9b1m",
    "\ud800",
    "$\\frac$",
    "{0}",
    "\u2066x",
    "e\tf",
    "[b]",
]
SHOWN = [r"\x1b[2J", r"\x00", r"a\nb", r"c\rd", r"\u202egpj", r"\x9b1m", r"\ud800", "$\\frac$", "{0}", r"\u2066x"]
GAME = topshap.games.AdditiveGame(np.linspace(3.0, 1.0, len(NAMES)))


def assert_safe(text, *, of_terminal=""):
    """Check that no control character is in a text, apart from line breaks and those that a terminal needs."""
    assert [c for c in text if not c.isprintable() and c not in "\n" + of_terminal] == []
    text.encode("utf-8")


@pytest.fixture(scope="module")
def top():
    return topshap.identify(GAME, k=2, budget=100, algorithm="cmcs", player_names=NAMES, random_state=0)


def test_print_and_repr_escape_names_and_the_result_keeps_them(top):
    assert top.player_names == tuple(NAMES)
    assert len(str(top).splitlines()) == 10 + 5
    assert_safe(str(top))
    assert_safe(repr(top))
    assert all(shown in str(top) for shown in SHOWN)


def test_a_tie_names_its_players_escaped():
    tied = topshap.identify(topshap.games.AdditiveGame([1.0, 1.0, 0.0]), k=1, player_names=NAMES[:3])
    assert_safe(tied.headline)
    assert r"\x1b[2J and \x00 tie" in tied.headline


def test_a_rule_is_escaped(top, tmp_path):
    class Rude(topshap.stopping.Criterion):
        def met(self, race):
            return race.evaluations > 40

        def completion(self, race):
            return 0.0

        def __repr__(self):
            return "rude\x1b[2J"

    ended = topshap.identify(GAME, k=2, stop=Rude(), algorithm="cmcs", random_state=0)
    assert ended.stopped == "rule"
    assert_safe(str(ended))
    assert "\x1b" not in render(ended)


def test_the_command_line_escapes_names(top, tmp_path):
    top.save(tmp_path / "top.json")
    result = CliRunner().invoke(cli.build(), ["show", str(tmp_path / "top.json")])
    assert result.exit_code == 0
    assert_safe(result.output)
    assert r"\x1b[2J" in result.output


def test_the_command_line_escapes_what_a_store_says_of_its_game(tmp_path):
    names = [name for name in NAMES if name != "\ud800"]
    game = topshap.games.AdditiveGame(np.arange(float(len(names))))
    store = topshap.Store(tmp_path / "s.db", game="f\x1b[2J")
    topshap.identify(game, k=1, budget=20, player_names=names, store=store)
    result = CliRunner().invoke(cli.build(), ["store", "info", str(tmp_path / "s.db")])
    assert result.exit_code == 0
    assert_safe(result.output)
    assert r"f\x1b[2J" in result.output


def test_the_command_line_escapes_errors(tmp_path, monkeypatch, capsys):
    (tmp_path / "t.csv").write_text("a\x1b[2J,b\n1,2\n", encoding="utf-8")
    monkeypatch.setattr(
        sys, "argv", ["topshap", "explain", str(tmp_path / "t.csv"), "--target", "none", "--row", "0", "-k", "1"]
    )
    with pytest.raises(SystemExit):
        cli.main()
    error = capsys.readouterr().err
    assert r"a\x1b[2J" in error
    assert_safe(error)


def test_the_progress_bar_escapes_names(capsys):
    options = {"k": 5, "budget": 100, "algorithm": "cmcs", "player_names": NAMES, "random_state": 0}
    topshap.identify(GAME, progress=True, **options)
    error = capsys.readouterr().err
    assert r"\x1b[2J \x00 a\nb" in error
    assert_safe(error, of_terminal="\r")


def test_the_live_leaderboard_escapes_names():
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=100, height=40, color_system=None)
    race = topshap.Race(len(NAMES), 3, algorithm="cmcs", player_names=NAMES, random_state=0, budget=200)
    with live_leaderboard(race, console=console) as shown:
        while not race.done:
            race.tell(GAME(race.ask()))
            shown.told()
    drawn = output.getvalue()
    assert all(name in drawn for name in [*SHOWN, "[b]"])
    assert "\x1b[2J" not in drawn
    assert_safe(drawn, of_terminal="\x1b\r")


def test_error_messages_escape_names():
    def fails(coalitions):
        return np.where(coalitions[:, 0], np.nan, 0.0)

    with pytest.raises(topshap.GameError) as error:
        topshap.identify(fails, n_players=len(NAMES), k=2, player_names=NAMES)
    assert r"{\x1b[2J, \x00, a\nb" in str(error.value)
    assert_safe(str(error.value))
    with pytest.raises(topshap.ParameterError) as error:
        topshap.identify(GAME, k=2, player_names=[NAMES[0]] * len(NAMES))
    assert_safe(str(error.value))


def test_a_report_and_a_notebook_escape_names(top):
    for text in (render(top), top._repr_html_()):
        assert_safe(unescape(text))
        assert r"\x1b[2J" in text


@pytest.mark.parametrize("plot", ["leaderboard", "race", "pairwise", "text_map"])
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_plots_escape_names(top, plot, kind, tmp_path):
    ax = getattr(topshap.show, plot)(top)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph is a warning
        ax.figure.savefig(tmp_path / f"plot.{kind}")
    texts = [text.get_text() for text in [*ax.texts, *ax.get_yticklabels()]]
    assert r"\x1b[2J" in texts
    for text in texts:
        assert_safe(text)


@pytest.mark.parametrize("name", NAMES)
def test_curves_show_names_literally(name, tmp_path):
    ax = topshap.show.curves([1, 2], {name: [[1.0, 2.0]]})
    ax.figure.savefig(tmp_path / "plot.png")
    assert_safe(ax.get_legend().get_texts()[0].get_text())


def test_titles_and_games_of_reports_are_printable():
    text = render(topshap.identify(GAME, k=2, random_state=0), title="a\x1b[2J", game="b\u202e\x07")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
