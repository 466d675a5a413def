"""TopImportance: the immutable result of a run for the most important players over many rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from topshap.core.result import TopK

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values

ImportanceKind: TypeAlias = Literal["loss", "mean_abs"]
"""What importance is: a share of the reduction of a loss, or a mean magnitude."""
IMPORTANCE_KINDS: tuple[ImportanceKind, ...] = ("loss", "mean_abs")
Population: TypeAlias = Literal["table", "infinite"]
"""What the estimates are about: the rows of the table, or the population that they are a sample of."""
POPULATIONS: tuple[Population, ...] = ("table", "infinite")


@dataclass(frozen=True, eq=False)
class TopImportance(TopK):
    """The k most important players over many rows, the importance of all players, its uncertainty and its cost.

    It says of importance what a `TopK` says of Shapley values. The standard errors count both sources of randomness:
    the rows and the coalitions that were evaluated. An evaluation is a coalition for one row.

    Examples
    --------
    >>> import topshap
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0, 0.0], X, random_state=0)
    >>> top = explainer.importance(X, k=1, budget=400)
    >>> top.names, top.by, top.n_rows, top.n_table_rows
    (('1',), 'mean_abs', 177, 200)
    """

    by: ImportanceKind = "mean_abs"
    """``"loss"``: the part of the reduction of the loss that is due to a player. ``"mean_abs"``: the mean magnitude of
    its Shapley values."""
    population: Population = "table"
    """Whether the estimates are about the rows of the table, or about an infinite population they are drawn from."""
    n_rows: int = 0
    """The number of rows that were evaluated."""
    n_table_rows: int = 0
    """The number of rows of the table."""
    row_std_errors: Values = field(default_factory=lambda: np.empty(0))
    """The part of the standard errors that is due to the sample of rows."""
    coalition_std_errors: Values = field(default_factory=lambda: np.empty(0))
    """The part of the standard errors that is due to the sample of coalitions."""
    rows: Players | None = field(default=None, repr=False)
    """The positions of the rows that were evaluated; None in a result from a file."""
    row_values: Matrix | None = field(default=None, repr=False)
    """The estimated Shapley values of each of these rows, shape (rows, players), from one or a few permutations each:
    much less accurate than those of `Explainer.explain_many`. None in a result from a file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for array in (self.row_std_errors, self.coalition_std_errors, self.rows, self.row_values):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def interactions(self) -> Any:
        """Not available: importance is an average over rows."""
        raise AttributeError("A TopImportance has no interactions; use topshap.identify on a LossGame.")
