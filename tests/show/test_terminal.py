"""The live leaderboard: it follows the race, is drawn at a limited rate, and is a plain bar without a terminal."""

import io
import re
import sys

import numpy as np
import pytest
from rich.console import Console

import topshap
from topshap.show.board import Row
from topshap.show.terminal import interval_bar, live_leaderboard
from topshap.show.wording import why_it_ended

WEIGHTS = np.linspace(3.0, -0.5, 12)


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def terminal(**options):
    return Console(file=io.StringIO(), force_terminal=True, width=100, height=30, color_system=None, **options)


def last_frame(console):
    """Return what was drawn last, as plain text."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
    return "Top " + text.split("Top ")[-1]


def run(console, *, seconds=0.2, n=12, k=3, names=None, **terms):
    """Run a race in which every batch takes some seconds, and return it with the drawn frames as texts."""
    clock = Clock()
    race = topshap.Race(n, k, algorithm="greedy-cmcs", player_names=names, random_state=0, **terms or {"budget": 300})
    weights = np.linspace(3.0, -0.5, n)
    with live_leaderboard(race, console=console, clock=clock) as shown:
        while not race.done:
            race.tell(race.ask() @ weights)
            clock.now += seconds
            shown.told()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
    return race, ["Top " + frame for frame in text.split("Top ")[1:]]


def test_the_last_frame_is_the_result():
    race, frames = run(terminal())
    rows = re.findall(r"^ *(\d+)  (\d+) .*? (-?[\d.]+)(?: ± \S+)? *$", frames[-1], flags=re.MULTILINE)
    top = race.result()
    assert [int(player) for _, player, _ in rows] == top.ranking.tolist()
    np.testing.assert_allclose([float(value) for _, _, value in rows], top.estimates[top.ranking], atol=0.01)
    assert f"after {top.evaluations:,} of 300 evaluations" in frames[-1]
    assert "the budget was spent after 0:" in frames[-1]
    assert "left" in frames[0]


def test_pairs_are_shown_as_pairs():
    console = terminal()
    race = topshap.Race(4, 1, order=2, player_names=["age", "sex", "bmi", "fat"], random_state=0)
    with live_leaderboard(race, console=console) as shown:
        while not race.done:
            coalitions = race.ask()
            race.tell(3.0 * (coalitions[:, 0] & coalitions[:, 2]))
            shown.told()
    frame = last_frame(console)
    assert frame.startswith("Top 1 of 6 pairs by magnitude after 16 of 16 evaluations")
    assert re.search(r"^ *1  age x bmi .* 3 *$", frame, flags=re.MULTILINE)


def test_the_completion_never_goes_back():
    _, frames = run(terminal(), epsilon=0.5, guarantee="published")
    done = [int(found.group(1)) for frame in frames if (found := re.search(r"(\d+)%, .* left", frame))]
    assert len(done) > 2
    assert done == sorted(done)


def test_the_drawing_rate_is_limited():
    _, seldom = run(terminal(), seconds=0.001, budget=800)
    _, often = run(terminal(), seconds=0.2, budget=800)
    assert 5 * len(seldom) < len(often)


def test_a_thousand_players_fit_the_screen():
    _, frames = run(terminal(), n=1000, k=100, budget=2500)
    assert len(frames[-1].strip().splitlines()) < 30
    assert "more" in frames[-1]


def test_names_are_shown_literally_without_control_characters():
    names = ["[bold red]", "\x1b[2J", *(f"p{i}" for i in range(10))]
    _, frames = run(terminal(), names=names)
    assert "[bold red]" in frames[-1]
    assert r"\x1b[2J" in frames[-1]


def test_values_count_as_soon_as_they_arrive():
    console, clock = terminal(), Clock()
    race = topshap.Race(12, 3, budget=800, random_state=0)
    with live_leaderboard(race, console=console, clock=clock) as shown:
        race.tell(race.ask() @ WEIGHTS)
        shown.told()
        clock.now += 1.0
        shown.arrived(5)
    assert "after 7 of 800 evaluations" in console.file.getvalue()


def test_the_speed_ignores_values_from_a_store():
    console, clock = terminal(), Clock()
    with live_leaderboard(topshap.Race(12, 3, budget=800, random_state=0), console=console, clock=clock) as shown:
        shown.arrived(400, fresh=False)
        clock.now += 1.0
        shown.arrived(0)  # the first new value is evaluated from here on
        clock.now += 10.0
        shown.arrived(20)
    assert "after 420 of 800 evaluations · 2/s" in console.file.getvalue()


def test_a_race_without_values_shows_only_its_cost():
    console = terminal()
    with live_leaderboard(topshap.Race(12, 3, random_state=0), console=console) as shown:
        shown.arrived(1)
    assert "after 1 of 600 evaluations" in console.file.getvalue()
    assert "estimate" not in console.file.getvalue()


def test_an_interrupted_race_shows_its_current_state():
    console = terminal()
    race = topshap.Race(12, 3, budget=800, random_state=0)

    def interrupted():
        with live_leaderboard(race, console=console, clock=Clock()) as shown:
            for _ in range(3):
                race.tell(race.ask() @ WEIGHTS)
                shown.told()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert f"after {race.evaluations} of 800 evaluations" in console.file.getvalue()
    assert "the race is not over after 0:00" in console.file.getvalue()
    assert "left" not in last_frame(console)


ADDITIVE = topshap.games.AdditiveGame(WEIGHTS)
ENDINGS = [
    ({"callback": lambda race: race.evaluations > 60}, "the race is not over"),
    ({"stop": topshap.stopping.TimeLimit(1e-9)}, "the time was up"),
    ({"stop": lambda race: race.evaluations > 60}, "was met"),
    ({"epsilon": 0.5, "random_state": 0}, "stopped by itself at epsilon=0.5, delta=0.05"),
    ({"budget": 2**12}, "all coalitions are known"),
]


@pytest.mark.parametrize(("options", "ending"), ENDINGS)
def test_the_last_frame_says_how_the_run_ended(monkeypatch, options, ending):
    console = terminal()
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    top = topshap.identify(ADDITIVE, k=3, progress="live", **options)
    last = last_frame(console)
    assert why_it_ended(top) in last
    assert ending in last
    assert "done" not in last


def test_an_interrupted_run_is_not_called_over(monkeypatch):
    console = terminal()
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    calls = []

    def game(rows):
        calls.append(rows)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ADDITIVE(rows)

    top = topshap.identify(game, n_players=12, k=3, algorithm="cmcs", progress="live", random_state=0)
    assert top.stopped == "interrupted"
    assert "the race is not over after 0:00" in last_frame(console)
    assert "left" not in last_frame(console)


def test_players_that_tie_at_the_border_are_marked():
    console = terminal()
    race = topshap.Race(4, 2, random_state=0)
    game = topshap.games.AdditiveGame([3.0, 1.0, 0.0, 1.0])
    with live_leaderboard(race, console=console):
        while not race.done:
            race.tell(game(race.ask()))
    rows = re.findall(r"^ *\d+  (\d+) .*?(tied)? *$", last_frame(console), flags=re.MULTILINE)
    assert {int(player) for player, tied in rows if tied} == {1, 3}
    assert len(rows) == 4


def test_a_terminal_without_unicode_gets_plain_characters():
    class Latin(io.StringIO):
        encoding = "latin-1"

    console = Console(file=Latin(), force_terminal=True, width=100, color_system=None)
    run(console)
    assert "●" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_without_a_terminal_a_plain_bar_is_shown(capsys):
    race = topshap.Race(12, 3, budget=200, random_state=0)
    with live_leaderboard(race):
        pass
    assert "0%|" in capsys.readouterr().err


def test_a_missing_rich_is_named_with_the_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(ImportError, match=r"progress='live' needs rich: pip install 'topshap\[live\]'"):
        live_leaderboard(topshap.Race(12, 3)).__enter__()


def test_bars_show_estimate_and_interval_on_a_common_scale():
    row = {"rank": 1, "player": 0, "name": "a", "label": "a", "std_error": 1.0, "inclusion": 0.5}
    rows = [
        Row(estimate=x, half_width=half, hidden=0, in_top=True, tied=False, **row)
        for x, half in ((2.0, 1.0), (-1.0, 1.0), (0.0, np.nan))
    ]
    bars = [interval_bar(each, (-2.0, 3.0)) for each in rows]
    assert len({len(bar) for bar in bars}) == 1
    assert [bar.count("●") for bar in bars] == [1, 1, 1]
    assert bars[0].index("●") > bars[2].index("●") > bars[1].index("●")
    assert "─" not in bars[2]


def test_there_is_no_ranking_before_anything_distinguishes_the_players():
    _, frames = run(terminal(), n=4, k=2, budget=16)
    assert "after 2 of 16 evaluations" in frames[0]
    assert "No ranking: nothing distinguishes the players yet." in frames[0]
    assert "estimate" not in frames[0]
    assert "No ranking" not in frames[-1]


def test_an_exact_value_has_no_error():
    _, frames = run(terminal(), n=4, k=2, budget=16)
    assert "±" not in frames[-1]


def test_the_interval_is_explained_where_it_is_shown():
    _, frames = run(terminal())
    assert "± is the 95% interval (1.96 standard errors)" in frames[-1]


def test_the_headline_says_what_players_are_ranked_by():
    console = terminal()
    with live_leaderboard(topshap.Race(12, 3, rank_by="magnitude", random_state=0), console=console):
        pass
    assert "Top 3 of 12 by magnitude after 0 of 600 evaluations" in console.file.getvalue()
