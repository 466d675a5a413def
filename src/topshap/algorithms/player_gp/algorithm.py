"""player-gp: the Shapley values of thousands of players from fewer evaluations than players."""

from __future__ import annotations

from functools import partial
from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.player_gp.contributions import Sample
from topshap.algorithms.player_gp.landmarks import bases
from topshap.algorithms.player_gp.shrinkage import combine
from topshap.algorithms.player_gp.sizes import adapted, draw_sizes, log_uniform
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import draw_of_sizes
from topshap.core.standing import FittedStanding
from topshap.core.validation import check_int, check_positive, front_door, refuse

if TYPE_CHECKING:
    from topshap.algorithms.player_gp.contributions import Estimates
    from topshap.algorithms.player_gp.landmarks import Basis
    from topshap.core.typing import Coalitions, Values

FIRST_ROUND = 64
"""The number of coalitions in the first round; later ones have half as many as there are so far, or more."""
MOST_COUNTED = 60
"""The largest number of players for which all coalitions may be evaluated in a race."""
ROUND_BYTES = 2**26
"""The largest memory of a round's coalitions."""


@front_door
class PlayerGP(Algorithm[FittedStanding]):
    """Random coalitions of all sizes, and a Gaussian process over the players.

    Every value of a coalition updates the estimates of all players: those inside gain, those outside lose what the
    value is above the average of its size. These estimates are unbiased for the Shapley value. Sizes are drawn so that
    the variance is smallest: small coalitions, whose values vary most, get most of the evaluations.

    The side information of the game is used in two ways, see `topshap.SideInformation`. Coalitions are compared with
    what a prior predicts for them, which leaves the estimates unbiased. Then the estimates are combined, by empirical
    Bayes, with a multiple of the prior and a Gaussian process over the players' features: each is trusted as far as the
    estimates confirm it. With more evaluations, the unbiased estimates prevail.

    Standard errors are posterior standard deviations. They assume normal errors that are independent between players,
    and normally distributed values around prior and process; the uncertainty of the learned variances is included,
    that of the noise level is not. Averages over all players are right even if single values, such as those of
    outliers, are shrunk too much.

    Overhead per evaluation: O(n log n), and O(n m**2) per run for m landmarks. Memory: n / 8 bytes per evaluation and
    16 n m bytes.

    Parameters
    ----------
    largest_share
        The largest size of a coalition, as a fraction of the players. Contributions to larger coalitions are taken to
        be the same for all players. Below 1 this truncates what vanishes in large coalitions and takes the longest to
        evaluate; the bias is what the contributions of a player to larger coalitions differ from the average player's.
    n_landmarks
        The number of players that the process is based on, at most half of them.

    Examples
    --------
    >>> import topshap
    >>> weights = np.zeros(3000)
    >>> weights[:3] = 1.0
    >>> prior = weights + np.random.default_rng(0).normal(scale=0.1, size=3000)
    >>> game = topshap.games.InformedGame(topshap.games.AdditiveGame(weights), prior=prior)
    >>> top = topshap.identify(game, k=3, budget=500, random_state=0)
    >>> top.algorithm, sorted(top.players.tolist())
    ('player-gp', [0, 1, 2])
    """

    name: ClassVar[str] = "player-gp"
    extendable: ClassVar[bool] = True
    takes_side_information: ClassVar[bool] = True

    def __init__(self, *, largest_share: float = 1.0, n_landmarks: int = 200) -> None:
        self.largest_share = check_positive("largest_share", largest_share)
        if self.largest_share > 1.0:
            refuse("largest_share", largest_share, must_be="a number in (0, 1]")
        self.n_landmarks = check_int("n_landmarks", n_landmarks, low=1)

    def standing(self, problem: Problem) -> FittedStanding:
        """Return the standing at the start of a race: equal shares, plus what the prior differs from its mean."""
        side = problem.side
        if side is None or side.prior is None:
            return problem.fitted_standing()
        estimates = problem.gain / problem.n + side.prior - side.prior.mean()
        return FittedStanding(problem.tie_order, estimates, rank_by=problem.rank_by)

    def rounds(self, problem: Problem, standing: FittedStanding) -> Rounds:
        """Draw coalitions whose sizes suit the residuals so far, and estimate all values anew after each round."""
        n = problem.n
        largest = min(n - 1, max(1, round(self.largest_share * n)))
        model = _Model(problem, standing, self.n_landmarks)
        density = log_uniform(n, largest)
        while not _all_known(problem, largest):
            count = min(max(FIRST_ROUND, len(model.sample) // 2), max(1, ROUND_BYTES // n))
            rows = draw_of_sizes(draw_sizes(density, count, problem.rng), n, problem.rng)
            yield Round(rows, partial(model.update, model.sample.rounds, rows, density))
            if model.estimates is not None:
                density = adapted(n, largest, model.sample.sizes, model.estimates.residuals)


def _all_known(problem: Problem, largest: int) -> bool:
    """Return whether all coalitions up to a size are known, and asking for them again is free."""
    ledger, n = problem.ledger, problem.n
    if n > MOST_COUNTED or not ledger.deterministic or ledger.counting == "calls":
        return False
    return ledger.evaluations >= sum(comb(n, size) for size in range(largest + 1)) + (largest < n)


class _Model:
    """The evaluated coalitions, and the estimates from them."""

    def __init__(self, problem: Problem, standing: FittedStanding, n_landmarks: int) -> None:
        self._problem, self._standing = problem, standing
        prior = None if problem.side is None else problem.side.prior
        centred = None if prior is None else prior - prior.mean()
        norm = 0.0 if centred is None else float(np.linalg.norm(centred))
        self._direction = centred / norm if centred is not None and norm > 0.0 else None
        self.sample = Sample(problem.n, self._direction)
        self.estimates: Estimates | None = None
        self._landmarks = problem.rng.permutation(problem.n)[: min(n_landmarks, problem.n // 2)]
        self._bases: list[Basis] | None = None

    def update(self, rounds_before: int, rows: Coalitions, density: Values, values: Values) -> None:
        """Add a prefix of the values of a round, and estimate all values anew.

        A round of which only a prefix was known is replaced when it is complete.
        """
        sample, problem = self.sample, self._problem
        sample.keep(rounds_before)
        if len(values) > 0:
            sample.add(rows[: len(values)], values - problem.empty, density)
        if len(sample) < 2:
            return
        found = self.estimates = sample.estimate()
        share = problem.gain / problem.n
        if found.std_error == 0.0:  # all values are those of the curve: nothing is known about the errors
            self._standing.set(share + found.values)
            return
        posterior = combine(found.values / found.std_error, self._direction, self._process())
        estimates = share + found.std_error * posterior.mean
        self._standing.set(estimates, std_errors=found.std_error * posterior.deviation)

    def _process(self) -> list[Basis]:
        """Return the bases of the process, made when they are first used."""
        if self._bases is None:
            side, direction, n = self._problem.side, self._direction, self._problem.n
            fixed = [np.full(n, n**-0.5)] + ([] if direction is None else [direction])
            features = None if side is None or len(self._landmarks) == 0 else side.features
            self._bases = [] if features is None else bases(features, self._landmarks, np.stack(fixed, axis=1))
        return self._bases
