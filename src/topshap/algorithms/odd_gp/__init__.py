"""odd-gp and odd-gp@k: a Gaussian process on the odd part of the game.

Written in signs, a coalition is a vector x in {-1, +1}^n, and its complement is -x. The Shapley values depend only on
the odd part of the game, g(x) = (v(x) - v(-x)) / 2; the even part e(x) = (v(x) + v(-x)) / 2 cancels. So the process
models g, and an observation is a pair of complements.
"""

from topshap.algorithms.odd_gp.fixed_budget import OddGP
from topshap.algorithms.odd_gp.fixed_confidence import OddGPAtK

__all__ = ["OddGP", "OddGPAtK"]
