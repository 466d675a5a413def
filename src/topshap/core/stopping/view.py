"""The view that a criterion has of a race."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from topshap.core.ledger import Counting
    from topshap.core.standing import Standing


class RaceView(Protocol):
    """The attributes of a `topshap.Race` that criteria may use."""

    n_players: int
    counting: Counting
    deterministic: bool

    @property
    def spent(self) -> int:
        """The evaluations or calls spent so far, as the race counts them."""

    @property
    def evaluations(self) -> int:
        """The number of evaluations; in a deterministic game the number of distinct coalitions."""

    @property
    def seconds(self) -> float:
        """The seconds since the race was created."""

    @property
    def confident(self) -> bool:
        """Whether the current top k satisfies the race's rule."""

    @property
    def rule_completion(self) -> float:
        """The estimated fraction of the evaluations that the race's rule requires, from 0 to 1."""

    @property
    def exhausted(self) -> bool:
        """Whether the value of every coalition is known."""

    @property
    def standing(self) -> Standing:
        """The current estimates, standard errors and ranking."""
