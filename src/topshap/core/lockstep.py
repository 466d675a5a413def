"""Several outputs with an algorithm for one: copies that ask for the same coalitions and get different values.

The choices of such an algorithm do not depend on values (`Algorithm.outputs` is ``"each"``), so that one generator of
rounds serves all outputs. Every output has a standing of its own, and its result equals that of a race on this output
alone, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.covariances import stacked
from topshap.core.outputs_standing import OutputsStanding
from topshap.core.standing import read_only
from topshap.core.stopping import StoppingRule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
    from topshap.core.covariances import Covariances
    from topshap.core.standing import Standing
    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Values

COVARIANCE_NUMBERS = 2**24
"""The largest number of entries of the covariances of all outputs; beyond it only standard errors are returned."""
_OF_OUTPUT = ("empty", "grand", "epsilon", "value_range")
"""The fields of a problem that differ between outputs."""


class LockstepStanding(OutputsStanding):
    """One standing per output, of an algorithm for a single output.

    Examples
    --------
    >>> from topshap.core.standing import FittedStanding
    >>> LockstepStanding([FittedStanding(np.arange(2), np.array(e)) for e in ([1.0, 2.0], [4.0, 3.0])]).estimates
    array([[1., 2.],
           [4., 3.]])
    """

    def __init__(self, standings: Sequence[Standing]) -> None:
        first = standings[0]
        super().__init__(len(standings), first.tie_order, rank_by=first.rank_by)
        self.standings = standings

    def of_output(self, output: int) -> Standing:
        """Return the standing of one output."""
        return self.standings[output]

    @property
    def counts(self) -> Values | None:  # type: ignore[override]  # read only here
        """The number of samples of each player, which is the same in all outputs."""
        return self.standings[0].counts

    @property
    def rare_contributions(self) -> bool:  # type: ignore[override]  # read only here
        """Whether contributions may be rare and large in one of the outputs."""
        return any(standing.rare_contributions for standing in self.standings)

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per output and player, shape (R, n)."""
        return read_only(np.array([standing.live_estimates for standing in self.standings]))

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known, shape (R, n)."""
        return read_only(np.array([standing.live_std_errors for standing in self.standings]))

    def covariances(self) -> Covariances | None:
        """Return the covariances, shape (R, n, n), nan where unknown; None if they would take too much memory."""
        if self.n_outputs * self.n_players**2 > COVARIANCE_NUMBERS:
            return None
        return stacked(standing.covariance() for standing in self.standings)

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that restores the current state."""
        restores = [standing.checkpoint() for standing in self.standings]

        def restore() -> None:
            for each in restores:
                each()

        return restore


class Lockstep:
    """An algorithm for one output, played on every output of a game."""

    def __init__(self, algorithm: Algorithm[Any]) -> None:
        self._algorithm = algorithm

    def standing(self, problem: Problem) -> LockstepStanding:
        """Return the standing at the start of a race."""
        return LockstepStanding([self._algorithm.standing(each) for each in problem.each_output()])

    def rounds(self, problem: Problem, standing: LockstepStanding) -> Rounds:
        """Yield the rounds of the algorithm; the values of each round update the standings of all outputs."""
        problems = list(problem.each_output())
        # The algorithm gets one standing and one problem. Before it takes the values of an output, they are given the
        # state of that output, so that its functions work on it.
        on_stage: Standing = object.__new__(type(standing.standings[0]))
        vars(on_stage).update(vars(standing.standings[0]))
        its_problem = replace(problems[0])

        def add(each: Round, values: Values) -> None:
            columns = np.ascontiguousarray(values.T)
            for column, of_output, state in zip(columns, problems, standing.standings, strict=True):
                on_stage.__dict__ = vars(state)
                for name in _OF_OUTPUT:
                    object.__setattr__(its_problem, name, getattr(of_output, name))
                each.add(column)

        for each in self._algorithm.rounds(its_problem, on_stage):
            yield each._replace(add=partial(add, each))


class EveryOutput(StoppingRule):
    """A rule that is met when its own rule is met for every output.

    Each statement is about one output by itself.
    """

    def __init__(self, rules: Sequence[StoppingRule]) -> None:
        self.rules = rules
        self._unmet = 0

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for each output."""
        return self.rules[0].guarantee

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the race may stop: whether the rule is met for all outputs.

        The output that was not met last is checked first, so that most looks are short.
        """
        outputs = _outputs(standing)
        order = [self._unmet, *range(self._unmet), *range(self._unmet + 1, len(self.rules))]
        for output in order:
            if not self.rules[output](outputs.of_output(output), k):
                self._unmet = output
                return False
        return True

    def completion(self, standing: Standing, k: int) -> float:
        """Return the completion of the output that is furthest from its rule."""
        pairs = zip(self.rules, _outputs(standing).each(), strict=True)
        return min(rule.completion(of_output, k) for rule, of_output in pairs)


def rule_for_every_output(algorithm: Algorithm[Any], problem: Problem) -> EveryOutput | None:
    """Return the algorithm's rule for every output, None if it has no rule."""
    rules = [rule for rule in map(algorithm.stopping_rule, problem.each_output()) if rule is not None]
    return EveryOutput(rules) if rules else None


def _outputs(standing: Standing) -> OutputsStanding:
    if not isinstance(standing, OutputsStanding):
        raise TypeError(f"EveryOutput needs a standing of several outputs, not {standing!r}.")
    return standing
