"""Plots say what the result says, whatever the players are called and however many there are."""

import itertools
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap import show
from topshap.show.race_plot import spread, within
from topshap.show.style import INSIDE

PLOTS = [show.leaderboard, show.race, show.pairwise]
CASES = {
    "few": {"n": 14, "k": 4},
    "many": {"n": 1000, "k": 100, "budget": 3000, "algorithm": "greedy-cmcs"},
    "exact": {"n": 3, "k": 1, "budget": 8},
    "everyone": {"n": 5, "k": 5, "budget": 20},
    "no errors known": {"n": 14, "k": 2, "budget": 20},
    "one player": {"n": 1, "k": 1, "budget": 2},
}


def texts(ax):
    return [text.get_text() for text in ax.texts]


def brightness(colour):
    return float(np.dot(colour[:3], [0.299, 0.587, 0.114]))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("plot", PLOTS)
def test_every_plot_draws_every_result_without_a_warning(found, plot, case):
    top = found(**CASES[case])
    ax = plot(top)
    ax.figure.canvas.draw()
    assert plot(top, ax=plt.figure().add_subplot()) is plt.gca()


@pytest.mark.parametrize("n", [14, 1000])
def test_the_leaderboard_is_in_order_with_the_top_k_dark(found, n):
    top = found(n=n, k=4, budget=3 * n)
    ax = show.leaderboard(top, most=12)
    bars = ax.patches
    assert len(bars) == 12
    np.testing.assert_allclose([bar.get_width() for bar in bars], top.estimates[top.ranking[:12]])
    darkness = [brightness(bar.get_facecolor()) for bar in bars]
    assert max(darkness[:4]) < 0.5 < min(darkness[4:])


def test_the_leaderboard_says_how_many_are_left_out_and_how_likely_everyone_is(found):
    top = found(n=1000, k=100, budget=3000, algorithm="greedy-cmcs")
    written = texts(show.leaderboard(top, most=24))
    assert "P(in top 100)" in written
    assert {"⋮ 82 more", "⋮ 894 more"} <= set(written)
    assert sum(text.endswith("%") for text in written) == 24


def test_an_exact_leaderboard_has_no_intervals_and_no_chances(found):
    ax = show.leaderboard(found(n=3, k=1, budget=8))
    assert ax.get_xlabel() == "Shapley value"
    assert not ax.collections
    assert not texts(ax)


def test_names_are_shown_as_they_are_and_cut_when_long(found):
    ax = found().plot(most=14)
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert {"<script>alert(1)</script>", "$x^2", "tri glycerides", "(no name)"} <= set(labels)
    assert max(map(len, labels)) <= 28


def test_the_race_ends_where_the_result_is(found):
    top = found(n=30, k=3, budget=2000)
    ax = show.race(top, most=8)
    ends = sorted(line.get_ydata()[-1] for line in ax.lines if len(line.get_ydata()) > 2)
    np.testing.assert_allclose(ends, np.sort(top.estimates[top.ranking[:8]]))
    assert ax.get_xlim()[1] == top.evaluations
    assert sum(text.get_color() == INSIDE for text in ax.texts) == 3


def test_a_race_without_a_history_is_refused(found):
    from dataclasses import replace

    with pytest.raises(topshap.ParameterError, match="history"):
        show.race(replace(found(), history=None))


def test_labels_are_spread_until_they_do_not_touch():
    places = np.array([3.0, 1.0, 1.05, 1.1, 3.02])
    apart = spread(places, 0.5)
    assert np.diff(np.sort(apart)).min() >= 0.5 - 1e-12
    assert np.argsort(apart).tolist() == np.argsort(places).tolist()
    assert apart.mean() == pytest.approx(places.mean())


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=20))
def test_labels_stay_within_the_axes(places):
    gap = 2.0 / len(places)
    kept = within(spread(np.array(places), gap), gap, -1.0, 1.0)
    assert np.diff(np.sort(kept)).min(initial=gap) > gap - 1e-9
    assert kept.min() > -1.0
    assert kept.max() < 1.0


def test_pairwise_shows_the_players_around_the_border(found):
    top = found(n=40, k=10, budget=300)
    ax = show.pairwise(top, most=6)
    players = top.ranking[7:13]
    np.testing.assert_array_equal(ax.images[0].get_array(), top.pairwise()[players][:, players])
    assert len(ax.get_yticklabels()) == 6


def test_a_text_map_highlights_the_pieces_of_the_top_k_and_no_others():
    top = topshap.identify(topshap.games.AdditiveGame([0.0, 2.0, 1.0, -1.0]), k=2)
    pieces = ["a", "b", "c", "d", "b too", "nobody's"]
    ax = show.text_map(top, pieces=pieces, player_of=[0, 1, 2, 3, 1, 4])
    marked = [text.get_text() for text in ax.texts if text.get_bbox_patch()]
    assert marked == ["b", "c", "b too"]
    assert [text for text in texts(ax) if text in pieces] == pieces
    assert [text for text in texts(ax) if text not in pieces] == ["1", "2", "1"]


def test_a_text_map_breaks_lines_within_the_axes():
    words = [f"word{i}" for i in range(60)]
    top = topshap.identify(topshap.games.AdditiveGame(np.arange(60.0)), k=5, budget=200, random_state=0)
    ax = show.text_map(top, pieces=words)
    box = ax.get_window_extent()
    extents = [text.get_window_extent() for text in ax.texts]
    assert all(extent.x1 <= box.x1 + 1 and extent.y0 >= box.y0 - 1 for extent in extents)
    assert len({round(extent.y0) for extent in extents}) > 3


@pytest.mark.parametrize("dpi", [72, 100, 110, 150, 300])
def test_pieces_of_a_text_map_keep_apart_at_any_resolution(dpi):
    sentences = [f"Sentence {i} is unlike all of them." for i in range(6)]
    top = topshap.identify(topshap.games.AdditiveGame(np.arange(6.0)), k=6)
    ax = show.text_map(top, pieces=sentences)
    ax.figure.set_dpi(dpi)
    ax.figure.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts if text.get_bbox_patch()]
    same_line = [(a, b) for a, b in itertools.pairwise(boxes) if abs(a.y0 - b.y0) < 1]
    assert same_line
    assert all(a.x1 < b.x0 for a, b in same_line)


@pytest.mark.parametrize("n_words", [3, 200])
def test_the_figure_of_a_text_map_is_as_high_as_its_text(n_words):
    top = topshap.identify(topshap.games.AdditiveGame(np.arange(1.0, n_words + 1)), k=1, budget=300, random_state=0)
    figure = show.text_map(top, pieces=[f"word{i}" for i in range(n_words)]).figure
    extents = [text.get_window_extent() for text in figure.axes[0].texts]
    line = 11 * figure.dpi / 72
    assert 0 <= min(extent.y0 for extent in extents) < line
    assert 0 <= figure.bbox.height - max(extent.y1 for extent in extents) < 2 * line


@pytest.mark.parametrize("shape", [(40, 60), (40, 60, 3)])
def test_an_image_map_fades_what_is_not_in_the_top_k(shape):
    top = topshap.identify(topshap.games.AdditiveGame([0.1, 3.0, 0.0, 1.0]), k=2)
    segments = np.where(np.arange(60) < 30, 0, 1)[None, :] + np.where(np.arange(40) < 20, 0, 2)[:, None]
    veil = show.image_map(top, np.zeros(shape), segments).images[1].get_array()
    np.testing.assert_array_equal(veil[..., 3] == 0.0, np.isin(segments, [1, 3]))


def test_an_image_map_frames_regions_along_the_edges_of_their_pixels():
    segments = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 1]])
    top = topshap.identify(topshap.games.AdditiveGame([1.0, 0.0]), k=1)
    ax = show.image_map(top, np.zeros((3, 3)), segments)
    drawn = {frozenset(map(tuple, segment)) for segment in ax.collections[-1].get_segments()}
    corners = [-0.5, 0.5, 1.5]
    sides = [((a, b), (c, b)) for a, c in itertools.pairwise(corners) for b in (-0.5, 1.5)]
    assert drawn == {frozenset(side) for side in sides} | {frozenset(end[::-1] for end in side) for side in sides}


def test_a_rank_stands_inside_its_region():
    ring = np.zeros((5, 5), dtype=int)
    ring[1:4, 1:4] = 1
    top = topshap.identify(topshap.games.AdditiveGame([2.0, 1.0]), k=2)
    (outer, inner) = show.image_map(top, np.zeros((5, 5)), ring).texts
    assert inner.get_position() == (2.0, 2.0)
    column, row = outer.get_position()
    assert ring[int(row), int(column)] == 0


def test_curves_show_means_and_bands():
    runs = np.array([[0.4, 0.2], [0.6, 0.2]])
    ax = show.curves([10, 20], {"one": runs, "two": runs / 2, "single": runs[:1]}, ylabel="mse", logarithmic=True)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.5, 0.2])
    assert len(ax.collections) == 2  # one run has no standard error
    assert len({line.get_linestyle() + line.get_marker() for line in ax.lines}) == 3
    assert (ax.get_ylabel(), ax.get_yscale()) == ("mse", "log")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda top: show.leaderboard(top, most=3), "'most' parameter of leaderboard"),
        (lambda top: show.race(top, level=1.0), "'level' parameter of race"),
        (lambda top: show.pairwise(top, most=1), "'most' parameter of pairwise"),
        (lambda top: show.text_map(top, pieces=["a"]), "'pieces' parameter of text_map"),
        (lambda top: show.text_map(top, pieces=["a"], player_of=[0, 1]), "'player_of' parameter of text_map"),
        (lambda top: show.image_map(top, np.zeros((2, 2)), np.zeros((3, 3), int)), "'segments' parameter of image_map"),
        (lambda top: show.image_map(top, np.zeros(2), np.zeros(2, int)), "'image' parameter of image_map"),
        (lambda top: show.curves([1, 2], {"a": [[1.0]]}), "'errors' parameter of curves"),
        (lambda top: show.curves([1, 2], {}), "'errors' parameter of curves"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(found, call, message):
    with pytest.raises(topshap.ParameterError, match=message):
        call(found())


@pytest.mark.parametrize("plot", PLOTS)
def test_a_missing_matplotlib_is_named_with_the_extra_to_install(monkeypatch, found, plot):
    top = found()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"needs matplotlib: pip install 'topshap\[plots\]'"):
        plot(top)
