"""Stratified SVARM (Kolpaczki, Bengs, Muschalik and Hüllermeier 2024)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import draw_of_sizes, with_complements
from topshap.core.standing import Standing
from topshap.statistics.variance_floor import with_unseen_jump_floor

if TYPE_CHECKING:
    from topshap.core.algorithm import HowOutputs
    from topshap.core.typing import Coalitions, Matrix, Values

PAIRS_PER_ROUND, NUMBERS_PER_ROUND = 128, 2**21
"""The number of complement pairs that are drawn together, and the largest number of random numbers for them."""


class StrataStanding(Standing):
    """Means of coalition values with and without each player, by coalition size.

    Row l of `with_mean` is about v(S + i) and row l of `without_mean` about v(S), for S of size l without i. The
    Shapley value is the mean over l of their difference. The mean is taken over the strata that have values of both
    kinds; the others are left out, not taken as zero.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.tie_order, rank_by=problem.rank_by)
        n = problem.n
        self._gain = problem.gain
        self._centre = (problem.empty + problem.grand) / 2  # subtracted from values, so that squares lose no digits
        self._sums = {True: np.zeros((n + 1, n)), False: np.zeros((n + 1, n))}
        self._counts = {True: np.zeros((n + 1, n)), False: np.zeros((n + 1, n))}
        self._size_moments = np.zeros((3, n + 1))
        ends = np.array([[False] * n, [True] * n])
        self.add(ends, np.array([problem.empty, problem.grand]))

    def add(self, coalitions: Coalitions, values: Values) -> None:
        """Add the values of the coalitions, or of a prefix of them, to the means of all players."""
        if len(values) == 0:
            return
        coalitions = coalitions[: len(values)]
        sizes = coalitions.sum(axis=1)
        order = np.argsort(sizes, kind="stable")
        present, starts = np.unique(sizes[order], return_index=True)
        inside, centred = coalitions[order], (values - self._centre)[order]
        for member, mask in ((True, inside), (False, ~inside)):
            self._counts[member][present] += np.add.reduceat(mask, starts, axis=0, dtype=np.float64)
            self._sums[member][present] += np.add.reduceat(mask * centred[:, None], starts, axis=0)
        powers = np.stack([np.ones_like(centred), centred, centred**2])
        self._size_moments[:, present] += np.add.reduceat(powers, starts, axis=1)

    def _strata(self) -> tuple[Matrix, Matrix, Matrix]:
        """Return counts with and without each player, and the difference of the means; one row per size."""
        n = self.n_players
        many_with, many_without = self._counts[True][1:], self._counts[False][:n]
        mean_with = self._sums[True][1:] / np.maximum(many_with, 1)
        mean_without = self._sums[False][:n] / np.maximum(many_without, 1)
        return many_with, many_without, mean_with - mean_without

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player; gain / n where no stratum has values with and without the player."""
        many_with, many_without, difference = self._strata()
        seen = (many_with > 0) & (many_without > 0)
        strata = seen.sum(axis=0)
        mean = np.where(seen, difference, 0.0).sum(axis=0) / np.maximum(strata, 1)
        return np.where(strata > 0, mean, self._gain / self.n_players)

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan while strata are missing.

        The variance within a stratum is estimated by that of all values of its size, which is slightly too large, but
        known even if the stratum has a single value. A size with a single value gets the largest variance of all sizes.
        Equal values of one size are not taken as certainty (see `MeanStanding`).
        """
        many_with, many_without, _ = self._strata()
        n, (count, total, squares) = self.n_players, self._size_moments
        spread = np.maximum(squares - total**2 / np.maximum(count, 1), 0.0)
        variance = np.where(count > 1, spread / np.maximum(count - 1, 1), np.nan)
        variance = np.where(np.isnan(variance), np.nanmax(variance, initial=0.0), variance)
        variance = with_unseen_jump_floor(variance, count, float(np.max(self.estimates**2)) or self._gain**2)
        variance[[0, n]] = 0.0  # the empty and the grand coalition are known
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = variance[1:, None] / many_with + variance[:n, None] / many_without
        terms[~np.isfinite(terms)] = np.nan
        return np.sqrt(terms.sum(axis=0)) / n


class StratifiedSVARM(Algorithm[StrataStanding]):
    """Stratified SVARM: every evaluated coalition updates every player, without marginal contributions.

    Coalitions are drawn in pairs with their complements, with a size uniform in 1..n-1. The value of S updates the mean
    "with i, size s" of its members and the mean "without i, size s" of all other players. Only the empty and the grand
    coalition are known beforehand.

    Overhead per evaluation: O(n), and O(n**2) whenever the standing is read.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([5.0, 0.0, 3.0, 0.0, 0.0])
    >>> topshap.identify(game, k=2, budget=30, algorithm="stratified-svarm", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "stratified-svarm"
    outputs: ClassVar[HowOutputs] = "each"
    extendable: ClassVar[bool] = True

    def standing(self, problem: Problem) -> StrataStanding:
        """Return the standing at the start of a race: the empty and the grand coalition."""
        return StrataStanding(problem)

    def rounds(self, problem: Problem, standing: StrataStanding) -> Rounds:
        """Draw complement pairs until the budget is spent."""
        pairs = max(1, min(PAIRS_PER_ROUND, NUMBERS_PER_ROUND // (2 * problem.n)))
        while True:
            coalitions = draw_complement_pairs(pairs, problem.n, problem.rng)
            yield Round(coalitions, partial(standing.add, coalitions))


def draw_complement_pairs(pairs: int, n: int, rng: np.random.Generator) -> Coalitions:
    """Draw coalitions with a size uniform in 1..n-1, each followed by its complement."""
    return with_complements(draw_of_sizes(rng.integers(1, n, size=pairs), n, rng))
