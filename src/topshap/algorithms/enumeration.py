"""Enumeration: all coalitions, for games whose budget covers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import from_ids
from topshap.core.standing import FittedStanding
from topshap.core.stopping import GUARANTEES

if TYPE_CHECKING:
    from topshap.core.stopping import Guarantee

IDS_PER_ROUND = 2**18


class Enumeration(Algorithm[FittedStanding]):
    """Evaluate every coalition; the race then computes the exact values.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    >>> top = topshap.identify(game, k=1, budget=8)
    >>> top.algorithm, top.stopped, top.estimates
    ('enumeration', 'exact', array([3., 1., 2.]))
    """

    name: ClassVar[str] = "enumeration"
    guarantees: ClassVar[tuple[Guarantee, ...]] = GUARANTEES

    def standing(self, problem: Problem) -> FittedStanding:
        """Return the standing at the start of a race."""
        return problem.fitted_standing()

    def rounds(self, problem: Problem, standing: FittedStanding) -> Rounds:  # noqa: ARG002 - exact values need no standing
        """Evaluate all coalitions, in the order of their ids."""
        for start in range(0, 2**problem.n, IDS_PER_ROUND):
            ids = np.arange(start, min(start + IDS_PER_ROUND, 2**problem.n))
            yield Round(from_ids(ids, problem.n), lambda _: None)
