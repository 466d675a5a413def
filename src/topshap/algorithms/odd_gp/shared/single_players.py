"""Budgets of less than one pair per player: single players, or the grand coalition without each player.

As in `topshap.algorithms.odd_gp.small_budget`, with a kernel whose hyper-parameters are fixed; so all outputs share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy import linalg

from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.algorithms.odd_gp.small_budget import coalition_model

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix


def single_player_estimate(coalitions: Coalitions, values: Matrix) -> SharedEstimate:
    """Return the Shapley values of all outputs given the values of some coalitions.

    Parameters
    ----------
    coalitions
        The coalitions, the empty and the grand coalition first.
    values
        Their values, of shape (m, R).

    Examples
    --------
    >>> import numpy as np
    >>> coalitions = np.array([[False, False], [True, True], [True, False], [False, True]])
    >>> single_player_estimate(coalitions, np.array([[0.0], [3.0], [2.0], [1.0]])).values.round(2)
    array([[2., 1.]])
    """
    functional, factor, prior = coalition_model(coalitions)
    solved = linalg.cho_solve(factor, functional)
    estimates = adding_up((values - values.mean(axis=0)).T @ solved, values[1] - values[0])
    covariance = prior - functional.T @ solved
    return SharedEstimate(estimates, (covariance + covariance.T) / 2.0, values.var(axis=0))
