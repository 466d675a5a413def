"""Texts and images with the top k highlighted."""

import itertools

import numpy as np
import pytest

import topshap
from topshap import show


def texts(ax):
    return [text.get_text() for text in ax.texts]


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
def test_an_image_map_fades_regions_outside_the_top_k(shape):
    top = topshap.identify(topshap.games.AdditiveGame([0.1, 3.0, 0.0, 1.0]), k=2)
    segments = np.where(np.arange(60) < 30, 0, 1)[None, :] + np.where(np.arange(40) < 20, 0, 2)[:, None]
    veil = show.image_map(top, np.zeros(shape), segments).images[1].get_array()
    np.testing.assert_array_equal(veil[..., 3] == 0.0, np.isin(segments, [1, 3]))


def test_an_image_map_frames_regions_along_the_edges_of_their_pixels():
    segments = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 1]])
    top = topshap.identify(topshap.games.AdditiveGame([1.0, 0.0]), k=1)
    ax = show.image_map(top, np.zeros((3, 3)), segments)
    drawn = {frozenset(map(tuple, segment)) for segment in ax.collections[-1].get_segments()}  # type: ignore[attr-defined]
    corners = [-0.5, 0.5, 1.5]
    sides = [((a, b), (c, b)) for a, c in itertools.pairwise(corners) for b in (-0.5, 1.5)]
    assert drawn == {frozenset(side) for side in sides} | {frozenset(end[::-1] for end in side) for side in sides}


def test_a_rank_is_written_inside_its_region():
    ring = np.zeros((5, 5), dtype=int)
    ring[1:4, 1:4] = 1
    top = topshap.identify(topshap.games.AdditiveGame([2.0, 1.0]), k=2)
    (outer, inner) = show.image_map(top, np.zeros((5, 5)), ring).texts
    assert inner.get_position() == (2.0, 2.0)
    column, row = outer.get_position()
    assert ring[int(row), int(column)] == 0


NOTHING_KNOWN = "No ranking: nothing distinguishes the players yet."


def test_a_text_map_marks_nothing_before_anything_distinguishes_the_players():
    words = ["which", "of", "these", "words", "matter", "most"]
    top = topshap.identify(topshap.games.AdditiveGame(np.arange(6.0)), k=2, budget=2)
    assert not top.learned
    ax = show.text_map(top, pieces=words)
    assert texts(ax) == words
    assert not any(text.get_bbox_patch() for text in ax.texts)
    assert ax.get_title(loc="left") == NOTHING_KNOWN
    extents = [text.get_window_extent() for text in ax.texts]
    assert min(extent.y0 for extent in extents) >= 0


def test_an_image_map_marks_nothing_before_anything_distinguishes_the_players():
    segments = np.arange(36).reshape(6, 6) // 6
    top = topshap.identify(topshap.games.AdditiveGame(np.arange(6.0)), k=2, budget=2)
    ax = show.image_map(top, np.zeros((6, 6)), segments)
    assert texts(ax) == []
    assert len(ax.images) == 1
    assert len(ax.collections) == 0
    assert ax.get_title(loc="left") == NOTHING_KNOWN


def test_maps_of_a_result_have_no_title():
    top = topshap.identify(topshap.games.AdditiveGame([2.0, 1.0, 0.0]), k=1)
    axes = [show.text_map(top), show.image_map(top, np.zeros((1, 3)), np.array([[0, 1, 2]]))]
    assert [ax.get_title(loc="left") for ax in axes] == ["", ""]


def test_maps_mark_players_that_tie_at_the_border():
    top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 0.0, 1.0]), k=2, random_state=0)
    assert top.players[0] == 0
    image = show.image_map(top, np.zeros((2, 2)), np.array([[0, 1], [2, 3]]))
    text = show.text_map(top, pieces=["a", "b", "c", "d"])
    assert sorted(texts(image)) == ["1", "2 tied", "tied"]
    assert sorted(texts(text)) == ["1", "2 tied", "a", "b", "c", "d", "tied"]
    assert len([piece for piece in text.texts if piece.get_bbox_patch()]) == 2


def test_the_marks_of_neighbours_in_a_text_map_keep_apart():
    top = topshap.identify(topshap.games.AdditiveGame([1.0, 1.0, 1.0, 1.0]), k=2, random_state=0)
    ax = show.text_map(top, pieces=["a", "b", "c", "d"])
    ax.figure.canvas.draw()
    marks = [text.get_window_extent() for text in ax.texts if "tied" in text.get_text()]
    assert len(marks) == 4
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(sorted(marks, key=lambda box: box.x0)))
