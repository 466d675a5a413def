"""topshap's games and algorithms for users of shapiq."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import check_int, front_door
from topshap.entrypoints import identify

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms import Algorithm
    from topshap.core.typing import Coalitions, Game, Values

import_extra("shapiq", extra="shapiq", needed_by="topshap.interop")  # a message that helps comes before the imports

from shapiq import Game as GameOfShapiq  # noqa: E402 - after the check above
from shapiq.approximator.base import Approximator  # noqa: E402 - after the check above


class ShapiqGame(GameOfShapiq):  # type: ignore[misc]  # an extra, whose types are not always there
    """Any game as one of shapiq; see `topshap.interop.to_shapiq`.

    Examples
    --------
    >>> import topshap
    >>> game = ShapiqGame(topshap.games.AdditiveGame([1.0, 2.0], baseline=5.0), 2)
    >>> game(np.array([[False, False], [True, True]]))
    array([0., 3.])
    """

    def __init__(self, game: Game, n_players: int, *, normalize: bool = True) -> None:
        self.game = game
        names = getattr(game, "player_names", None)
        empty = float(self.value_function(np.zeros((1, n_players), dtype=np.bool_))[0]) if normalize else None
        super().__init__(
            n_players,
            normalize=normalize,
            normalization_value=empty,
            player_names=None if names is None else list(names),
        )

    def value_function(self, coalitions: Any) -> Values:
        """Return the value of each row."""
        rows: Coalitions = np.asarray(coalitions).astype(np.bool_)
        return np.asarray(self.game(rows), dtype=np.float64)


@front_door
class ShapiqApproximator(Approximator):  # type: ignore[misc]  # as above
    """topshap's algorithms behind shapiq's own ``approximate(budget, game)``.

    Parameters
    ----------
    n
        The number of players.
    k
        How many players at the top the evaluations are to tell from the rest; half of them by default.
    algorithm
        ``"auto"``, one of `topshap.algorithms.ALGORITHMS`, or an algorithm with parameters of your own.
    random_state
        A seed; the same one gives the same values.

    Attributes
    ----------
    result_ : TopK
        topshap's own result of the last approximation, with standard errors.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.interop.to_shapiq(topshap.games.AdditiveGame([3.0, 1.0, 2.0]))
    >>> found = ShapiqApproximator(n=3, k=1, random_state=0).approximate(8, game)
    >>> found.index, found.get_n_order_values(1)
    ('SV', array([3., 1., 2.]))
    """

    valid_indices = ("SV",)

    def __init__(
        self,
        n: int,
        k: int | None = None,
        *,
        algorithm: str | Algorithm[Any] = "auto",
        random_state: int | None = None,
    ) -> None:
        super().__init__(n, max_order=1, index="SV", random_state=random_state)
        self.k = max(1, n // 2) if k is None else check_int("k", k, low=1, high=n)
        self.algorithm = algorithm
        self.random_state = random_state

    def approximate(self, budget: int, game: Callable[[Coalitions], Values], *_: Any, **__: Any) -> Any:
        """Return all Shapley values as ``shapiq.InteractionValues``, for at most this many different coalitions."""
        self.result_ = identify(
            game, self.n, self.k, budget=budget, algorithm=self.algorithm, random_state=self.random_state
        )
        return self.result_.to_shapiq()
