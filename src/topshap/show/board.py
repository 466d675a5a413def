"""The leaderboard as data: the rows and numbers that text, matplotlib, HTML and the terminal render."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.powers_of_two import safely_scaled
from topshap.core.results import TopKs
from topshap.core.validation import refuse
from topshap.show.labels import NAME_LENGTH, labels_of, name_of, on_one_line, value_text, with_value
from topshap.show.nouns import candidate, quantity
from topshap.show.numbers import percent, short_number
from topshap.statistics.normal_intervals import two_sided_quantile
from topshap.statistics.ties import differ, tied_with

if TYPE_CHECKING:
    from topshap.core.race import Race
    from topshap.core.result import TopK
    from topshap.core.typing import Matrix, Players

LEVEL = 0.95
"""The default level of intervals."""
INTERVAL_NOTE = "± is the 95% interval (1.96 standard errors)"
"""The explanation of the numbers after the estimates."""
_FULL_VALUE = 200
"""The length of a value next to a full name."""


def check_one_output(top: Any) -> None:
    """Refuse the result of several outputs where one is shown.

    Examples
    --------
    >>> import topshap
    >>> check_one_output(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=1))
    """
    if isinstance(top, TopKs):
        got = f"the results of {len(top)} outputs"
        refuse("top", got=got, must_be="the result of one output, such as tops[0]; output_map shows all outputs")


def check_players(top: Any) -> None:
    """Refuse the result for pairs where players are shown.

    Examples
    --------
    >>> import topshap
    >>> check_players(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=1))
    """
    if top.order != 1:
        refuse("top", got="one for pairs", must_be="a result for players; network and matrix show pairs")


def has_learned(found: TopK | Race) -> bool:
    """Return whether anything distinguishes the players: different estimates, a known standard error, or exact values.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    >>> has_learned(topshap.identify(game, k=1, budget=2)), has_learned(topshap.identify(game, k=1))
    (False, True)
    """
    state: Any = getattr(found, "standing", found)  # a race has its estimates in its standing
    return found.stopped == "exact" or differ(state.estimates, state.std_errors)


def probability_ahead(top: TopK, players: Players) -> Matrix:
    """Return `TopK.pairwise` for some of the players, without computing it for all of them."""
    return top.pairwise(players)


def tied_at_border(top: TopK) -> Players:
    """Return the players inside and outside the top k whose estimates tie with the last one inside, best first.

    It is empty unless a player outside is among them. The choice between them is arbitrary.

    Examples
    --------
    >>> import topshap
    >>> tied_at_border(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 0.0, 1.0]), k=2, random_state=0))
    array([1, 3])
    """
    if len(top.tied) == 0:
        return top.ranking[:0]
    tied = tied_with(top.players[-1], *safely_scaled(top.estimates, top.std_errors, top.covariance), top.rank_by)
    return top.ranking[tied[top.ranking]]


@dataclass(frozen=True)
class Row:
    """One player on the leaderboard."""

    rank: int
    """The rank, from 1."""
    player: int
    """The index of the player."""
    name: str
    """The full name on one line, with the player's value in the explained input if it is known."""
    label: str
    """The name and the value, shortened such that the labels of a leaderboard stay different."""
    estimate: float
    std_error: float
    """The standard error, nan if unknown."""
    half_width: float
    """Half the width of the interval, nan if unknown."""
    inclusion: float
    """The estimated probability of being in the top k, nan if unknown or not requested."""
    in_top: bool
    """Whether the player is one of the top k; False for everyone while nothing distinguishes the players."""
    tied: bool
    """Whether the player's estimate ties with others across the border."""
    hidden: int
    """How many players are left out between this row and the next, or after the last."""

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval, both equal to the estimate if the standard error is unknown."""
        half = self.half_width if np.isfinite(self.half_width) else 0.0
        return self.estimate - half, self.estimate + half


def _full_name(top: TopK, player: int) -> str:
    value = None if top.player_values is None or top.order == 2 else top.player_values[player]
    return with_value(on_one_line(name_of(top, player)), value_text(value, _FULL_VALUE))


@dataclass(frozen=True)
class Leaderboard:
    """The players that are shown, best first.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)
    >>> board = Leaderboard.of(top, np.arange(3))
    >>> [(row.rank, row.label, board.estimate(row), row.in_top) for row in board.rows]
    [(1, '0', '3', True), (2, '2', '2', True), (3, '1', '1', False)]
    """

    rows: tuple[Row, ...]
    k: int
    n_candidates: int
    exact: bool
    """Whether the values are known without error, so that there is no uncertainty to show."""
    scale: float
    """The largest magnitude of an estimate: smaller numbers by many orders are rounding errors."""
    learned: bool
    """Whether anything distinguishes the players; if not, their order is arbitrary."""
    quantity: str = "Shapley value"
    """The noun for the estimates."""
    candidate: str = "player"
    """The noun for what is ranked."""

    @classmethod
    def of(
        cls,
        top: TopK,
        ranks: Players,
        *,
        label_length: int = NAME_LENGTH,
        level: float = LEVEL,
        with_inclusion: bool = False,
    ) -> Leaderboard:
        """Return the leaderboard of a result, with the players at some ranks, counted from 0."""
        learned, ties = has_learned(top), set(tied_at_border(top).tolist())
        inclusion = top.inclusion if with_inclusion and top.stopped != "exact" else None
        players = top.ranking[ranks].tolist()
        labels = labels_of(top, players, label_length)
        hidden = (np.diff(ranks, append=top.n_candidates) - 1).tolist()
        width = two_sided_quantile(1.0 - level)
        rows = tuple(
            Row(
                rank=rank + 1,
                player=player,
                name=_full_name(top, player),
                label=label,
                estimate=float(top.estimates[player]),
                std_error=float(top.std_errors[player]),
                half_width=float(width * top.std_errors[player]),
                inclusion=np.nan if inclusion is None else float(inclusion[player]),
                in_top=learned and rank < top.k,
                tied=player in ties,
                hidden=left_out,
            )
            for rank, player, label, left_out in zip(ranks.tolist(), players, labels, hidden, strict=True)
        )
        largest = float(np.abs(top.estimates).max())
        nouns = {"quantity": quantity(top), "candidate": candidate(top)}
        exact = top.stopped == "exact"
        return cls(rows, top.k, top.n_candidates, exact=exact, scale=largest, learned=learned, **nouns)

    @property
    def border(self) -> int | None:
        """The rank of the last player in the top k, below which the border is drawn.

        None if everyone is in it, or if nothing distinguishes the players.
        """
        return self.k if self.learned and self.k < self.n_candidates else None

    @property
    def limits(self) -> tuple[float, float]:
        """The range of values that holds 0 and all intervals."""
        ends = [end for row in self.rows for end in row.interval]
        return min(0.0, *ends), max(0.0, *ends)

    @property
    def has_intervals(self) -> bool:
        """Whether any interval is known and worth showing."""
        return not self.exact and any(np.isfinite(row.half_width) for row in self.rows)

    def estimate(self, row: Row, *, digits: int = 3) -> str:
        """Return an estimate as text, with negligible numbers as 0."""
        return short_number(row.estimate, self.scale, error=row.half_width, digits=digits)

    def uncertainty(self, row: Row) -> str:
        """Return half the width of an interval as text, such as " ± 0.2"; empty for an exact result."""
        if self.exact:
            return ""
        return " ± ?" if np.isnan(row.half_width) else f" ± {row.half_width:.2g}"

    @property
    def inclusion_heading(self) -> str:
        """The heading of the inclusion probabilities; empty for an exact result, which has none."""
        return "" if self.exact else f"P(in top {self.k})"

    def inclusion(self, row: Row) -> str:
        """Return an inclusion probability as text, "tied" for ties at the border; else empty for an exact result."""
        if row.tied:
            return "tied"
        return "" if self.exact else percent(row.inclusion)
