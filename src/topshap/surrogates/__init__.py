"""Models of a game that predict the values it was not asked for, with their Shapley values in closed form.

Written in signs, a coalition is a vector x in {-1, +1}^n, and its complement is -x. The Shapley values depend only on
the odd part of the game, g(x) = (v(x) - v(-x)) / 2; the even part e(x) = (v(x) + v(-x)) / 2 cancels. So the models here
are about g, and an observation is a pair of complements.
"""
