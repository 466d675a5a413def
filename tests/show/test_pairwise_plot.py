"""The plot of pairwise probabilities."""

import numpy as np

from topshap import show


def test_pairwise_shows_the_players_around_the_border(found):
    top = found(n=40, k=10, budget=300)
    ax = show.pairwise(top, most=6)
    players = top.ranking[7:13]
    np.testing.assert_array_equal(ax.images[0].get_array(), top.pairwise()[players][:, players])
    assert len(ax.get_yticklabels()) == 6


def test_pairwise_has_no_border_before_anything_distinguishes_the_players(found):
    unknown, known = (show.pairwise(found(n=20, k=3, budget=budget)) for budget in (2, 200))
    assert len(unknown.lines) == 0
    assert len(known.lines) == 2
    title = "P(row is ahead of column), in percent"
    assert unknown.get_title(loc="left") == f"{title}: nothing distinguishes the players yet"
    assert known.get_title(loc="left") == title
