"""aidentify: the front door for value functions that are coroutines, as calls of LLMs and of other services are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap._validation import check_int, refuse, resolve_n_players
from topshap.identify import as_oracle, says_stop
from topshap.progress import view
from topshap.race import Race

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from topshap.algorithms import Algorithm
    from topshap.ledger import Counting
    from topshap.oracle import Store
    from topshap.progress import Progress
    from topshap.result import TopK
    from topshap.statistics.merit import RankBy
    from topshap.stopping import Criterion, Guarantee


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

    from topshap.oracle import aio  # noqa: PLC0415 - it needs asyncio

    if callback is not None and not callable(callback):
        refuse("callback", callback, owner="aidentify", must_be="a function of the race or None")
    concurrency = check_int("concurrency", concurrency, owner="aidentify", low=1)
    oracle = as_oracle(game, store=store, owner="aidentify")
    race = Race(
        resolve_n_players(oracle, n_players, owner="aidentify"),
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
        _owner="aidentify",
    )
    with (
        view(race, progress, owner="aidentify") as bar,
        oracle.run(race.n_players, race.player_names) as session,
    ):
        if bar is not None:
            session.on_arrival = bar.arrived
        while not race.done:
            values = await aio.evaluate(session, oracle.game, race.ask(), concurrency)
            # In a thread, since what an algorithm makes of the values may take longer than an event loop should wait.
            await asyncio.to_thread(race.tell, values)
            if bar is not None:
                bar.told()
            if says_stop(callback, race):
                break
    return race.result()
