"""The options of a race: the single list of the parameters that all entry points share.

`identify`, `aidentify`, `Race`, `Explainer` and `TopKSelector` take them as keyword arguments. To add an option, add it
to `RaceOptions` (name, type and documentation) and to `CheckedOptions` (default and check).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from topshap.core.pairs import ORDERS
from topshap.core.stopping import GUARANTEES, Criterion, When
from topshap.core.validation import (
    check_bool,
    check_choice,
    check_delta,
    check_int,
    check_range,
    check_real,
    did_you_mean,
    refuse,
)
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from topshap.core.algorithm import Algorithm
    from topshap.core.ledger import Counting
    from topshap.core.race import Race
    from topshap.core.stopping import Guarantee
    from topshap.statistics.ranking import RankBy


class RaceOptions(TypedDict, total=False):
    """The options of a race; all of them are optional."""

    budget: int | None
    """The number of evaluations that may be spent, at least 2. By default 50 per player, or all 2**n coalitions if
    that is less; no limit if `epsilon` or `stop` is given. Without a limit the race ends at the latest when all
    coalitions are known, unless every access counts (``counting="calls"``, or values that vary)."""
    epsilon: float | None
    """Stop as soon as no player left out is ahead of a player in the set by more than `epsilon`, with probability at
    least 1 - `delta`. The inclusion-exclusion error of the set is then at most `epsilon` (see `topshap.metrics`), in
    units of the value. If there is a budget too, the race ends at whichever comes first. With ``k="clear"`` it is the
    smallest gap that counts: all players in the set are then ahead of all others by at least `epsilon`."""
    delta: float
    """The allowed probability of an error larger than `epsilon`; 0.05 by default. Used only with `epsilon`."""
    guarantee: Guarantee | None
    """The assumption behind that probability. Used only with `epsilon`. ``"asymptotic"``: bounds that hold for large
    samples, corrected for every pair of players and every look. ``"credible"``: the estimates are normal with their
    estimated covariance; this takes the fewest evaluations and is not a guarantee. ``"exact"``: bounds that hold for
    any number of samples, given the `value_range`; without one, all coalitions that matter are evaluated.
    ``"published"``: the rule that ``"cmcs"``, ``"greedy-cmcs"``, ``"cmcs@k"`` and ``"samplingshap@k"`` were published
    with; it is not a guarantee at level `delta`. By default ``"asymptotic"``; with one of these four algorithms, or
    with ``"auto"`` beyond 2000 players, ``"published"`` and a `PublishedRuleWarning`. In a game with several outputs
    it is about each output by itself, and the default of ``"auto"`` is ``"credible"``."""
    value_range: tuple[float, float] | None
    """The lowest and the highest value that a coalition may have. A value outside is an error."""
    stop: Criterion | Callable[[Race], bool] | None
    """Another criterion that ends the race, after the batch in which it is met: one from `topshap.stopping`, for
    example ``TimeLimit(60)``, several of them composed with ``&`` and ``|``, or a function of the `Race`. Time limits
    are also checked within large batches. Budget and `epsilon` apply as well: the race ends at the first of them."""
    algorithm: str | Algorithm[Any]
    """``"auto"`` (the default), one of `topshap.algorithms.ALGORITHMS`, or an algorithm object with its parameters."""
    order: int
    """1 (the default) ranks players by their Shapley values. 2 ranks pairs of players by their Shapley interaction
    index: the average gain of having both beyond the gains of each. The result is then a `TopPairs`."""
    rank_by: RankBy | None
    """``"value"`` (the default for players): the players with the highest Shapley values. ``"magnitude"`` (the default
    for pairs): those with the largest absolute values, as for the features behind a prediction; not with algorithms
    whose choices depend on the players next to the border, except ``"odd-gp"`` and ``"odd-gp@k"``, nor with
    ``guarantee="published"``. ``"lowest"``: those with the lowest values, such as the most harmful training points, or
    the features that lower a prediction."""
    ordered: bool
    """Whether the order of the k players matters; False by default. With `epsilon`, the race then stops as soon as no
    player is ahead of one that is listed before it by more than `epsilon`, which takes more evaluations than the set
    alone. Only with `epsilon`, or a budget for all coalitions; with ``"odd-gp@k"``, or with ``guarantee="credible"``
    and an algorithm that samples all players equally."""
    counting: Counting
    """``"distinct"`` (the default): a coalition counts once, repeats are free, and the result is exact when all
    coalitions are known. ``"calls"``: every access counts, as in published comparisons, except repeated ones to the
    empty and the grand coalition."""
    player_names: Iterable[str] | None
    """One name per player; by default the game's attribute ``player_names``, if it has one."""
    random_state: Any
    """A seed or a numpy Generator. The same seed gives the same result, bit for bit."""


@dataclass(frozen=True, kw_only=True)
class CheckedOptions:
    """The options of a race with their defaults, each checked on its own; see `RaceOptions`."""

    budget: int | None = None
    epsilon: float | None = None
    delta: float = 0.05
    guarantee: Guarantee | None = None
    value_range: tuple[float, float] | None = None
    stop: Any = None
    algorithm: Any = "auto"
    order: int = 1
    rank_by: Any = None  # replaced by the default of the order
    ordered: bool = False
    counting: Counting = "distinct"
    player_names: Any = None
    random_state: Any = None

    def __post_init__(self) -> None:
        self._replace("delta", check_delta(self.delta))
        if self.guarantee is not None:
            check_choice("guarantee", self.guarantee, GUARANTEES)
        self._replace("order", check_int("order", self.order, low=ORDERS[0], high=ORDERS[-1]))
        if self.rank_by is None:
            self._replace("rank_by", default_rank_by(self.order))
        check_choice("rank_by", self.rank_by, RANK_BY)
        self._replace("ordered", check_bool("ordered", self.ordered))
        check_choice("counting", self.counting, ("distinct", "calls"))
        if self.budget is not None:
            self._replace("budget", check_int("budget", self.budget, low=2))
        if self.epsilon is not None:
            self._replace("epsilon", check_real("epsilon", self.epsilon, low=0.0))
        if self.value_range is not None:
            self._replace("value_range", check_range("value_range", self.value_range))
        self._replace("stop", _as_criterion(self.stop))

    def _replace(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def default_rank_by(order: int) -> RankBy:
    """Return the default order of the candidates: interactions that lower the value matter as much as others.

    Examples
    --------
    >>> default_rank_by(1), default_rank_by(2)
    ('value', 'magnitude')
    """
    return "value" if order == 1 else "magnitude"


def _as_criterion(stop: Any) -> Criterion | None:
    if stop is None or isinstance(stop, Criterion):
        return stop
    if not callable(stop) or isinstance(stop, type):
        refuse("stop", stop, must_be="a Criterion, a function of the race or None")
    return When(stop)


_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_Door = TypeVar("_Door", bound="Callable[..., Any]")
OPTION_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(CheckedOptions)}


def takes_options(door: _Door) -> _Door:
    """List the options of a race in the signature of a function that takes them as ``**options``.

    `help`, notebooks and scikit-learn read the signature. `refuse_unknown` checks the names.
    """
    race = {name: inspect.Parameter(name, _KEYWORD_ONLY, default=value) for name, value in OPTION_DEFAULTS.items()}
    return lists_options(race)(door)


def lists_options(options: Mapping[str, inspect.Parameter]) -> Callable[[_Door], _Door]:
    """List keyword parameters in the signature of a function that takes them as ``**options``, after its own."""

    def with_options(door: _Door) -> _Door:
        signature = inspect.signature(door)
        own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        listed = [parameter for name, parameter in options.items() if name not in signature.parameters]
        door.__signature__ = signature.replace(parameters=[*own, *listed])  # type: ignore[attr-defined]
        return door

    return with_options


def keyword_options(door: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the keyword-only parameters of an entry point, by name."""
    parameters = inspect.signature(door).parameters
    return {name: parameter for name, parameter in parameters.items() if parameter.kind is _KEYWORD_ONLY}


def refuse_unknown(names: Iterable[str], door: Callable[..., Any]) -> None:
    """Raise a TypeError for a keyword that an entry point does not take, and suggest the closest one."""
    if OPTION_DEFAULTS.keys() >= set(names):  # the usual case, without reading a signature, which is slow
        return
    known = inspect.signature(door).parameters
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise TypeError(f"{door.__name__}() got an unexpected keyword argument {name!r}.{hint}")
