"""Three ablations of CMCS that pay for v(S) again for every player (Kolpaczki, Nielen and Hüllermeier 2025).

Each player's extended marginal contribution takes two evaluations, v(S + i) and v(S - i). The ablations differ in what
the anchors of the n players in a round have in common: everything, their size, or nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import draw_anchors, draw_of_sizes, with_and_without
from topshap.core.mean_standing import MeanStanding

if TYPE_CHECKING:
    from topshap.core.algorithm import HowOutputs
    from topshap.core.typing import Coalitions, Players, Values


class _WithoutReuse(Algorithm[MeanStanding]):
    """An algorithm whose rounds sample every player once, each against its own anchor."""

    extendable: ClassVar[bool] = True
    outputs: ClassVar[HowOutputs] = "each"

    @abstractmethod
    def draw(self, problem: Problem) -> Coalitions:
        """Draw the n anchors of one round, one for each player in the tie order."""

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the standing at the start of a race."""
        return problem.mean_standing()

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Evaluate the anchor of every player with the player and without it."""
        while True:
            rows = with_and_without(self.draw(problem), problem.tie_order)
            yield Round(rows, partial(add_marginals, standing, problem.tie_order))


def add_marginals(standing: MeanStanding, players: Players, values: Values) -> None:
    """Add the contributions in a prefix of the values with and without each of `players`."""
    sampled = len(values) // 2
    if sampled > 0:
        standing.add(values[0 : 2 * sampled : 2] - values[1 : 2 * sampled : 2], players[:sampled])


class Independent(_WithoutReuse):
    """Every player is sampled against its own anchor: plain Monte Carlo sampling.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="independent", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "independent"

    def draw(self, problem: Problem) -> Coalitions:
        """Draw an anchor for every player."""
        return draw_anchors(problem.n, problem.n, problem.rng)


class SameLength(_WithoutReuse):
    """Every player is sampled against its own anchor; the anchors of a round have the same size.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="same-length", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "same-length"

    def draw(self, problem: Problem) -> Coalitions:
        """Draw one size, and a set of that size for every player."""
        size = int(problem.rng.integers(problem.n + 1))
        return draw_of_sizes(np.full(problem.n, size), problem.n, problem.rng)


class Identical(_WithoutReuse):
    """Every player of a round is sampled against the same anchor, as in CMCS, but v(S) is not reused.

    If repeated coalitions are free (``counting="distinct"``), it takes as many evaluations as CMCS.

    Overhead per evaluation: O(n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="identical", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "identical"

    def draw(self, problem: Problem) -> Coalitions:
        """Draw one anchor and give it to every player."""
        return np.repeat(draw_anchors(1, problem.n, problem.rng), problem.n, axis=0)
