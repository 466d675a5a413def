"""The plot of pairwise probabilities."""

import numpy as np

from topshap import show


def test_pairwise_shows_the_players_around_the_border(found):
    top = found(n=40, k=10, budget=300)
    ax = show.pairwise(top, most=6)
    players = top.ranking[7:13]
    np.testing.assert_array_equal(ax.images[0].get_array(), top.pairwise()[players][:, players])
    assert len(ax.get_yticklabels()) == 6
