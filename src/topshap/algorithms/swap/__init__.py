"""swap@k: compare players by swapping them, until the border of the top k is certain."""

from topshap.algorithms.swap.algorithm import SwapAtK

__all__ = ["SwapAtK"]
