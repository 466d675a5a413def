"""swap@k: compare players by swapping them, until the border of the top k is certain.

Whether player i belongs above player j depends only on the difference of their Shapley values, which is a mean over
*background sets* S that contain neither of them. With s uniform in 0 .. n-2,

    phi_i - phi_j = mean over sizes s of the mean over sets S of size s without i and j of v(S + i) - v(S + j).

One term, v(S + i) - v(S + j), is a *comparison* of the pair (i, j). The sizes, or for many players blocks of
neighbouring sizes, are strata. Each pair samples the comparisons of each stratum without replacement. The modules
follow the data, and each uses only those above it:

    orders.py        SharedOrder: the background sets of one stratum, in a random order that all pairs share
    moments.py       Moments: counts, means and sums of squares of the comparisons, per pair and stratum
    differences.py   Differences: from moments to estimates of phi_i - phi_j, with variances and confidence bounds
    adjustment.py    a regression of comparisons on the members of S, which reduces their variance
    exact_rounds.py  comparisons as a martingale, for the bounds of guarantee="exact"
    samples.py       Samples: the values evaluated so far, and the comparisons that each pair has drawn
    standing.py      SwapStanding: Shapley values fitted to the differences, and bounds across the border of the top k
    algorithm.py     SwapAtK: which pair gets more comparisons, and in which strata
"""

from topshap.algorithms.swap.algorithm import SwapAtK

__all__ = ["SwapAtK"]
