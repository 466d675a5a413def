"""Results, games and algorithms for shapiq, and shapiq's games for topshap. Importing this module imports shapiq."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.errors import GameError
from topshap.core.extras import import_extra
from topshap.core.fingerprints import check_fingerprint, fingerprint_of, named_fingerprint_of
from topshap.core.pairs import all_pairs
from topshap.core.race import Race
from topshap.core.validation import check_int, check_names, front_door, refuse, resolve_n_players

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.algorithm import Algorithm
    from topshap.core.pairs_result import TopPairs
    from topshap.core.result import TopK
    from topshap.core.typing import Coalitions, Game, Values

import_extra("shapiq", extra="shapiq", needed_by="topshap.interop.shapiq")  # names the extra if shapiq is missing

import shapiq  # noqa: E402 - after the check above
from shapiq.approximator.base import Approximator  # noqa: E402 - after the check above


def to_interaction_values(top: TopK) -> Any:
    """Return the estimates of a result as ``shapiq.InteractionValues`` of order 1; see `topshap.TopK.to_shapiq`."""
    scores = {(): top.empty} | {(i,): float(value) for i, value in enumerate(top.estimates)}
    return shapiq.InteractionValues(
        scores,
        index="SV",
        min_order=0,
        max_order=1,
        n_players=top.n_players,
        estimated=top.stopped != "exact",
        estimation_budget=top.evaluations,
        baseline_value=top.empty,
    )


def pairs_to_interaction_values(top: TopPairs) -> Any:
    """Return the estimates of pairs as ``shapiq.InteractionValues``; see `topshap.TopPairs.to_shapiq`."""
    scores: dict[tuple[int, ...], float] = {}
    if top.shapley_values is not None:
        scores |= {(i,): float(value) for i, value in enumerate(top.shapley_values)}
    pairs = all_pairs(top.n_players).tolist()
    scores |= {(i, j): value for (i, j), value in zip(pairs, top.estimates.tolist(), strict=True)}
    return shapiq.InteractionValues(
        scores,
        index="SII",
        min_order=2 if top.shapley_values is None else 1,
        max_order=2,
        n_players=top.n_players,
        estimated=top.stopped != "exact",
        estimation_budget=top.evaluations,
        baseline_value=top.empty,
    )


@front_door
def from_shapiq(game: Any, *, fingerprint: str | None = None) -> FromShapiq:
    """Return a shapiq game as a topshap game, with its player names and a fingerprint.

    `topshap.identify` accepts a shapiq game directly; convert it to keep its player names or to use a store.

    Parameters
    ----------
    game
        A ``shapiq.Game``, such as an imputer. If it is normalized, so are the values.
    fingerprint
        A name for the game's functions and models in stores; required if these cannot be hashed. The rest of its
        state, such as its data, and its players are always part of the fingerprint.

    Examples
    --------
    >>> class Sums:  # any shapiq.Game
    ...     n_players = 3
    ...     player_name_lookup = {"a": 0, "b": 1, "c": 2}
    ...
    ...     def __call__(self, coalitions):
    ...         return coalitions.sum(axis=1) ** 2.0
    >>> game = from_shapiq(Sums())
    >>> game.player_names, game(np.array([[True, True, False]]))
    (('a', 'b', 'c'), array([4.]))
    """
    return FromShapiq(game, fingerprint)


class FromShapiq:
    """A shapiq game as a topshap game; see `from_shapiq`."""

    def __init__(self, game: Any, fingerprint: str | None = None) -> None:
        if not callable(game) or not hasattr(game, "n_players"):
            refuse("game", game, must_be="a game of shapiq")
        self.game = game
        self.n_players = resolve_n_players(game, None)
        lookup = getattr(game, "player_name_lookup", None)
        names = sorted(lookup, key=lookup.__getitem__) if lookup else None
        self.player_names = check_names(names, self.n_players)
        self._function_name = check_fingerprint(fingerprint)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint that identifies this game in a store; None if its state cannot be hashed."""
        state = {name: part for name, part in vars(self.game).items() if name not in ("game_id", "verbose")}
        if self._function_name is None:
            return fingerprint_of("shapiq", game=type(self.game), state=state)
        data = {f"state {name}": part for name, part in state.items() if not _is_function(part)}
        players = {"n_players": self.n_players, "player_names": self.player_names}
        return named_fingerprint_of("shapiq", self._function_name, **players, **data)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        return (
            np.asarray(self.game(rows), dtype=np.float64) if len(rows) else np.empty(0)
        )  # shapiq rejects an empty array

    def __repr__(self) -> str:
        return f"from_shapiq({self.game!r})"


def _is_function(part: Any) -> bool:
    """Return whether a given fingerprint stands for this part: a function, a model or a source of random numbers."""
    if isinstance(getattr(part, "fingerprint", None), str):
        return False
    return callable(part) or hasattr(part, "predict") or isinstance(part, np.random.Generator | np.random.RandomState)


@front_door
def to_shapiq(game: Game, n_players: int | None = None, *, normalize: bool = True) -> ShapiqGame:
    """Return a game as a ``shapiq.Game``, for shapiq's approximators, exact computer and plots.

    Needs the extra ``topshap[shapiq]``.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n) to m numbers.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    normalize
        Whether the value of the empty coalition is subtracted, as most of shapiq's approximators expect. This takes
        one evaluation.
    """
    return ShapiqGame(game, resolve_n_players(game, n_players), normalize=normalize)


class ShapiqGame(shapiq.Game):  # type: ignore[misc]  # shapiq's types are not always installed
    """A game as a ``shapiq.Game``; see `topshap.interop.to_shapiq`.

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
        values = np.asarray(self.game(rows), dtype=np.float64)
        if values.ndim == 2:
            raise GameError(f"A game for shapiq must have one number per coalition, not {values.shape[1]} outputs.")
        return values


@front_door
class ShapiqApproximator(Approximator):  # type: ignore[misc]  # shapiq's types are not always installed
    """topshap's algorithms with shapiq's interface ``approximate(budget, game)``.

    Parameters
    ----------
    n
        The number of players.
    k
        The number of top players to separate from the rest; by default half of all players.
    algorithm
        ``"auto"``, one of `topshap.algorithms.ALGORITHMS`, or an `Algorithm` instance.
    random_state
        A seed; the same seed gives the same values.

    Attributes
    ----------
    result_ : TopK
        The result of the last approximation, with standard errors.

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

    @front_door
    def approximate(self, budget: int, game: Callable[[Coalitions], Values], *_: Any, **__: Any) -> Any:
        """Return all Shapley values as ``shapiq.InteractionValues``, from at most `budget` distinct coalitions."""
        race = Race(
            self.n,
            self.k,
            budget=budget,
            algorithm=self.algorithm,
            deterministic=bool(getattr(game, "deterministic", True)),
            player_names=getattr(game, "player_names", None),
            random_state=self.random_state,
        )
        while not race.done:
            race.tell(game(race.ask()))
            if race.n_outputs is not None:
                raise GameError(f"A game of shapiq must have one number per coalition, not {race.n_outputs} outputs.")
        self.result_ = race.result()
        return to_interaction_values(self.result_)
