"""identify: the front door for any value function."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from topshap._validation import refuse, resolve_n_players
from topshap.progress import progress_bar
from topshap.race import Race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topshap.algorithms import Algorithm
    from topshap.ledger import Counting
    from topshap.result import TopK
    from topshap.stopping import Criterion, Guarantee
    from topshap.typing import Game


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
    counting: Counting = "distinct",
    player_names: Iterable[str] | None = None,
    random_state: Any = None,
    progress: bool = False,
) -> TopK:
    """Find the k players with the highest Shapley values.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n), one coalition a row, to m numbers. If its values vary from call
        to call, it says so by an attribute ``deterministic`` that is False; then repeats are evaluated and paid for.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    k
        How many players to find.
    budget
        How many evaluations may be spent, at least 2. By default 50 per player, or all 2**n coalitions if that is less;
        no limit if `epsilon` or `stop` is given. Without a limit it ends at the latest when all coalitions are known,
        unless every access is paid for (``counting="calls"``, or values that vary).
    epsilon
        Stop as soon as the returned set has an inclusion-exclusion error of at most `epsilon`, with a probability of
        at least 1 - `delta`. With a budget too, whichever comes first.
    delta
        The allowed probability of a larger error. Used only with `epsilon`.
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
    counting
        ``"distinct"``: a coalition is paid for once, repeats are free, and when all coalitions are known the answer is
        exact. ``"calls"``: every access counts, as in published comparisons, except further ones to the empty and
        the grand coalition.
    player_names
        One name per player; by default the game's attribute ``player_names``, if it has one.
    random_state
        A seed or a numpy Generator. The same seed gives the same result, bit for bit.
    progress
        Whether to show a progress bar. Needs the extra ``topshap[progress]``.

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
    if not callable(game):
        refuse(
            "game",
            game,
            owner="identify",
            must_be="a callable from a bool array of shape (m, n) to m numbers",
        )
    race = Race(
        resolve_n_players(game, n_players, owner="identify"),
        k,  # type: ignore[arg-type]  # None is refused there like any other wrong value
        budget=budget,
        epsilon=epsilon,
        delta=delta,
        guarantee=guarantee,
        value_range=value_range,
        stop=stop,
        algorithm=algorithm,
        counting=counting,
        deterministic=bool(getattr(game, "deterministic", True)),
        player_names=getattr(game, "player_names", None) if player_names is None else player_names,
        random_state=random_state,
        _owner="identify",
    )
    with progress_bar(race) if progress else nullcontext(_nothing) as show:
        while not race.done:
            race.tell(game(race.ask()))
            show()
    return race.result()


def _nothing() -> None:
    """Show nothing."""
