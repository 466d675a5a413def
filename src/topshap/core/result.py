"""TopK: the immutable result of a race."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from topshap.core.bindings import bound
from topshap.core.powers_of_two import safely_scaled
from topshap.core.stable_ranks import StableRanks
from topshap.core.validation import check_probability, front_door
from topshap.statistics.normal_intervals import two_sided_quantile
from topshap.statistics.partial_covariance import covariance_among
from topshap.statistics.rank_verification import border_p_values
from topshap.statistics.ranking import probability_before, rank_key
from topshap.statistics.ties import differ, tied_with
from topshap.statistics.top_k_probability import TopKProbabilities, top_k_probabilities

if TYPE_CHECKING:
    import os

    import pandas as pd
    from matplotlib.axes import Axes

    from topshap.core.history import History
    from topshap.core.levels import Levels
    from topshap.core.pairs_result import TopPairs
    from topshap.core.player_values import PlayerValue
    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Matrix, Players, Values
    from topshap.core.usage import Usage
    from topshap.statistics.partial_covariance import Covariance
    from topshap.statistics.ranking import RankBy

Stopped: TypeAlias = Literal["budget", "confident", "exact", "time", "rule", "finished", "cost", "interrupted"]
"""Why a race ended.

``"budget"``: the budget is spent. ``"confident"``: the result satisfies `epsilon` and `delta`. ``"exact"``: all
coalitions are known. ``"time"``: a time limit was reached. ``"rule"``: another criterion of `stop` was met.
``"finished"``: the algorithm has no more coalitions to evaluate. ``"cost"``: `max_cost` of `topshap.attribute` is
reached. ``"interrupted"``: it was ended early or is not over.
"""


ESTIMATE_INTERACTIONS = "_estimate_interactions"
"""The attribute of a result with the function behind `TopK.interactions`; it is not a field, nor part of files."""


@dataclass(frozen=True, eq=False)
class TopK:
    """The top k players, the estimates of all players, their uncertainty and their cost.

    `interval`, `pairwise` and `confidence` assume that the estimates are normally distributed around the true values,
    with these standard errors and this covariance, or independent without one. If `stopped` is ``"exact"``, there is no
    uncertainty.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0], baseline=5.0)
    >>> top = topshap.identify(game, k=2, player_names=["age", "sex", "bmi"], random_state=0)
    >>> top.names, top.estimates, top.stopped
    (('age', 'bmi'), array([3., 1., 2.]), 'exact')
    >>> print(top)
    Top 2 of 3 players after 8 evaluations (exact: all coalitions are known)
       1  age         3
       2  bmi         2
      --
       3  sex         1
    Certain: all coalitions are known. It took 8 evaluations of a budget of 8.
    """

    order: ClassVar[int] = 1
    """1 for players, 2 for pairs of players."""

    players: Players
    """The indices of the top k, best first."""
    estimates: Values
    """One estimated Shapley value per player."""
    std_errors: Values
    """The standard errors of the estimates, nan where unknown."""
    covariance: Covariance | None = field(repr=False)
    """The covariance of the estimates, None where only the standard errors are known; that of some pairs in a
    `TopPairs` (`topshap.statistics.partial_covariance.PartialCovariance`)."""
    player_names: tuple[str, ...] | None
    """The names of all players, None if they have none."""
    evaluations: int
    """The number of evaluations; of distinct coalitions, if the game is deterministic."""
    calls: int
    """The number of accesses to values, including repeated ones."""
    budget: int | None
    """The budget, None without a limit."""
    epsilon: float | None
    """The tolerance, None in a race for a fixed budget."""
    delta: float | None
    """The allowed probability of an error larger than `epsilon`, None without `epsilon`."""
    stopped: Stopped
    """Why the race ended: "budget", "confident", "exact", "time", "rule", "finished", "cost" or "interrupted"."""
    algorithm: str
    """The name of the algorithm."""
    counting: str
    """Whether the budget counts distinct coalitions (``"distinct"``) or all accesses (``"calls"``)."""
    empty: float
    """v(empty coalition)."""
    grand: float
    """v(grand coalition); the Shapley values add up to `grand` - `empty`."""
    deterministic: bool = True
    """Whether the game is deterministic; if not, `evaluations` includes repeated ones."""
    guarantee: Guarantee | None = None
    """The guarantee of a confident answer: ``"asymptotic"``, ``"credible"``, ``"exact"``, or ``"published"`` for the
    published rule, which is not a guarantee. None without `epsilon`."""
    value_range: tuple[float, float] | None = None
    """The range of values that was given and checked, None if there was none."""
    rule: str | None = None
    """The `stop` criterion of the race as text, None if there was none."""
    history: History | None = field(default=None, repr=False)
    """The estimates during the race, None if they were not recorded."""
    random_state: int | None = None
    """The seed, if the race was given one as an int."""
    rank_by: RankBy = "value"
    """The order in which players are ranked."""
    ordered: bool = False
    """Whether the race was about the order of the top k, and not only about the set."""
    rare_contributions: bool = False
    """Whether contributions may be rare and large, so that intervals and confidence may be too optimistic."""
    player_values: tuple[PlayerValue, ...] | None = None
    """The value of each player in the explained input, such as 39 for the player "age"; None for a player without a
    single value, and if the game has no attribute ``player_values``."""
    output_name: str | None = None
    """What the value of a coalition is, such as ``"predict_proba of class 'malignant'"``, from the game's attribute
    ``output_name``; None if it has none."""

    usage: Usage | None = None
    """The requests, tokens and cost of the evaluations, None unless they were calls of a language model."""
    clear_gap: bool = False
    """Whether the race chose k, at a gap that is clear if it is at least `epsilon`."""

    def __post_init__(self) -> None:
        for array in (self.players, self.estimates, self.std_errors, self.covariance):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def k(self) -> int:
        """The number of players to find."""
        return len(self.players)

    @property
    def n_players(self) -> int:
        """The number of players."""
        return len(self.estimates)

    @property
    def n_candidates(self) -> int:
        """The number of candidates that are ranked: players, or pairs of players in a `TopPairs`."""
        return len(self.estimates)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the top k, best first; indices as text if the players have no names."""
        return tuple(self.name_of(i) for i in self.players)

    @property
    def learned(self) -> bool:
        """Whether anything is known about the players: if not, all estimates are equal and `players` is arbitrary.

        Examples
        --------
        >>> import topshap
        >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
        >>> topshap.identify(game, k=1, budget=2).learned, topshap.identify(game, k=1).learned
        (False, True)
        """
        return self.stopped == "exact" or differ(self.estimates, self.std_errors)

    @property
    def promise(self) -> str:
        """One line with the guarantee, its assumptions and the cost.

        Examples
        --------
        >>> import topshap
        >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
        >>> options = {"k": 2, "epsilon": 0.1, "algorithm": "cmcs@k", "random_state": 0}
        >>> topshap.identify(game, budget=100, guarantee="published", **options).promise
        'No guarantee: the budget was spent before epsilon=0.1 was reached at delta=0.05; intervals and confidence are
        estimates that assume normal errors. It took 100 evaluations of a budget of 100.'
        >>> topshap.identify(game, guarantee="credible", **options).promise
        'With posterior probability at least 95%, no player left out is ahead of a player in the set by more than 0.1.
        Not a guarantee: it assumes normal estimates and does not correct for repeated looks. It took ... evaluations.'
        """
        return str(bound("describe_promise")(self))

    @front_door
    def interval(self, level: float = 0.95) -> Matrix:
        """Return an interval for every player's Shapley value, shape (n, 2); unbounded where nothing is known."""
        half_width = two_sided_quantile(1.0 - check_probability("level", level)) * self.std_errors
        half_width = np.where(np.isnan(half_width), np.inf, half_width)
        return np.stack([self.estimates - half_width, self.estimates + half_width], axis=1)

    def pairwise(self, players: Any = None) -> Matrix:
        """Return the estimated probability that player i is ranked before player j, shape (n, n).

        The order is that of `rank_by`. It is 1/2 on the diagonal, for equal estimates, and for unknown standard errors.

        Parameters
        ----------
        players
            The indices of the players to compare, in this order; by default all.
        """
        if players is None:
            return probability_before(*self._scaled, self.rank_by)
        chosen = np.asarray(players, dtype=np.intp)
        estimates, std_errors, covariance = self._scaled
        among = covariance_among(covariance, std_errors, chosen)
        return probability_before(estimates[chosen], std_errors[chosen], among, self.rank_by)

    @cached_property
    def confidence(self) -> float:
        """The estimated probability that these are the top k; nan where a standard error is not known."""
        if self.stopped == "exact":
            return 1.0
        return self._probabilities.of_set

    @cached_property
    def inclusion(self) -> Values:
        """Each player's estimated probability of being one of the top k; nan where a standard error is not known."""
        if self.stopped == "exact":
            return np.isin(np.arange(self.n_candidates), self.players).astype(np.float64)
        return self._probabilities.of_player

    @cached_property
    def _probabilities(self) -> TopKProbabilities:
        return top_k_probabilities(self.players, *self._scaled, self.rank_by)

    @cached_property
    def tied(self) -> Players:
        """Players outside the set that are tied with the last one inside, best first.

        The difference of their estimates is a rounding error, or small compared with its standard error (see
        `topshap.statistics.ties`). If `stopped` is ``"exact"``, the values are equal, and any choice is right.
        Otherwise no evaluation so far distinguishes them. Players whose standard error is unknown are not included.

        Examples
        --------
        >>> import topshap
        >>> game = topshap.games.AdditiveGame([3.0, 0.0, 1.0, 0.0, 0.0])
        >>> top = topshap.identify(game, k=3, random_state=0)
        >>> len(top.tied), top.estimates[top.tied]
        (2, array([0., 0.]))
        """
        outside = self.ranking[self.k :]
        if not self.learned:
            return outside[:0]
        return outside[tied_with(self.players[-1], *self._scaled, self.rank_by)[outside]]

    @front_door
    def stable_ranks(self, level: float = 0.95) -> StableRanks:
        """Return how many of the leading ranks, and which set sizes k, are beyond doubt.

        The order is that of `rank_by`, and the sizes are not limited to the k of the run. Like `confidence`, this
        assumes normal estimates; see `StableRanks`.

        Parameters
        ----------
        level
            The probability with which all of these ranks, or all of these sizes, are right, at least.

        Examples
        --------
        >>> import topshap
        >>> game = topshap.games.UnanimityGame([[0], [1, 2], [3, 4, 5]], [5.0, 4.0, 2.0], n_players=10)
        >>> stable = topshap.identify(game, k=4, budget=300, algorithm="greedy-cmcs", random_state=0).stable_ranks()
        >>> stable.count, stable.sizes
        (1, (1, 3, 6))
        """
        p_values = border_p_values(self.ranking, *self._scaled, self.rank_by)
        return StableRanks.of(p_values, level, map(self.name_of, self.ranking.tolist()))

    @cached_property
    def interactions(self) -> TopPairs:
        """The interactions of all pairs of players, from the same evaluations; computed on first access.

        They are available after a run of ``"odd-gp"`` or ``"odd-gp@k"``, or if all coalitions are known. Files and
        pickles of a result do not contain them. The pairs with the largest magnitudes come first, whatever the
        `rank_by`; their number is that of the players to find, at most that of all pairs.

        Examples
        --------
        >>> import topshap
        >>> game = topshap.games.UnanimityGame([[0], [1, 2], [0, 3]], [9.0, 2.0, -3.0], n_players=4)
        >>> topshap.identify(game, k=1).interactions.names
        ('0 x 3',)
        """
        from topshap.core.pairs_result import interactions_of  # noqa: PLC0415 - a subclass of this class

        return interactions_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles and copies, without the evaluations behind `interactions`."""
        return {name: value for name, value in vars(self).items() if name != ESTIMATE_INTERACTIONS}

    def to_shap(self, data: Any = None) -> Any:
        """Return a ``shap.Explanation`` for shap's plots. Needs the extra ``topshap[shap]``.

        The values and v(empty) sum to v(grand): the residual of the estimates is spread equally over the players
        outside the top k. The bounds are intervals of 95%.

        Parameters
        ----------
        data
            One value per player, shown next to its name; by default `player_values`.
        """
        return bound("to_shap")(self, data)

    def to_shapiq(self) -> Any:
        """Return the estimates as ``shapiq.InteractionValues``. Needs the extra ``topshap[shapiq]``."""
        return bound("to_shapiq")(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a JSON file; `topshap.load` restores it exactly."""
        bound("save")(self, path)

    def to_frame(self) -> pd.DataFrame:
        """Return all players as a pandas DataFrame, best first. Needs the extra ``topshap[pandas]``."""
        frame: pd.DataFrame = bound("to_frame")(self)
        return frame

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None, game: str | None = None) -> None:
        """Write a report to a single HTML file that needs no network.

        It contains the leaderboard, the sum from v(empty) to v(grand), the race with a slider, the pairwise
        probabilities, the options of the run, the guarantee, a sortable table, and the same data as JSON.

        Parameters
        ----------
        path
            The file to write.
        title
            The title of the report.
        game
            A description of the game.
        """
        bound("to_html")(self, path, title=title, game=game)

    def zoom(self, game: Any, into: Any = None, *, k: int | None = None, **options: Any) -> Levels:
        """Find the k most important elements of the players found, such as the columns of groups of columns.

        The players of the second run are the elements of these players. All other players are present in every
        coalition. So the values of the elements add up to what these players add to all others.

        Parameters
        ----------
        game
            The game of this result, whose players are groups of elements: a game of `topshap.games` with `groups`, or
            ``explainer.game(x)`` of an `Explainer` with groups.
        into
            A player or several, by name or index; by default the top k.
        k
            The number of elements to find; by default as many as players.
        **options
            The options of `topshap.identify`. If the file given as ``store`` belongs to the first run, the values are
            kept in a file next to it.

        Returns
        -------
        Levels
            This result, and that of the elements.

        Examples
        --------
        >>> import topshap
        >>> def score(texts):
        ...     return [2.0 * text.count("good") - text.count("dull") for text in texts]
        >>> sentences = {"praise": ["a", "good", "plot"], "blame": ["dull", "acting"]}
        >>> game = topshap.games.TextGame(score, ["a", "good", "plot", "dull", "acting"], groups=sentences)
        >>> top = topshap.identify(game, k=1)
        >>> print(top.zoom(game))
        Top 1 of 2 players after 4 evaluations (exact: all coalitions are known)
           1  praise                2
                 1  good            2
                 2  a               0
                 3  plot            0
          --
           2  blame                -1
        Players: Certain: all coalitions are known. It took 4 evaluations of a budget of 4.
        Within them: Certain: all coalitions are known. It took 8 evaluations of a budget of 8.
        """
        found: Levels = bound("zoom")(self, game, into, k=k, **options)
        return found

    def _repr_html_(self) -> str:
        """Return the representation in a notebook."""
        return str(bound("notebook_html")(self))

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the leaderboard, see `topshap.show.leaderboard`. Needs the extra ``topshap[plots]``."""
        axes: Axes = bound("plot")(self, ax, **options)
        return axes

    def __str__(self) -> str:
        """Return the headline, the leaderboard and the promise as text."""
        return str(bound("text_leaderboard")(self))

    @property
    def headline(self) -> str:
        """The result in one line: the number of players, the evaluations and the certainty."""
        return str(bound("headline")(self))

    @cached_property
    def ranking(self) -> Players:
        """The indices of all players, best first: the top k, then the others."""
        rest = np.setdiff1d(np.arange(self.n_candidates), self.players)
        keys = rank_key(self.estimates[rest], self.rank_by)
        return np.concatenate([self.players, rest[np.argsort(-keys, kind="stable")]])

    @cached_property
    def _scaled(self) -> tuple[Values, Values, Covariance | None]:
        return safely_scaled(self.estimates, self.std_errors, self.covariance)

    def name_of(self, i: int) -> str:
        """Return the name of a player; its index as text if the players have no names."""
        return str(i) if self.player_names is None else self.player_names[i]
