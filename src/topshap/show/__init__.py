"""Plots of a result, of the race that led to it, and of many rows. Needs the extra ``topshap[plots]``.

Each function takes a `topshap.TopK`, a `topshap.TopPairs` (`network`, `matrix`),
the `topshap.Levels` of a zoomed result (`levels`), or the `topshap.Explanations` of many
rows (`beeswarm`, `bar`, `heat_map`), and, optionally, the axes to draw on, and returns the axes. The top k and the rest
differ in brightness as well as in hue, so that the plots can be printed in grey.

Examples
--------
>>> import topshap
>>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
>>> top = topshap.identify(game, k=2, budget=100, random_state=0)
>>> ax = topshap.show.leaderboard(top)
>>> ax.figure.savefig("leaderboard.png")  # doctest: +SKIP
"""

from topshap.show.bar_plot import bar
from topshap.show.beeswarm_plot import beeswarm
from topshap.show.curves_plot import curves
from topshap.show.heat_map_plot import heat_map
from topshap.show.leaderboard_plot import leaderboard
from topshap.show.levels_plot import levels
from topshap.show.maps import image_map, text_map
from topshap.show.matrix_plot import matrix
from topshap.show.network_plot import network
from topshap.show.outputs_plot import output_map
from topshap.show.pairwise_plot import pairwise
from topshap.show.race_plot import race
from topshap.show.waterfall_plot import waterfall

__all__ = [
    "bar",
    "beeswarm",
    "curves",
    "heat_map",
    "image_map",
    "leaderboard",
    "levels",
    "matrix",
    "network",
    "output_map",
    "pairwise",
    "race",
    "text_map",
    "waterfall",
]
