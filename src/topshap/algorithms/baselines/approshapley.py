"""ApproShapley: permutation sampling (Castro, Gómez and Tejada 2009)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import uniforms
from topshap.core.mean_standing import MeanStanding

if TYPE_CHECKING:
    from topshap.core.algorithm import HowOutputs
    from topshap.core.typing import Coalitions, Players, Values


class ApproShapley(Algorithm[MeanStanding]):
    """Permutation sampling: players join in a random order, and the gain when a player joins is one of its samples.

    The value before a player joins is the value after the previous player joined, so a permutation takes n - 1
    evaluations for n samples. The samples of one permutation add up to v(N) - v(empty).

    Overhead per evaluation: O(n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="approshapley", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "approshapley"
    outputs: ClassVar[HowOutputs] = "each"
    extendable: ClassVar[bool] = True

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the standing at the start of a race."""
        return problem.mean_standing()

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Evaluate one permutation after the other."""
        return permutation_rounds(problem, standing)


def permutation_rounds(problem: Problem, standing: MeanStanding, count: int | None = None) -> Rounds:
    """Evaluate `count` permutations, or one after the other without end."""
    for done, uniform in enumerate(uniforms((problem.n,), problem.rng, count), start=1):
        order = uniform.argsort()
        yield Round(joining(order), partial(add_gains, problem, standing, order), next_is_independent=done != count)


def joining(order: Players) -> Coalitions:
    """Return the coalitions of the first 1, 2, ..., n - 1 players of the order."""
    return order.argsort() < np.arange(1, len(order))[:, None]


def add_gains(problem: Problem, standing: MeanStanding, order: Players, values: Values) -> None:
    """Add the players' gains from the values of `joining(order)`, or from a prefix of them."""
    walk = np.empty(problem.n + 1)
    walk[0], walk[1 : len(values) + 1], walk[problem.n] = problem.empty, values, problem.grand
    gains = walk[1:] - walk[:-1]
    joined = problem.n if len(values) == problem.n - 1 else len(values)
    standing.add(gains[:joined], order[:joined])
