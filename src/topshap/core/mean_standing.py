"""The standing of algorithms that average samples: each estimate is the mean of a player's contributions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.standing import Standing, read_only
from topshap.statistics.moments import PairMoments, PlayerMoments
from topshap.statistics.shrinkage import shrunken_variances
from topshap.statistics.variance_floor import RELATIVE_ZERO, with_unseen_jump_floor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

PAIRS_UP_TO = 256
"""The largest number of players for which the differences of all pairs are tracked by default: beyond it the n x n
arrays would take longer than the rest of a round."""

MERGED_ROUNDS, MERGED_DIFFERENCES = 32, 2**16
"""The largest numbers of rounds of all players, and of pair differences, that are merged into the moments together."""


class MeanStanding(Standing):
    """Each player's estimate is the mean of its sampled marginal contributions.

    Zero sample variance is not certainty: a player who is pivotal in one coalition of a thousand looks constant for a
    long time. Where all of a player's M samples were equal, its variance is taken to be J**2 / (M + 1), as if one of
    M + 1 samples had jumped by J, with J**2 the largest mean square of any player's samples (or, while all samples are
    zero, the square of v(N) - v(empty); if that is zero too, the variance is nan). This assumes that no unseen jump is
    larger than the contributions of the other players. The floor applies only to sample variances below 1e-12 J**2.

    Parameters
    ----------
    tie_order
        See `Standing`.
    gain
        v(N) - v(empty). By efficiency a player's Shapley value is gain / n on average, which is the estimate for a
        player that was never sampled; its standard error is nan.
    pairs
        Whether to track the differences of all pairs of players that are sampled in the same round.
    """

    def __init__(self, tie_order: Players, gain: float, *, pairs: bool, rank_by: RankBy = "value") -> None:
        super().__init__(tie_order, rank_by=rank_by)
        self._gain = gain
        self._moments: PlayerMoments | PairMoments = (
            PairMoments(self.n_players) if pairs else PlayerMoments(self.n_players)
        )
        self._waiting: list[Values] = []
        self._players_now: PlayerMoments | None = None
        self._merged_together = max(1, min(MERGED_ROUNDS, MERGED_DIFFERENCES // (self.n_players**2 if pairs else 1)))
        self._everyone_seen = False
        self._errors: Values | None = None
        self._largest_player, self._largest_square = 0, 0.0

    def add(self, samples: Values | Matrix, players: Players | None = None) -> None:
        """Add a round in which each of `players`, by default all, was sampled once; or one such round per row."""
        if samples.ndim == 2:
            for of_round in samples:
                self.add(of_round, players)
            return
        if players is None:
            players = np.arange(self.n_players)
        self._errors = self._players_now = None
        if len(players) == self.n_players:
            # Rounds of all players are merged together, since one by one they would take ten times as long. Reading
            # the standing must not merge them: the last bits of the result would depend on when it is read.
            by_player = np.empty(self.n_players)
            by_player[players] = samples
            self._waiting.append(by_player)
            if len(self._waiting) == self._merged_together:
                self._merge()
        elif len(players) > 2:
            self._merge()
            self._moments.add(samples[None], players)
        else:
            self.add_few(samples.tolist(), players.tolist())

    def add_few(self, samples: Sequence[float], players: Sequence[int]) -> None:
        """Add a round in which one or two players were sampled: the same as `add`, without arrays."""
        if self._waiting:
            self._merge()
        moments = self._moments
        if isinstance(moments, PairMoments) and len(samples) == 2:
            moments.add_two(samples[0], samples[1], players[0], players[1])
        else:
            of_players = moments.players if isinstance(moments, PairMoments) else moments
            for sample, player in zip(samples, players, strict=False):
                of_players.add_one(sample, player)
        self._refresh_errors(*players)

    def _merge(self) -> None:
        """Merge the waiting rounds into the moments."""
        if self._waiting:
            self._moments.add(np.array(self._waiting), slice(None))
            self._waiting, self._players_now = [], None

    @property
    def moments(self) -> PlayerMoments:
        """Counts, means and variances of the players' samples."""
        merged = self._moments.players if isinstance(self._moments, PairMoments) else self._moments
        if not self._waiting:
            return merged
        if self._players_now is None:
            self._players_now = merged.with_samples(np.array(self._waiting))
        return self._players_now

    @property
    def pairs(self) -> PairMoments | None:
        """Counts, means and variances of the differences between players; None if pairs are not tracked."""
        merged = self._moments
        if not isinstance(merged, PairMoments):
            return None
        return merged.with_samples(np.array(self._waiting)) if self._waiting else merged

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that restores the current state."""
        moments, waiting = self._moments.copy(), list(self._waiting)

        def restore() -> None:
            self._moments, self._waiting = moments.copy(), list(waiting)
            self._errors = self._players_now = None
            self._everyone_seen = False

        return restore

    @property
    def counts(self) -> Values:  # type: ignore[override]  # always known here
        """The number of samples of each player."""
        return read_only(self.moments.count.copy())

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""
        return read_only(self.live_estimates.copy())

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where a player was sampled less than twice."""
        return read_only(self.live_std_errors.copy())

    @property
    def live_estimates(self) -> Values:
        """The current estimates, not copied."""
        if not self._everyone_seen:
            unseen = self.moments.count == 0
            self._everyone_seen = not unseen.any()
            return np.where(unseen, self._gain / self.n_players, self.moments.mean)
        return self.moments.mean

    def variances(self) -> Values:
        """Return the variance of each player's samples, with a floor where all samples were equal."""
        return self._with_unseen_jump_floor(self.moments.variances(), self.moments.count)

    @property
    def live_std_errors(self) -> Values:
        """The current standard errors, not copied."""
        if self._errors is None:
            self._errors = np.sqrt(self.variances() / np.maximum(self.moments.count, 1.0))
        return self._errors

    def _refresh_errors(self, *players: int) -> None:
        """Update the standard errors of some players without computing those of all others again.

        Players whose samples were all equal share the largest mean square: when it may change, all are computed again.
        """
        errors, moments, largest = self._errors, self.moments, self._largest_square
        if errors is None:
            return
        for player in players:
            count = moments.count.item(player)
            variance = moments.variance_of(player) if count > 1 else 0.0
            square = moments.mean.item(player) ** 2 + variance
            if count < 2 or square > largest or player == self._largest_player:
                self._errors = None
                return
            if variance <= RELATIVE_ZERO * largest:
                variance = (largest or math.nan) / (count + 1.0)
            errors[player] = math.sqrt(variance / count)

    def differences(self, i: Players, j: Players, *, prior_degrees: float = 0.0) -> tuple[Matrix, Matrix, Matrix]:
        """Return counts, means and variances of D_j - D_i for players i (rows) and j (columns) in common rounds.

        With `prior_degrees`, the variances are shrunk towards their mean, see `topshap.statistics.shrinkage`.
        """
        if self.pairs is None:
            raise ValueError("This standing does not track pairs.")
        count, mean, variance = self.pairs.between(i, j)
        if prior_degrees > 0.0 and variance.size > 0:
            variance = shrunken_variances(variance, count, prior_degrees)
        return count, mean, self._with_unseen_jump_floor(variance, count)

    def covariance(self) -> Matrix | None:
        """Return the covariance of the estimates, None if pairs are not tracked.

        Two means of M_i and M_j samples that share M_ij rounds have covariance M_ij c_ij / (M_i M_j), and the variance
        of the difference in the shared rounds gives c_ij.
        """
        if self.pairs is None or (self.moments.count < 2).any():
            return None
        variances = self.variances()
        everyone = np.arange(self.n_players)
        common, _, of_difference = self.differences(everyone, everyone)
        shared = np.where(common > 1, (variances[:, None] + variances - of_difference) / 2, 0.0)
        covariance = common * shared / np.outer(self.moments.count, self.moments.count)
        np.fill_diagonal(covariance, variances / self.moments.count)
        return read_only(covariance)

    def _with_unseen_jump_floor(self, variances: Values, counts: Values) -> Values:
        squares = self.moments.mean_squares()
        self._largest_player = int(squares.argmax())
        self._largest_square = squares.item(self._largest_player) or self._gain**2
        return with_unseen_jump_floor(variances, counts, self._largest_square)
