"""Oracle: a game together with how it is evaluated."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.validation import check_int, check_names, check_positive, check_real, front_door, refuse
from topshap.evaluation.session import Session
from topshap.evaluation.store.store import Store
from topshap.games.per_coalition import PerCoalition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from topshap.core.typing import Coalitions, Game, Values

logger = logging.getLogger("topshap")


@dataclass(frozen=True)
class Options:
    """How a game is evaluated; see `Oracle`."""

    n_players: int | None
    player_names: tuple[str, ...] | None
    n_jobs: int | None
    store: Store | None
    retries: int
    timeout: float | None
    backoff: float
    deterministic: bool
    batch_size: int | None
    max_batch_bytes: int


@front_door
class Oracle:
    """A game together with how it is evaluated: workers, further attempts, time limits, and a store.

    It is a game itself, and is accepted wherever a game is.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n) to m numbers.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    player_names
        One name per player, for messages; by default the game's attribute ``player_names``.
    n_jobs
        How many workers evaluate at the same time, -1 for as many as there are processors. None means as joblib's
        context says, ``joblib.parallel_config(backend="loky", n_jobs=4)`` for example, and this process without one.
        The values are the same for any number.
    store
        Where values are kept: a path, for a game with an attribute ``fingerprint``, or a `Store` with a name for the
        game. What is in the store is not evaluated again.
    retries
        How many further attempts a call that raises an exception gets, with longer and longer waits in between.
    timeout
        How many seconds a call of the game may take; one that takes longer has failed. Python cannot end a call, so
        it is left behind in a thread. None for any number.
    backoff
        How many seconds to wait before the second attempt, about; before each further one it is twice as long.
    deterministic
        Whether a coalition has the same value every time; by default the game's attribute ``deterministic``, else
        True. If not, every access is evaluated and paid for.
    batch_size
        How many coalitions a call of the game may get. None means as many as there are, one batch for each worker; 1
        for games made by `topshap.games.per_coalition`, whose values are so kept one by one.
    max_batch_bytes
        How many bytes the coalitions of one call may take, a byte for each player in each coalition.

    Attributes
    ----------
    fingerprint : str or None
        The game's own.

    Examples
    --------
    >>> import topshap
    >>> def worth(coalition):
    ...     return 10.0 if coalition[0] and coalition.sum() >= 2 else 0.0
    >>> game = topshap.games.per_coalition(worth, n_players=3)
    >>> oracle = topshap.Oracle(game, retries=5, timeout=60.0)
    >>> topshap.identify(oracle, k=1).players
    array([0])
    """

    def __init__(
        self,
        game: Game,
        *,
        n_players: int | None = None,
        player_names: Iterable[str] | None = None,
        n_jobs: int | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        retries: int = 3,
        timeout: float | None = None,
        backoff: float = 0.2,
        deterministic: bool | None = None,
        batch_size: int | None = None,
        max_batch_bytes: int = 2**24,
    ) -> None:
        if not callable(game):
            refuse("game", game, must_be="a callable from a bool array of shape (m, n) to m numbers")
        n = getattr(game, "n_players", None) if n_players is None else n_players
        names = getattr(game, "player_names", None) if player_names is None else player_names
        n = None if n is None else check_int("n_players", n, low=1)
        if deterministic is None:
            deterministic = bool(getattr(game, "deterministic", True))
        if n_jobs is not None and (not _is_int(n_jobs) or n_jobs == 0):
            refuse("n_jobs", n_jobs, must_be="an int other than 0, or None")
        if batch_size is None and isinstance(game, PerCoalition):
            batch_size = 1
        self.game = game
        self.options = Options(
            n_players=n,
            player_names=None if names is None or n is None else check_names(names, n),
            n_jobs=n_jobs,
            store=as_store(store, game),
            retries=check_int("retries", retries, low=0),
            timeout=None if timeout is None else check_positive("timeout", timeout),
            backoff=check_real("backoff", backoff, low=0.0),
            deterministic=bool(deterministic),
            batch_size=None if batch_size is None else check_int("batch_size", batch_size, low=1),
            max_batch_bytes=check_int("max_batch_bytes", max_batch_bytes, low=1),
        )
        self._session: Session | None = None

    @property
    def n_players(self) -> int | None:
        """The number of players, None if it is not known."""
        return self.options.n_players

    @property
    def player_names(self) -> tuple[str, ...] | None:
        """One name per player, None if there are none."""
        return self.options.player_names

    @property
    def deterministic(self) -> bool:
        """Whether a coalition has the same value every time."""
        return self.options.deterministic

    @property
    def fingerprint(self) -> str | None:
        """The game's fingerprint, None if it gives none."""
        return getattr(self.game, "fingerprint", None)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        if self._session is None:
            self._session = Session(self.game, self.options, rows.shape[1])
        return self._session(rows)

    @contextmanager
    def run(self, n_players: int, player_names: tuple[str, ...] | None = None) -> Iterator[Session]:
        """Yield what evaluates coalitions in one run, for this number of players; the store is closed after it."""
        names = self.player_names if player_names is None else player_names
        options = replace(self.options, n_players=n_players, player_names=names)
        try:
            yield Session(self.game, options, n_players)
        finally:
            if options.store is not None:
                options.store.close()

    def with_options(self, **changes: Any) -> Oracle:
        """Return the same game with some options changed.

        Examples
        --------
        >>> import topshap
        >>> oracle = topshap.Oracle(topshap.games.AdditiveGame([3.0, 1.0]), retries=5)
        >>> oracle.with_options(n_jobs=2)
        Oracle(AdditiveGame(...), n_players=2, n_jobs=2, retries=5, ...)
        """
        unchanged = {name: value for name, value in vars(self.options).items() if name not in changes}
        return Oracle(self.game, **unchanged, **changes)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in vars(self.options).items() if value is not None)
        return f"Oracle({self.game!r}, {said})"

    def __reduce__(self) -> tuple[Callable[..., Oracle], tuple[Any, ...]]:
        return _rebuild, (self.game, dict(vars(self.options)))


def as_store(store: Any, game: Game | None) -> Store | None:
    """Return a store given as such or as a path; a path alone is refused for a game that cannot be told apart."""
    if store is None:
        return None
    if isinstance(store, str | os.PathLike):
        store = Store(store)
    if not isinstance(store, Store):
        refuse("store", store, must_be="a path, a Store or None")
    if store.game is None and getattr(game, "fingerprint", None) is None:
        must_be = (
            "a Store with a name for the game, Store(path, game='my-game-v1'), since the game has no attribute "
            "'fingerprint' by which its file could be told from that of another"
        )
        refuse("store", str(store.path), must_be=must_be)
    return store


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _rebuild(game: Game, options: dict[str, Any]) -> Oracle:
    return Oracle(game, **options)
