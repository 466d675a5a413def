"""Many rows: which of them share their coalitions, and their results in one sequence.

Rows that share are the outputs of one game (`topshap.games.PredictionsGame`): every coalition is evaluated for all of
them, and one Gaussian process with one factorisation serves all. Players that are known dummies of a row are not
played: rows with the same dummies share a smaller game, and are enumerated where the budget covers it. With one
background row there are many such parts with few rows each: these have coalitions of their own, and share only the fit
of the hyper-parameters and the calls of the model (`topshap.pooled_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.known_dummies import players_to_play, tops_with_dummies, with_dummies
from topshap.core.limits import default_budget
from topshap.core.player_values import plain_value
from topshap.core.result import TopK
from topshap.core.validation import refuse
from topshap.entrypoints import identify
from topshap.evaluation.store.per_game import store_of_game
from topshap.games.active_players import ActivePlayers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from topshap.core.race import Race
    from topshap.core.results import TopKs
    from topshap.core.typing import Matrix, Players, Values

Share: TypeAlias = Literal["auto"] | bool
"""Whether rows share their coalitions."""

MIN_SHARED = 8
"""``share="auto"``: the smallest number of rows, or rows and outputs, that share their coalitions."""
MAX_PLAYERS = 200
"""``share="auto"``: the largest number of players, which is that of the shared Gaussian process."""
SHARING = ("auto", "odd-gp")
"""The algorithms that rows can share."""
MAX_POOLED_ROWS = 15
"""The largest part whose hyper-parameters are fitted together with those of other parts.

A fit of its own takes 25 to 40 ms, which is little for the rows of a larger part.
"""
MAX_VALUES = 2**22
"""The largest number of coalitions times rows of the parts that are evaluated together, which bounds memory."""
NOT_REFINED = ("callback", "check_deterministic", "value_range", "ordered")
"""Options of `topshap.identify` that rows in doubt cannot have, since they are not explained by a race."""


def shares(share: Any, options: Mapping[str, Any], *, n_values: int, n_players: int, budget: int) -> bool:
    """Return whether rows share their coalitions.

    ``"auto"`` shares from `MIN_SHARED` rows and outputs on and up to `MAX_PLAYERS` players, if the budget covers at
    least one pair of coalitions per player. With 10 rows, ``topshap-bench explain-tables`` prints less CPU time for
    the same accuracy than row by row in all set-ups with marginal imputation, unless all coalitions are evaluated;
    fewer rows were not measured. Races that stop by themselves, by `epsilon` or `stop`, are run row by row, since
    rows end at different times, and so are other algorithms than ``"odd-gp"``, and pairs (``order=2``).

    With one background row and a table of 200 rows, it prints mean errors relative to those row by row of 1.40, 1.39
    and 0.84 on adult (XGBoost) with 100, 250 and 500 evaluations, and 1.00, 1.33 and 1.02 on adult (MLP). On tables
    that no constant of this case was chosen with they are 0.98, 1.06 and 0.50 on bank (XGBoost), 0.98, 1.04 and 1.19 on
    german (MLP), and 1.10, 1.30 and 5.85 on titanic (LightGBM), where errors are tiny. The CPU time is smaller by a
    factor of 6.7 to 20 with 100 evaluations, and 3.6 to 13 with 500.

    Parameters
    ----------
    share
        ``"auto"``, True or False.
    options
        The options of `topshap.identify`.
    n_values
        The number of rows times the number of outputs.
    n_players, budget
        The number of players, and the evaluations per row.
    """
    if not (isinstance(share, bool) or (isinstance(share, str) and share == "auto")):
        refuse("share", share, must_be="'auto', True or False")
    for name in ("epsilon", "stop"):
        if options.get(name) is not None:
            if share is True:
                refuse("share", share, must_be=f"'auto' or False with {name!r}, since rows end at different times")
            return False
    if options.get("order", 1) != 1:
        if share is True:
            refuse("share", share, must_be="'auto' or False with order=2")
        return False
    algorithm = options.get("algorithm", "auto")
    if (algorithm if isinstance(algorithm, str) else getattr(algorithm, "name", None)) not in SHARING:
        if share is True:
            refuse("share", share, must_be=f"'auto' or False with algorithm={algorithm!r}; use 'odd-gp'")
        return False
    if share is not True and options.get("counting", "distinct") != "distinct":
        return False
    if isinstance(share, bool):
        return share
    return n_values >= MIN_SHARED and n_players <= MAX_PLAYERS and budget >= 2 * n_players + 2


def check_refine(options: Mapping[str, Any]) -> None:
    """Refuse options that refinement does not support."""
    for name in NOT_REFINED:
        if options.get(name):
            refuse("refine", True, must_be=f"False with {name!r}")
    if options.get("counting", "distinct") != "distinct":
        refuse("refine", True, must_be="False with counting='calls'")


class Part(NamedTuple):
    """Rows with the same known dummies."""

    rows: Players
    """The positions of the rows."""
    players: Players
    """The players that play."""


def parts_of(dummies: NDArray[np.bool_], k: int) -> list[Part]:
    """Divide rows by their known dummies, in the order of the first row of each part.

    Examples
    --------
    >>> dummies = np.array([[False, True], [False, False], [False, True]])
    >>> [(part.rows.tolist(), part.players.tolist()) for part in parts_of(dummies, k=1)]
    [([0, 2], [0]), ([1], [0, 1])]
    """
    _, first, part_of = np.unique(np.packbits(dummies, axis=1), axis=0, return_index=True, return_inverse=True)
    part_of = part_of.reshape(-1)
    return [
        Part(np.flatnonzero(part_of == part_of[row]), players_to_play(dummies[row], k, guaranteed=False))
        for row in np.sort(first)
    ]


def divided(parts: Sequence[Part], budget: int) -> Iterator[list[Part]]:
    """Divide parts among blocks whose coalitions are evaluated together, with a bounded number of values.

    Examples
    --------
    >>> parts = [Part(np.array([row]), np.arange(20)) for row in range(5)]
    >>> [len(block) for block in divided(parts, budget=2**20)]
    [2, 2, 1]
    """
    block: list[Part] = []
    rows = coalitions = 0
    for part in parts:
        rows += len(part.rows)
        coalitions += min(budget, 2 ** len(part.players))
        if block and rows * coalitions > MAX_VALUES:
            yield block
            block, rows, coalitions = [], len(part.rows), min(budget, 2 ** len(part.players))
        block.append(part)
    if block:
        yield block


class TogetherRun:
    """A run in which rows share their coalitions, part by part.

    Parameters
    ----------
    game_of
        A function from positions of rows to their game.
    n_rows
        The number of rows.
    k
        The number of players to find for each row.
    options
        The options of `topshap.identify`.
    refine
        Whether rows in doubt get coalitions of their own, see `topshap.refined_rows`.
    """

    def __init__(
        self,
        game_of: Callable[[Players], Any],
        n_rows: int,
        k: int,
        options: Mapping[str, Any],
        *,
        refine: bool = False,
    ) -> None:
        self._game_of, self._k, self._options, self._refine = game_of, k, dict(options), refine
        if refine:
            check_refine(options)
        self._store, self._progress = self._options.pop("store", None), self._options.pop("progress", False)
        self._callback = self._options.pop("callback", None)
        self._options.pop("player_names", None)  # those of a part may be fewer; results get them at the end
        self.game = game_of(np.arange(n_rows))
        """The game of all rows."""
        self._parts = parts_of(self.game.dummies, k)
        if len(self._parts) > 1:  # the other parts have no result
            self._options.setdefault("on_interrupt", "raise")
        self._done, self._n_rows = 0, n_rows

    def explain(self) -> list[Explained]:
        """Return the results of all parts."""
        if not self._progress:
            return self._explained(None)
        tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
        with tqdm(total=self._n_rows, unit="row") as bar:
            return self._explained(bar)

    def _explained(self, bar: Any) -> list[Explained]:
        def show(parts: Sequence[Part]) -> Callable[[float], object] | None:
            return None if bar is None else partial(self._show, bar, sum(len(part.rows) for part in parts))

        pooled = [part for part in self._parts if self._is_pooled(part)] if self._pools else []
        if len(pooled) < 2:
            return [self._of_part(part, show([part])) for part in self._parts]
        budget = self._options.get("budget") or default_budget(self.game.n_players)
        found = [each for block in divided(pooled, budget) for each in self._of_pooled(block, show(block))]
        return found + [self._of_part(part, show([part])) for part in self._parts if not self._is_pooled(part)]

    @property
    def _pools(self) -> bool:
        """Whether small parts are evaluated and fitted together: with one background row, and without a race."""
        options = self._options
        return (
            self.game.n_replacing == 1
            and not (self._refine or self._callback is not None or any(options.get(name) for name in NOT_REFINED))
            and options.get("algorithm", "auto") in SHARING
            and options.get("counting", "distinct") == "distinct"
        )

    def _is_pooled(self, part: Part) -> bool:
        n = len(part.players)
        budget = self._options.get("budget") or default_budget(n)
        enough = budget >= min(2 * n + 2, 2 ** min(n, 30))
        return len(part.rows) <= MAX_POOLED_ROWS and n <= MAX_PLAYERS and enough

    def _of_pooled(self, parts: Sequence[Part], show: Callable[[float], object] | None) -> list[Explained]:
        """Return the results of parts that are evaluated and fitted together."""
        from topshap.pooled_rows import PooledRows  # noqa: PLC0415 - it imports slow parts of scipy

        rows = np.concatenate([part.rows for part in parts])
        own = np.split(np.arange(len(rows)), np.cumsum([len(part.rows) for part in parts])[:-1])
        game, players = self._game_of(rows), [part.players for part in parts]
        options = self._options | {"store": self._store}
        results = PooledRows(game, own, players, k=self._k, options=options, on_progress=show).explain()
        self._done += len(rows)
        return [Explained(part, each) for part, each in zip(parts, results, strict=True)]

    def _of_part(self, part: Part, show: Callable[[float], object] | None) -> Explained:
        game = self.game if len(self._parts) == 1 else self._game_of(part.rows)
        if len(part.players) < game.n_players:
            game = ActivePlayers(game, part.players)
        k = min(self._k, len(part.players))
        budget = self._options.get("budget") or default_budget(game.n_players)
        results: Any
        if self._refine and len(part.rows) > 1 and budget < 2**game.n_players:
            from topshap.refined_rows import RefinedRun  # noqa: PLC0415 - it imports slow parts of scipy

            results = RefinedRun(game, k, self._options | {"store": self._store}, show).explain()
        else:
            callback = self._callback if show is None else partial(self._look, show)
            results = identify(game, k=k, store=store_of_game(self._store, game), callback=callback, **self._options)
        self._done += len(part.rows)
        return Explained(part, results)

    def _look(self, show: Callable[[float], object], race: Race) -> object:
        """Update the progress bar, and call the callback of the user."""
        show(race.completion)
        return None if self._callback is None else self._callback(race)

    def _show(self, bar: Any, rows: int, completion: float) -> None:
        bar.update(self._done + int(rows * completion) - bar.n)


class Explained(NamedTuple):
    """The results of one part: one `TopK` per row, or per row and output."""

    part: Part
    results: TopKs


@dataclass(frozen=True, eq=False)
class RowResults(Sequence[TopK]):
    """The results of all rows in order, made when they are accessed; with several outputs, those of row 0 first."""

    explained: list[Explained]
    n_players: int
    k: int
    player_names: tuple[str, ...] | None
    player_values: NDArray[Any]
    """The value of each player in each row, shape (rows, players)."""
    names_of_outputs: Sequence[str]
    """The name of the output of each row, or of each output."""
    outputs_per_row: int = 1

    def __len__(self) -> int:
        return len(self._place) * self.outputs_per_row

    def __getitem__(self, index: Any) -> Any:
        row, output = divmod(range(len(self))[index], self.outputs_per_row)
        part, position = self._place[row].tolist()
        (_, players), results = self.explained[part]
        top = results[position * self.outputs_per_row + output]
        values = tuple(map(plain_value, self.player_values[row].tolist()))
        whole = with_dummies(top, players, self.n_players, self.k, names=self.player_names, values=values)
        name = self.names_of_outputs[output if self.outputs_per_row > 1 else row]
        return replace(whole, player_values=values, output_name=name)

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """The part and the position in the part of each row."""
        rows = sum(len(part.rows) for part, _ in self.explained)
        place = np.empty((rows, 2), dtype=np.intp)
        for number, (part, _) in enumerate(self.explained):
            place[part.rows, 0], place[part.rows, 1] = number, np.arange(len(part.rows))
        return place

    @cached_property
    def estimates(self) -> Matrix:
        """The estimates of all results."""
        return self._gathered("estimates")

    @cached_property
    def std_errors(self) -> Matrix:
        """Their standard errors."""
        return self._gathered("std_errors")

    @cached_property
    def players(self) -> Players:
        """The top k of all results."""
        found = np.empty((len(self._place), self.outputs_per_row, self.k), dtype=np.intp)
        for part, results in self.explained:
            own = tops_with_dummies(results, part.players, self.n_players, self.k)
            found[part.rows] = own.reshape(len(part.rows), self.outputs_per_row, self.k)
        return found.reshape(-1, self.k)

    @cached_property
    def empty(self) -> Values:
        """v(empty coalition) of all results."""
        return self._gathered("empty")

    @cached_property
    def grand(self) -> Values:
        """v(grand coalition) of all results."""
        return self._gathered("grand")

    @cached_property
    def evaluations(self) -> NDArray[np.intp]:
        """The evaluations of all results."""
        return self._gathered("evaluations")

    def _gathered(self, name: str) -> NDArray[Any]:
        """Return an attribute of all results as one array, with zeros for dummies."""
        per_player = name in ("estimates", "std_errors")
        blocks = [(part, np.asarray(column)) for part, column in self._columns(name)]
        width = (self.n_players,) if per_player else blocks[0][1].shape[1:]
        whole = np.zeros((len(self._place), self.outputs_per_row, *width), dtype=blocks[0][1].dtype)
        for part, block in blocks:
            own = block.reshape(len(part.rows), self.outputs_per_row, *block.shape[1:])
            if per_player:
                whole[np.ix_(part.rows, np.arange(self.outputs_per_row), part.players)] = own
            else:
                whole[part.rows] = own
        return whole.reshape(len(self), *width)

    def _columns(self, name: str) -> Iterator[tuple[Part, Any]]:
        for part, results in self.explained:
            column = getattr(results, name)
            yield part, np.full(len(results), column) if np.ndim(column) == 0 else column
