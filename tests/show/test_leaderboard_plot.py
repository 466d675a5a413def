"""The leaderboard as a bar chart."""

import numpy as np
import pytest

from topshap import show


def texts(ax):
    return [text.get_text() for text in ax.texts]


def brightness(colour):
    return float(np.dot(colour[:3], [0.299, 0.587, 0.114]))


@pytest.mark.parametrize("n", [14, 1000])
def test_the_leaderboard_is_in_order_with_the_top_k_dark(found, n):
    top = found(n=n, k=4, budget=3 * n)
    ax = show.leaderboard(top, most=12)
    bars = ax.patches
    assert len(bars) == 12
    np.testing.assert_allclose([bar.get_width() for bar in bars], top.estimates[top.ranking[:12]])  # type: ignore[attr-defined]
    darkness = [brightness(bar.get_facecolor()) for bar in bars]
    assert max(darkness[:4]) < 0.5 < min(darkness[4:])


def test_the_leaderboard_shows_hidden_players_and_inclusion_probabilities(found):
    top = found(n=1000, k=100, budget=3000, algorithm="greedy-cmcs")
    written = texts(show.leaderboard(top, most=24))
    assert "P(in top 100)" in written
    assert {"⋮ 82 more", "⋮ 894 more"} <= set(written)
    assert sum(text.endswith("%") for text in written) == 24


def test_an_exact_leaderboard_has_no_intervals_and_no_probabilities(found):
    ax = show.leaderboard(found(n=3, k=1, budget=8))
    assert ax.get_xlabel() == "Shapley value"
    assert not ax.collections
    assert not texts(ax)


def test_names_are_shown_literally_and_shortened_when_long(found):
    ax = found().plot(most=14)
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert {"<script>alert(1)</script>", "$x^2", r"tri\nglycerides", "(no name)"} <= set(labels)
    assert max(map(len, labels)) <= 28
