"""The shared odd-gp: one Gaussian process for all outputs of a game.

The outputs of a game may be the rows of a table, the classes of a model or the spans of an answer. The kernel of odd-gp
depends on the coalitions only, so R outputs share the evaluated coalitions, one factorisation and one set of
hyper-parameters. `SharedRun` (`rounds`) repeats the following steps:

1. Observe complement pairs for all outputs (`pairs`).
2. Fit the hyper-parameters to the second moment of the outputs (`fitting`), and compute the Shapley values of all
   outputs and their spread (`process`, `spread`, `estimate`).
3. Choose the next pairs for the borders of all outputs together (`borders`).

At the end, clusters of similar outputs get kernels of their own (`clusters`), and processes on logits are stacked where
outputs are probabilities (`logits`). Then outputs whose top k is in doubt may choose pairs of their own (`own_pairs`,
`pool`). Groups of outputs with different players have their own pairs, and fit their hyper-parameters together
(`pooled_rounds`, `pooled_fitting`). `least_squares` corrects the process where there are too many pairs for it,
`single_players` is for budgets of less than one pair per player.
"""

from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate
from topshap.algorithms.odd_gp.shared.rounds import Request, SharedRun

__all__ = ["Request", "SharedEstimate", "SharedRun"]
