"""KernelSHAP (Lundberg and Lee 2017), with the semantics of shap's KernelExplainer and no feature selection."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core import coalitions as co
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.standing import FittedStanding
from topshap.statistics.least_squares import efficient_least_squares

if TYPE_CHECKING:
    from topshap.core.algorithm import HowOutputs
    from topshap.core.typing import Coalition, Coalitions, Values


class KernelSHAP(Algorithm[FittedStanding]):
    """KernelSHAP: weighted least squares on coalitions, smallest and largest sizes first.

    Sizes are completed from the outside in, s together with n - s, as long as their share of the budget, by the kernel,
    covers all their sets. The rest is spent on random coalitions of the other sizes, in complement pairs. The estimates
    minimise the kernel-weighted squared error of an additive game under the constraint that they add up to
    v(N) - v(empty). Their covariance is the sandwich estimate over the random draws, corrected for the degrees of
    freedom; it is unknown until there are more draws than coefficients, and if none is random.

    Overhead per evaluation: O(n**2 + n**3 / T) for T evaluations, for the normal equations and their solution.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=16, algorithm="kernelshap", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "kernelshap"
    outputs: ClassVar[HowOutputs] = "each"
    needs_budget: ClassVar[bool] = True

    def standing(self, problem: Problem) -> FittedStanding:
        """Return the standing at the start of a race."""
        return problem.fitted_standing()

    def rounds(self, problem: Problem, standing: FittedStanding) -> Rounds:
        """Evaluate all coalitions of the plan, then solve."""
        plan = make_plan(problem.n, problem.remaining or 0, problem.rng)

        def solve(values: Values) -> None:
            if len(values) == 0:
                return
            known = slice(0, len(values))
            estimates, covariance = efficient_least_squares(
                plan.coalitions[known], values - problem.empty, plan.weights[known], problem.gain, plan.draws[known]
            )
            standing.set(estimates, covariance)

        if len(plan.coalitions) > 0:
            yield Round(plan.coalitions, solve)


@dataclass
class Plan:
    """Coalitions to evaluate, their weights, and the random draw each belongs to (-1 where its size is complete)."""

    coalitions: Coalitions
    weights: Values
    draws: np.ndarray[tuple[int], np.dtype[np.intp]]


def make_plan(n: int, budget: int, rng: np.random.Generator) -> Plan:
    """Choose `budget` distinct coalitions as KernelExplainer does: complete sizes first, then paired sampling."""
    weight = size_weights(n)
    complete, left = complete_sizes(n, budget, weight)
    rows, weights = [np.empty((0, n), dtype=np.bool_)], [np.empty(0)]
    for size in range(1, complete + 1):
        of_size = co.all_of_size(n, size)
        if 2 * size < n:
            of_size = np.concatenate([of_size, ~of_size])
        rows.append(of_size)
        weights.append(np.full(len(of_size), weight[size - 1] / len(of_size)))
    drawn = _Drawn()
    if complete < len(weight) and left > 0:
        drawn = draw_pairs(n, left, complete, weight, rng)
        rows.append(np.array(drawn.coalitions))
        counts = np.array(drawn.counts, dtype=np.float64)
        weights.append(counts * weight[complete:].sum() / counts.sum())
    coalitions = np.concatenate(rows)
    draws = np.full(len(coalitions), -1, dtype=np.intp)
    draws[len(coalitions) - len(drawn.draws) :] = drawn.draws
    return Plan(coalitions, np.concatenate(weights), draws)


def size_weights(n: int) -> Values:
    """Return the share of the Shapley kernel of size s together with n - s, for s = 1 .. n // 2."""
    s = np.arange(1, n // 2 + 1)
    weight = (n - 1) / (s * (n - s)) * np.where(2 * s < n, 2.0, 1.0)
    return weight / weight.sum()


def complete_sizes(n: int, budget: int, weight: Values) -> tuple[int, int]:
    """Return the number of sizes that are enumerated completely, and the budget that is left after them.

    A size is completed if its share of the remaining budget, by the kernel, covers all its sets.
    """
    complete, left = 0, budget
    share = weight.copy()
    for size in range(1, len(weight) + 1):
        sets = comb(n, size) * (2 if 2 * size < n else 1)
        if left * share[size - 1] / sets < 1.0 - 1e-8:
            break
        complete, left = size, left - sets
        if share[size - 1] < 1.0:
            share /= 1.0 - share[size - 1]
    return complete, left


@dataclass
class _Drawn:
    """Distinct coalitions in the order in which they were first drawn, their number of draws, and their first draw."""

    coalitions: list[Coalition] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)


def draw_pairs(n: int, left: int, complete: int, weight: Values, rng: np.random.Generator) -> _Drawn:
    """Draw coalitions of the sizes beyond `complete` with their complements until `left` distinct ones are found.

    Coalitions of half the players are drawn without their complements, and therefore twice as often.
    """
    sizes = np.arange(complete + 1, n // 2 + 1)
    probability = weight[complete:] / np.where(2 * sizes < n, 2.0, 1.0)
    probability /= probability.sum()
    drawn, place, draw = _Drawn(), dict[bytes, int](), 0
    while True:
        block = min(left, max(1, 2**21 // n))
        drawn_sizes = rng.choice(sizes, size=block, p=probability)
        rows = co.with_complements(co.draw_of_sizes(drawn_sizes, n, rng))
        skipped = np.zeros(2 * block, dtype=np.bool_)
        skipped[1::2] = 2 * drawn_sizes == n
        for row, key in enumerate(co.keys(rows)):
            if skipped[row]:
                continue
            if key in place:
                drawn.counts[place[key]] += 1
            else:
                place[key] = len(drawn.coalitions)
                drawn.coalitions.append(rows[row])
                drawn.counts.append(1)
                drawn.draws.append(draw + row // 2)
                if len(drawn.coalitions) == left:
                    return drawn
        draw += block
