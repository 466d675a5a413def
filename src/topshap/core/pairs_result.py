"""TopPairs: the immutable result of a race of order 2, in which every candidate is a pair of players."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topshap.core.bindings import bound
from topshap.core.errors import RaceError
from topshap.core.pairs import all_pairs, pair_name, players_of_pairs, symmetric
from topshap.core.result import ESTIMATE_INTERACTIONS, TopK
from topshap.core.validation import refuse
from topshap.statistics.partial_covariance import PartialCovariance
from topshap.statistics.ranking import rank_key
from topshap.statistics.top_k_probability import TopKProbabilities, top_k_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.pairs import PairEstimates
    from topshap.core.typing import Matrix, Players, Values

PAIRWISE_PAIRS = 2000
"""The largest number of pairs for which `TopPairs.pairwise` compares all with all."""


@dataclass(frozen=True, eq=False)
class TopPairs(TopK):
    """The top k pairs of players by their interaction, the estimates of all pairs, their uncertainty and their cost.

    The interaction of two players is the Shapley interaction index: the average, over the sets of other players, of
    the gain of both together minus the gains of each alone. It is positive where they complement each other, and
    negative where one can replace the other. Everything that a `TopK` says about players, a `TopPairs` says about
    pairs: `players` are positions in the list of all pairs (0, 1), (0, 2), ..., (n - 2, n - 1), and `estimates`,
    `std_errors`, `inclusion` and `ranking` have one entry per pair.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [0, 3]], [9.0, 2.0, -3.0], n_players=4)
    >>> top = topshap.identify(game, k=2, order=2, player_names=["age", "sex", "bmi", "fat"])
    >>> top.names, top.pairs.tolist(), top.n_players, top.n_candidates
    (('age x fat', 'sex x bmi'), [[0, 3], [1, 2]], 4, 6)
    >>> print(top)
    Top 2 of 6 pairs of 4 players by magnitude after 16 evaluations (exact: all coalitions are known)
       1  age x fat   -3
       2  sex x bmi   2
      --
       3  age x sex   0
       4  age x bmi   0
       5  sex x fat   0
       6  bmi x fat   0
    Certain: all coalitions are known. It took 16 evaluations of a budget of 16.
    """

    order: ClassVar[int] = 2

    shapley_values: Values | None = None
    """The estimated Shapley values of the players from the same evaluations, None if they are not known."""
    left_out: Players | None = None
    """The indices of the players whose pairs were not estimated, because there were too many players; None if all
    pairs were. The estimates of these pairs are 0, and their standard errors nan."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for array in (self.shapley_values, self.left_out):
            if array is not None:
                array.flags.writeable = False

    @property
    def n_players(self) -> int:
        """The number of players."""
        return players_of_pairs(len(self.estimates))

    @property
    def pairs(self) -> Players:
        """The players of the top k pairs, best first, shape (k, 2)."""
        return all_pairs(self.n_players)[self.players]

    @property
    def matrix(self) -> Matrix:
        """The estimates as a symmetric matrix with zeros on the diagonal, shape (n, n)."""
        return symmetric(self.estimates, self.n_players)

    @property
    def matrix_std_errors(self) -> Matrix:
        """The standard errors as a symmetric matrix with zeros on the diagonal, nan where unknown, shape (n, n)."""
        return symmetric(self.std_errors, self.n_players)

    def name_of(self, i: int) -> str:
        """Return the name of a pair by its position, such as ``"age x bmi"``, or ``"0 x 2"`` without names."""
        return pair_name(int(i), self.n_players, self.player_names)

    def pairwise(self, players: Any = None) -> Matrix:
        """Return the estimated probability that pair i is ranked before pair j, shape (P, P).

        Parameters
        ----------
        players
            The positions of the pairs to compare, such as ``top.ranking[:100]``; by default all, if there are at most
            2000.
        """
        if players is None and self.n_candidates > PAIRWISE_PAIRS:
            must_be = f"given if there are more than {PAIRWISE_PAIRS:,} pairs, for example top.ranking[:100]"
            refuse("players", got=f"None for {self.n_candidates:,} pairs", must_be=must_be)
        return super().pairwise(players)

    def to_shap(self, data: Any = None) -> Any:
        """Return a ``shap.Explanation`` with shap's interaction values, shape (n, n). Needs ``topshap[shap]``.

        An interaction is divided between the two cells of its pair. The diagonal has the main effects: what is left of
        a player's Shapley value. A row adds up to the Shapley value of its player. This needs `shapley_values`.

        Parameters
        ----------
        data
            One value per player, shown next to its name; by default `player_values`.
        """
        return bound("pairs_to_shap")(self, data)

    def to_shapiq(self) -> Any:
        """Return the estimates as ``shapiq.InteractionValues`` of index SII. Needs the extra ``topshap[shapiq]``.

        They have order 2, and also order 1 if the `shapley_values` are known.
        """
        return bound("pairs_to_shapiq")(self)

    @cached_property
    def _probabilities(self) -> TopKProbabilities:
        """The probabilities among the pairs that were estimated; nan for the others."""
        if self.left_out is None:
            return super()._probabilities
        known = np.flatnonzero(~np.isin(all_pairs(self.n_players), self.left_out).any(axis=1))
        estimates, std_errors, covariance = self._scaled
        if isinstance(covariance, PartialCovariance):
            covariance = covariance.among(known, self.n_candidates)
        elif covariance is not None:
            covariance = covariance[np.ix_(known, known)]
        chosen = np.flatnonzero(np.isin(known, self.players))
        found = top_k_probabilities(chosen, estimates[known], std_errors[known], covariance, self.rank_by)
        of_pair = np.full(self.n_candidates, np.nan)
        of_pair[known] = found.of_player
        return TopKProbabilities(found.of_set, of_pair)


def with_interactions(top: TopK, estimate: Callable[[], PairEstimates] | None) -> TopK:
    """Keep the function that `TopK.interactions` calls, and return the result."""
    if estimate is not None:
        object.__setattr__(top, ESTIMATE_INTERACTIONS, estimate)
    return top


def interactions_of(top: TopK) -> TopPairs:
    """Return the interactions of all pairs of players, from the evaluations of a race for players."""
    if top.order != 1:
        raise RaceError("This is a result for pairs: its estimates are the interactions.")
    if top.n_players < 2:
        raise RaceError("A game with a single player has no interactions.")
    estimate = vars(top).get(ESTIMATE_INTERACTIONS)
    if estimate is None:
        raise RaceError(
            f"This result of {top.algorithm!r} has no interactions: they are estimated for one output, after a run "
            "of 'odd-gp' or 'odd-gp@k', or if all coalitions are known, and saved or copied results do not have them. "
            "Use order=2."
        )
    found = estimate()
    order = np.argsort(-rank_key(found.estimates, "magnitude"), kind="stable")
    shared: dict[str, Any] = {field.name: getattr(top, field.name) for field in fields(TopK)}
    shared |= {
        "players": order[: min(top.k, len(order))],
        "estimates": found.estimates,
        "std_errors": found.std_errors,
        "covariance": found.covariance,
        "epsilon": None,
        "delta": None,
        "guarantee": None,
        "rank_by": "magnitude",
        "history": None,
    }
    if top.stopped == "confident":  # about the players, not about pairs
        shared |= {"stopped": "rule", "rule": "the confidence for players"}
    return TopPairs(**shared, shapley_values=top.estimates, left_out=found.left_out)
