"""identify and aidentify: the entry points for any value function."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from topshap.core.errors import RaceError, RareContributionsWarning, warn_caller
from topshap.core.options import RaceOptions, refuse_unknown, takes_options
from topshap.core.player_values import check_player_values
from topshap.core.race import Race
from topshap.core.validation import check_choice, check_int, front_door, is_async, refuse, resolve_n_players
from topshap.driving import adrive, drive
from topshap.evaluation import Oracle
from topshap.show.wording import describe_rare_contributions
from topshap.side_information import side_information_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Unpack

    from topshap.core.clear_gap import HowMany
    from topshap.core.result import TopK
    from topshap.core.typing import Game
    from topshap.evaluation import Store
    from topshap.show.progress import Progress

logger = logging.getLogger("topshap")

OnInterrupt: TypeAlias = Literal["return", "raise"]


class RunOptions(RaceOptions, total=False):
    """The options of `identify`: those of a race, and those of the evaluation."""

    n_jobs: int | None
    store: Store | str | os.PathLike[str] | None
    progress: Progress
    callback: Callable[[Race], object] | None
    on_interrupt: OnInterrupt
    check_deterministic: bool


@front_door
@takes_options
def identify(
    game: Game,
    n_players: int | None = None,
    k: HowMany | None = None,
    *,
    n_jobs: int | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    progress: Progress = False,
    callback: Callable[[Race], object] | None = None,
    on_interrupt: OnInterrupt = "return",
    check_deterministic: bool = False,
    **options: Unpack[RaceOptions],
) -> TopK:
    """Find the k players with the highest Shapley values.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n), one coalition per row, to m numbers, or to an array of shape
        (m, R) for R outputs of each coalition, such as the classes of a classifier. If its values vary from call to
        call, it needs an attribute ``deterministic`` that is False; every access is then a new evaluation. Wrap it in
        a `topshap.Oracle` to set retries, timeouts and batch sizes.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    k
        The number of players to find, or of pairs with ``order=2``. ``"clear"`` lets the run choose it: with `epsilon`,
        it stops at the first gap in the ranking that is clear, so that every player in the set is ahead of every other
        by at least `epsilon`, with probability at least 1 - `delta`. If the budget ends earlier, k is the size closest
        to a clear gap.
    n_jobs
        The number of parallel workers, -1 for one per processor. None means the number of joblib's context, and no
        workers without a context. The result is the same for any number.
    store
        A file that keeps every value as soon as it is known, so that no coalition is evaluated twice: a path, for a
        game with an attribute ``fingerprint``, or a `topshap.Store` with a name for the game. After a crash, the same
        call continues where it stopped. A call with a larger budget evaluates only new coalitions.
    progress
        Whether to show a progress bar, which needs the extra ``topshap[progress]``; or ``"live"`` for a leaderboard
        that is updated during the run, which needs the extra ``topshap[live]`` and a terminal as standard error.
    callback
        A function of the `Race`, called after every batch and about once a second within a large one (or after 100
        evaluations, if these take longer). If it returns True, the run ends with ``stopped="interrupted"``. Within a
        batch `Race.evaluations` counts the values that have arrived; the standing changes when the batch is complete.
    on_interrupt
        The effect of Ctrl-C once the empty and the grand coalition are known: ``"return"`` the result so far, with
        ``stopped="interrupted"``, or ``"raise"`` the KeyboardInterrupt. The result uses all values that have arrived,
        including those of an incomplete batch. If nothing is known about the players yet, `TopK.learned` is False.
    check_deterministic
        Whether to evaluate three coalitions of the first batch a second time and to issue a `NoisyGameWarning` if a
        value differs. The repeats are not counted as evaluations and may exceed the budget.
    **options
        The options of a race, see `topshap.RaceOptions`: budget, epsilon, delta, guarantee, value_range,
        stop, algorithm, order, rank_by, counting, player_names, random_state.

    Returns
    -------
    TopK
        The players found, all estimates, their uncertainty and their cost. For a game with several outputs it is a
        `TopKs`, a sequence with one `TopK` per output; with ``order=2`` a `TopPairs`.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> def game(coalitions):
    ...     return coalitions @ np.array([3.0, 1.0, 2.0, 0.0]) + coalitions[:, 0] * coalitions[:, 1]
    >>> topshap.identify(game, n_players=4, k=2, random_state=0).players
    array([0, 2])
    """
    refuse_unknown(options, identify)
    check_choice("on_interrupt", on_interrupt, ("return", "raise"))
    oracle = as_oracle(game, n_jobs=n_jobs, store=store, check_deterministic=check_deterministic or None)
    if _is_async_game(oracle.game):
        refuse("game", oracle.game, must_be="a synchronous function; use aidentify for async functions")
    race = _race_for(oracle, n_players, k, callback, options)
    try:
        drive(race, oracle, progress=progress, callback=callback)
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        try:
            top = race.result()
        except RaceError:  # nothing is known yet
            raise KeyboardInterrupt from None
        logger.warning("interrupted after %d evaluations", top.evaluations)
        return top
    return with_warning(race.result())


@front_door
@takes_options
async def aidentify(
    game: Any,
    n_players: int | None = None,
    k: HowMany | None = None,
    *,
    concurrency: int = 8,
    store: Store | str | os.PathLike[str] | None = None,
    progress: Progress = False,
    callback: Callable[[Race], object] | None = None,
    check_deterministic: bool = False,
    **options: Unpack[RaceOptions],
) -> TopK:
    """Find the k players with the highest Shapley values of an async game.

    This is `identify` for ``async def`` games, with several calls in flight at a time. The result does not depend on
    their number.

    If its task is cancelled, as by `asyncio.timeout` or Ctrl-C in `asyncio.run`, it raises the CancelledError and has
    no result. Calls in flight are cancelled, and no others are made. The values of all calls that have finished are in
    the `store`, so that the same call continues where this one ended; without a store they are lost. To end a run with
    a result, pass ``stop=TimeLimit(seconds)`` or a callback that returns True.

    Parameters
    ----------
    game
        An async function from a bool array of shape (m, n) to m numbers; m is 1 unless a `topshap.Oracle` around it
        sets a ``batch_size``. For an async function of one coalition, a bool array of shape (n,), use
        `topshap.games.per_coalition`; it is called with one coalition at a time, whatever the ``batch_size``.
    n_players, k
        As in `identify`.
    concurrency
        The number of calls that may be in flight at the same time.
    store, progress, callback, check_deterministic
        As in `identify`.
    **options
        The options of a race, as in `identify`.

    Returns
    -------
    TopK
        The players found, all estimates, their uncertainty and their cost; a `TopKs` for a game with several outputs.

    Examples
    --------
    >>> import asyncio
    >>> import topshap
    >>> async def worth(coalition):
    ...     await asyncio.sleep(0.001)
    ...     return 3.0 * coalition[0] + 2.0 * coalition[2] + coalition[1] * coalition[3]
    >>> game = topshap.games.per_coalition(worth, n_players=4)
    >>> asyncio.run(topshap.aidentify(game, k=2, random_state=0)).players
    array([0, 2])
    """
    refuse_unknown(options, aidentify)
    concurrency = check_int("concurrency", concurrency, low=1)
    oracle = as_oracle(game, store=store, check_deterministic=check_deterministic or None)
    race = _race_for(oracle, n_players, k, callback, options)
    await adrive(race, oracle, concurrency=concurrency, progress=progress, callback=callback)
    return with_warning(race.result())


def with_warning(top: TopK) -> TopK:
    """Return a result, and issue a warning if its intervals and confidence may be too optimistic."""
    if np.any(top.rare_contributions):  # one per output, if there are several
        warn_caller(describe_rare_contributions(top), RareContributionsWarning)
    return top


def _race_for(
    oracle: Oracle, n_players: int | None, k: Any, callback: Callable[[Race], object] | None, options: RaceOptions
) -> Race:
    """Return the race for an oracle's game, with its players' values, and their names unless others are given."""
    if callback is not None and not callable(callback):
        refuse("callback", callback, must_be="a function of the race or None")
    n = resolve_n_players(oracle, n_players)
    if options.get("player_names") is None:
        options["player_names"] = oracle.player_names
    outputs: dict[str, Any] = {"n_outputs": oracle.n_outputs, "output_names": oracle.output_names}
    side = side_information_of(oracle.game, n, options)
    race = Race(n, k, deterministic=oracle.deterministic, side_information=side, **outputs, **options)
    race.player_values = check_player_values(getattr(oracle.game, "player_values", None), n)
    name = getattr(oracle.game, "output_name", None)
    race.output_name = None if name is None else str(name)
    return race


def as_oracle(
    game: Any,
    *,
    n_jobs: int | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    check_deterministic: bool | None = None,
) -> Oracle:
    """Return a game as an oracle; if it is an oracle already, the options given here replace its own."""
    options = {"n_jobs": n_jobs, "store": store, "check_deterministic": check_deterministic}
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if not isinstance(game, Oracle):
        return Oracle(game, **given)
    return game.with_options(**given) if given else game


def _is_async_game(game: Any) -> bool:
    """Return whether the game, or the function it was made from, is a coroutine function."""
    return getattr(game, "is_async", False) is True or any(map(is_async, (game, getattr(game, "function", None))))
