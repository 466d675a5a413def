"""Oracle: a game together with how it is evaluated."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from topshap.core.coalitions import check_coalitions
from topshap.core.outputs import check_outputs
from topshap.core.validation import check_bool, check_int, check_names, check_positive, check_real, front_door, refuse
from topshap.evaluation.call import CallPolicy
from topshap.evaluation.session import Session
from topshap.evaluation.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.typing import Coalitions, Game, Values


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
    check_deterministic: bool
    n_outputs: int | None = None

    @property
    def call_policy(self) -> CallPolicy:
        """The options that concern a single call."""
        return CallPolicy(self.retries, self.timeout, self.backoff, self.player_names, self.n_outputs)


@front_door
class Oracle:
    """A game together with how it is evaluated: workers, retries, time limits, and a store.

    An oracle is a game itself and is accepted wherever a game is.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n) to m numbers, or to an array of shape (m, R) for R outputs. Its
        attributes ``n_outputs`` and ``output_names``, if it has them, declare the outputs.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    player_names
        One name per player, for messages and results; by default the game's attribute ``player_names``.
    n_jobs
        The number of workers, -1 for one per processor. None means the number of joblib's context, for example of
        ``joblib.parallel_config(backend="loky", n_jobs=4)``, and no workers without a context. The values are the same
        for any number.
    store
        Where values are kept: a path, for a game with an attribute ``fingerprint``, or a `Store` with a name for the
        game. Values in the store are not evaluated again, and processes that share it do not evaluate the same
        coalition at the same time.
    retries
        The number of retries after a call that raised an exception, with exponentially growing waits. There are none
        after errors that are mistakes in the program: TypeError, AttributeError, NameError, ImportError, SyntaxError,
        NotImplementedError, AssertionError, LookupError (such as KeyError) and ArithmeticError (such as
        ZeroDivisionError).
    timeout
        The time limit of a call in seconds, None for no limit. A call that exceeds it has failed. Python cannot end a
        call, so it stays behind in a thread.
    backoff
        The approximate wait before the first retry in seconds; it doubles with every further retry.
    deterministic
        Whether a coalition has the same value every time; by default the game's attribute ``deterministic``, else
        True. If not, every access is an evaluation.
    batch_size
        The largest number of coalitions in one call; by default the game's attribute ``batch_size`` if it is an int,
        else one batch per worker. It is 1 for games made by `topshap.games.per_coalition`, so that their values are
        stored one by one.
    max_batch_bytes
        The largest size of the coalitions in one call, with one byte per player and coalition.
    check_deterministic
        Whether a run evaluates three coalitions of its first batch a second time, in this process, and issues a
        `topshap.NoisyGameWarning` if a value differs by more than rounding. These repeats are not counted as
        evaluations and may exceed the budget. Nothing is repeated if the game is declared not deterministic.

    Attributes
    ----------
    fingerprint : str or None
        The game's fingerprint.

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
        check_deterministic: bool = False,
    ) -> None:
        if not callable(game):
            refuse("game", game, must_be="a callable from a bool array of shape (m, n) to m numbers")
        n = _given_or_attribute(n_players, game, "n_players")
        n = None if n is None else check_int("n_players", n, low=1)
        if batch_size is None and _is_int(getattr(game, "batch_size", None)):
            batch_size = getattr(game, "batch_size", None)
        if n_jobs is not None and (not _is_int(n_jobs) or n_jobs == 0):
            refuse("n_jobs", n_jobs, must_be="an int other than 0, or None")
        self.game = game
        self.options = Options(
            n_players=n,
            player_names=_check_names(_given_or_attribute(player_names, game, "player_names"), n),
            n_jobs=n_jobs,
            store=_as_store(store, game),
            retries=check_int("retries", retries, low=0),
            timeout=None if timeout is None else check_positive("timeout", timeout),
            backoff=check_real("backoff", backoff, low=0.0),
            deterministic=bool(_given_or_attribute(deterministic, game, "deterministic", default=True)),
            batch_size=None if batch_size is None else check_int("batch_size", batch_size, low=1),
            max_batch_bytes=check_int("max_batch_bytes", max_batch_bytes, low=1),
            check_deterministic=check_bool("check_deterministic", check_deterministic),
            n_outputs=check_outputs(getattr(game, "n_outputs", None), getattr(game, "output_names", None))[0],
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
    def n_outputs(self) -> int | None:
        """The number of outputs that the game declares, None if it declares none."""
        return self.options.n_outputs

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """One name per output, None if there are none."""
        return check_outputs(None, getattr(self.game, "output_names", None))[1]

    @property
    def deterministic(self) -> bool:
        """Whether a coalition has the same value every time."""
        return self.options.deterministic

    @property
    def fingerprint(self) -> str | None:
        """The game's fingerprint, None if it has none."""
        return getattr(self.game, "fingerprint", None)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        if self._session is None:
            self._session = self._new_session(rows.shape[1], self.player_names)
        return self._session.evaluate(rows)

    @contextmanager
    def run(self, n_players: int, player_names: tuple[str, ...] | None = None) -> Iterator[Session]:
        """Yield a session that evaluates the coalitions of one run, and close the store afterwards."""
        session = self._new_session(n_players, self.player_names if player_names is None else player_names)
        try:
            yield session
        finally:
            session.close()

    def with_options(self, **changes: Any) -> Oracle:
        """Return an oracle of the same game with some options changed.

        Examples
        --------
        >>> import topshap
        >>> oracle = topshap.Oracle(topshap.games.AdditiveGame([3.0, 1.0]), retries=5)
        >>> oracle.with_options(n_jobs=2)
        Oracle(AdditiveGame(...), n_players=2, n_jobs=2, retries=5, ...)
        """
        return Oracle(self.game, **(_own_options(self.options) | changes))

    def __repr__(self) -> str:
        own = _own_options(self.options).items()
        options = ", ".join(f"{name}={value!r}" for name, value in own if value is not None)
        return f"Oracle({self.game!r}, {options})"

    def __reduce__(self) -> tuple[Callable[..., Oracle], tuple[Any, ...]]:
        return _rebuild, (self.game, _own_options(self.options))

    def _new_session(self, n_players: int, player_names: tuple[str, ...] | None) -> Session:
        names = check_names(player_names, n_players)
        return Session(self.game, replace(self.options, n_players=n_players, player_names=names), n_players)


def _own_options(options: Options) -> dict[str, Any]:
    """Return the options that `Oracle` takes; the number of outputs is an attribute of the game."""
    return {name: value for name, value in vars(options).items() if name != "n_outputs"}


def _given_or_attribute(given: Any, game: Game, name: str, default: Any = None) -> Any:
    return getattr(game, name, default) if given is None else given


def _check_names(names: Any, n_players: int | None) -> tuple[str, ...] | None:
    """Return the players' names as a tuple; their number is checked once it is known."""
    if names is not None and n_players is None:
        if isinstance(names, str) or not isinstance(names, Iterable):
            refuse("player_names", names, must_be="one name per player")
        names = tuple(names)
        n_players = len(names)
    return check_names(names, n_players or 0)


def _as_store(store: Any, game: Game) -> Store | None:
    """Return a store given as such or as a path; a path needs a game with a fingerprint."""
    if store is None:
        return None
    if isinstance(store, str | os.PathLike):
        store = Store(store)
    if not isinstance(store, Store):
        refuse("store", store, must_be="a path, a Store or None")
    if store.game is None and getattr(game, "fingerprint", None) is None:
        must_be = (
            "a Store with a name for the game, Store(path, game='my-game-v1'), since the game has no attribute "
            "'fingerprint' that identifies it"
        )
        refuse("store", str(store.path), must_be=must_be)
    return store


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _rebuild(game: Game, options: dict[str, Any]) -> Oracle:
    return Oracle(game, **options)
