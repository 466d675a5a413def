"""identify and aidentify: the front doors for any value function."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from topshap.core.errors import RaceError
from topshap.core.race import Race
from topshap.core.validation import check_choice, check_int, front_door, is_async, refuse, resolve_n_players
from topshap.evaluation import Oracle
from topshap.evaluation.interrupts import undivided
from topshap.show.progress import view

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from topshap.algorithms import Algorithm
    from topshap.core.ledger import Counting
    from topshap.core.result import TopK
    from topshap.core.stopping import Criterion, Guarantee
    from topshap.core.typing import Game
    from topshap.evaluation import Store
    from topshap.show.progress import Progress
    from topshap.statistics.ranking import RankBy

logger = logging.getLogger("topshap")

OnInterrupt: TypeAlias = Literal["return", "raise"]


@front_door
def identify(
    game: Game,
    n_players: int | None = None,
    k: int | None = None,
    *,
    budget: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.05,
    guarantee: Guarantee = "asymptotic",
    value_range: tuple[float, float] | None = None,
    stop: Criterion | Callable[[Race], bool] | None = None,
    algorithm: str | Algorithm[Any] = "auto",
    rank_by: RankBy = "value",
    counting: Counting = "distinct",
    player_names: Iterable[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    progress: Progress = False,
    callback: Callable[[Race], object] | None = None,
    on_interrupt: OnInterrupt = "return",
) -> TopK:
    """Find the k players with the highest Shapley values.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n), one coalition a row, to m numbers. If its values vary from call
        to call, it says so by an attribute ``deterministic`` that is False; then repeats are evaluated and paid for.
        A `topshap.Oracle` says besides how it is evaluated: attempts, time limits, sizes of batches.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    k
        How many players to find.
    budget
        How many evaluations may be spent, at least 2. By default 50 per player, or all 2**n coalitions if that is less;
        no limit if `epsilon` or `stop` is given. Without a limit it ends at the latest when all coalitions are known,
        unless every access is paid for (``counting="calls"``, or values that vary).
    epsilon
        Stop as soon as nobody left out is ahead of anyone in the returned set by more than `epsilon`, with probability
        at least 1 - `delta`; its inclusion-exclusion error is then at most `epsilon` (see `topshap.metrics`). In the
        unit of the values. With a budget too, whichever comes first.
    delta
        The allowed probability of being wrong about that. Used only with `epsilon`.
    guarantee
        What that probability has to rest on. Used only with `epsilon`. ``"asymptotic"``: on bounds that hold for
        large samples, with every pair of players and every look paid for. ``"credible"``: on the estimates being
        normal with the covariance they show, which takes the fewest evaluations and is no guarantee. ``"exact"``: on
        bounds that hold for any number of samples, given the `value_range`; without one, on knowing every coalition
        that matters. In ``"cmcs"``, ``"greedy-cmcs"``, ``"cmcs@k"`` and ``"samplingshap@k"`` their published rule takes
        the place of ``"asymptotic"``; it is no guarantee, and the result says so.
    value_range
        The lowest and the highest value that a coalition may have. A value outside is an error.
    stop
        What else ends it, after the batch in which it is met: a criterion from `topshap.stopping`, for example
        ``TimeLimit(60)``, several of them composed with ``&`` and ``|``, or a function of the `Race`. Budget and
        `epsilon` hold as well: whichever comes first.
    algorithm
        ``"auto"``, one of `topshap.algorithms.ALGORITHMS`, or an algorithm with parameters of your own.
    rank_by
        ``"value"``: the players with the highest Shapley values. ``"magnitude"``: those with the largest, whether they
        raise the value or lower it, as for the features behind a prediction; not together with `epsilon`, nor in
        algorithms whose choices depend on who is next to the border, except ``"odd-gp"``.
    counting
        ``"distinct"``: a coalition is paid for once, repeats are free, and when all coalitions are known the answer is
        exact. ``"calls"``: every access counts, as in published comparisons, except further ones to the empty and
        the grand coalition.
    player_names
        One name per player; by default the game's attribute ``player_names``, if it has one.
    random_state
        A seed or a numpy Generator. The same seed gives the same result, bit for bit.
    n_jobs
        How many workers evaluate at the same time; None means as joblib's context says. The result is the same for
        any number.
    store
        A file in which every value is kept as soon as it is known, so that nothing is paid for twice: a path, for a
        game with an attribute ``fingerprint``, or a `topshap.Store` with a name for the game. The same call after a
        crash goes on where it ended, and one with a larger budget pays only for what is new.
    progress
        Whether to show a progress bar, with the extra ``topshap[progress]``; or ``"live"`` for a leaderboard that
        reorders as evidence comes in, with the extra ``topshap[live]``, where standard error is a terminal.
    callback
        A function of the `Race`, called after every batch. If it returns True the run ends there, with
        ``stopped="interrupted"``.
    on_interrupt
        What Ctrl-C does once the empty and the grand coalition are known: ``"return"`` the result so far, with
        ``stopped="interrupted"``, or ``"raise"`` the KeyboardInterrupt.

    Returns
    -------
    TopK
        The players found, all estimates, how sure they are and what they cost.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> def game(coalitions):
    ...     return coalitions @ np.array([3.0, 1.0, 2.0, 0.0]) + coalitions[:, 0] * coalitions[:, 1]
    >>> topshap.identify(game, n_players=4, k=2, random_state=0).players
    array([0, 2])
    """
    check_choice("on_interrupt", on_interrupt, ("return", "raise"))
    if callback is not None and not callable(callback):
        refuse("callback", callback, must_be="a function of the race or None")
    oracle = as_oracle(game, n_jobs=n_jobs, store=store)
    if _is_async_game(oracle.game):
        refuse("game", oracle.game, must_be="no async function; for these there is aidentify")
    race = Race(
        resolve_n_players(oracle, n_players),
        k,  # type: ignore[arg-type]  # None is refused there like any other wrong value
        budget=budget,
        epsilon=epsilon,
        delta=delta,
        guarantee=guarantee,
        value_range=value_range,
        stop=stop,
        algorithm=algorithm,
        rank_by=rank_by,
        counting=counting,
        deterministic=oracle.deterministic,
        player_names=getattr(oracle.game, "player_names", None) if player_names is None else player_names,
        random_state=random_state,
    )
    try:
        _drive(race, oracle, progress=progress, callback=callback)
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        try:
            top = race.result()
        except RaceError:  # nothing is known yet
            raise KeyboardInterrupt from None
        logger.warning("interrupted after %d evaluations", top.evaluations)
        return top
    return race.result()


def as_oracle(
    game: Any,
    *,
    n_jobs: int | None = None,
    store: Store | str | os.PathLike[str] | None = None,
) -> Oracle:
    """Return a game as an oracle, with the options that are given on top of its own."""
    if not isinstance(game, Oracle):
        return Oracle(game, n_jobs=n_jobs, store=store)
    given = {name: value for name, value in (("n_jobs", n_jobs), ("store", store)) if value is not None}
    return game.with_options(**given) if given else game


def says_stop(callback: Callable[[Race], object] | None, race: Race) -> bool:
    """Return whether there is a callback and it says that the race is to end."""
    said = None if callback is None else callback(race)
    return isinstance(said, bool | np.bool_) and bool(said)


def _is_async_game(game: Any) -> bool:
    """Return whether the game, or the function it was made of, is a coroutine."""
    return getattr(game, "is_async", False) is True or any(map(is_async, (game, getattr(game, "function", None))))


def _drive(race: Race, oracle: Oracle, *, progress: Progress, callback: Callable[[Race], object] | None) -> None:
    """Let the oracle answer what the race asks until it is over or the callback ends it."""
    with (
        view(race, progress) as bar,
        oracle.run(race.n_players, race.player_names) as evaluate,
    ):
        if bar is not None:
            evaluate.on_arrival = bar.arrived
        while not race.done:
            values = evaluate(race.ask())
            with undivided():
                race.tell(values)
            if bar is not None:
                bar.told()
            if says_stop(callback, race):
                return


@front_door
async def aidentify(
    game: Any,
    n_players: int | None = None,
    k: int | None = None,
    *,
    budget: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.05,
    guarantee: Guarantee = "asymptotic",
    value_range: tuple[float, float] | None = None,
    stop: Criterion | Callable[[Race], bool] | None = None,
    algorithm: str | Algorithm[Any] = "auto",
    rank_by: RankBy = "value",
    counting: Counting = "distinct",
    player_names: Iterable[str] | None = None,
    random_state: Any = None,
    concurrency: int = 8,
    store: Store | str | os.PathLike[str] | None = None,
    progress: Progress = False,
    callback: Callable[[Race], object] | None = None,
) -> TopK:
    """Find the k players with the highest Shapley values of a game that is a coroutine.

    It is `identify` for ``async def`` games, with several calls under way at a time. The result is the same for any
    number of them. When it is cancelled, everything that has arrived is in the store.

    Parameters
    ----------
    game
        An async function from a bool array of shape (m, n) to m numbers; unless a `topshap.Oracle` around it says
        otherwise by its ``batch_size``, m is 1. A coroutine of one coalition, a bool array of shape (n,), becomes a
        game by `topshap.games.per_coalition`.
    n_players, k, budget, epsilon, delta, guarantee, value_range, stop, algorithm, rank_by, counting
        As in `identify`.
    player_names, random_state
        As in `identify`.
    concurrency
        How many calls may be under way at the same time.
    store, progress, callback
        As in `identify`.

    Returns
    -------
    TopK
        The players found, all estimates, how sure they are and what they cost.

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
    import asyncio  # noqa: PLC0415 - so that importing topshap stays quick

    from topshap.evaluation import async_evaluation  # noqa: PLC0415 - it needs asyncio

    if callback is not None and not callable(callback):
        refuse("callback", callback, must_be="a function of the race or None")
    concurrency = check_int("concurrency", concurrency, low=1)
    oracle = as_oracle(game, store=store)
    race = Race(
        resolve_n_players(oracle, n_players),
        k,  # type: ignore[arg-type]  # None is refused there like any other wrong value
        budget=budget,
        epsilon=epsilon,
        delta=delta,
        guarantee=guarantee,
        value_range=value_range,
        stop=stop,
        algorithm=algorithm,
        rank_by=rank_by,
        counting=counting,
        deterministic=oracle.deterministic,
        player_names=getattr(oracle.game, "player_names", None) if player_names is None else player_names,
        random_state=random_state,
    )
    with (
        view(race, progress) as bar,
        oracle.run(race.n_players, race.player_names) as session,
    ):
        if bar is not None:
            session.on_arrival = bar.arrived
        while not race.done:
            values = await async_evaluation.evaluate(session, oracle.game, race.ask(), concurrency)
            # In a thread, since what an algorithm makes of the values may take longer than an event loop should wait.
            await asyncio.to_thread(race.tell, values)
            if bar is not None:
                bar.told()
            if says_stop(callback, race):
                break
    return race.result()
