"""player-gp: large random coalitions, and a Gaussian process over the players.

`algorithm.py` is the algorithm. `sizes.py` chooses the sizes of the coalitions, `contributions.py` estimates all
Shapley values from their values without bias, `landmarks.py` makes a low-rank basis of the players' features, and
`shrinkage.py` combines the estimates with the side information.
"""
