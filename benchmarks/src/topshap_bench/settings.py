"""Settings and rows: a setting is one run of one algorithm on one game, and a row is a setting with its result.

Settings are plain data. The random numbers of a run depend only on the seed of the experiment and on its setting, so a
result does not depend on the other runs, their order or the number of workers.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from topshap_bench.contestants import depends_on_k, plans_by_budget

COST = ("evaluations", "calls", "seconds")
"""The columns with the cost of a run."""
MEASURES = ("binary_precision", "ratio_precision", "inclusion_exclusion_error", "mean_squared_error")
"""The columns with the quality of a result, functions of `topshap.metrics`; nan without a result."""


class Setting(NamedTuple):
    """One run of one algorithm on one game.

    Examples
    --------
    >>> setting = Setting(family="global", game="wine", algorithm="cmcs", k=3, budget=500, run=7)
    >>> setting.key
    'global|wine||cmcs|3|500|||||distinct|7'
    """

    family: str
    game: str
    algorithm: str
    k: int
    """The number of candidates to find, or 0 if the race ends at the first clear gap."""
    fingerprint: str = ""
    """The first characters of the game's fingerprint, to distinguish games with the same name."""
    budget: int | None = None
    """The budget, or None if the race stops when it is confident."""
    epsilon: float | None = None
    """The allowed error of a race that stops when it is confident, or None with a fixed budget."""
    unit: str = ""
    """The unit of `epsilon`: ``"value"``, ``"range"`` for a fraction of the range of the Shapley values, or
    ``"range of v"`` for a fraction of the range of the values of all coalitions, if the game is a table."""
    delta: float | None = None
    guarantee: str = ""
    """The guarantee of the rule, see `topshap.RaceOptions`; empty with a fixed budget."""
    counting: str = "distinct"
    run: int = 0
    """The number of the repetition."""
    rank_by: str = "value"
    """The order of the players, see `topshap.RaceOptions`."""
    ordered: int = 0
    """Whether the order of the top k matters, 0 or 1."""
    order: int = 1
    """What is ranked: players (1) or pairs of players (2)."""

    @property
    def key(self) -> str:
        """The setting as one line of text."""
        first = (self.family, self.game, self.fingerprint, self.algorithm, self.k)
        rest = (self.budget, self.epsilon, self.unit, self.delta, self.guarantee, self.counting, self.run)
        goal = [self.rank_by] * (self.rank_by != "value") + ["ordered"] * bool(self.ordered)
        goal += ["pairs"] * (self.order == 2)
        return "|".join("" if part is None else str(part) for part in (*first, *rest, *goal))

    @property
    def plans_by_budget(self) -> bool:
        """Whether the algorithm depends on the budget; if not, one race gives the results for several budgets.

        Examples
        --------
        >>> [Setting("global", "wine", name, k=3).plans_by_budget for name in ("cmcs", "shap:kernel")]
        [False, True]
        """
        return plans_by_budget(self.algorithm)

    @property
    def shared(self) -> Setting:
        """The setting without what the algorithm does not depend on: k, the budget, or neither.

        Examples
        --------
        >>> Setting("global", "wine", "cmcs", k=3, budget=500).shared.budget
        >>> Setting("global", "wine", "shap:kernel", k=3, budget=500).shared[3:6]
        (0, '', 500)
        """
        without_k = self if depends_on_k(self.algorithm) else self._replace(k=0)
        return without_k if self.plans_by_budget else without_k._replace(budget=None)

    def seeds(self, seed: int) -> np.random.SeedSequence:
        """Return the seed sequence of the run, the same for all k and budgets that the algorithm does not depend on.

        Examples
        --------
        >>> setting = Setting("global", "wine", "cmcs", k=3, budget=500)
        >>> a, b = setting.seeds(0), setting._replace(run=1).seeds(0)
        >>> bool(a.generate_state(1) == b.generate_state(1))
        False
        """
        named = self._replace(guarantee="asymptotic") if self.guarantee == "published" else self  # as in recorded data
        digest = hashlib.blake2b(named.shared.key.encode(), digest_size=16).digest()
        return np.random.SeedSequence(seed, spawn_key=np.frombuffer(digest, dtype="<u4").tolist())


class Row(NamedTuple):
    """A setting with the cost of its run and the quality of the result: a row of the results file."""

    family: str
    game: str
    algorithm: str
    k: int
    fingerprint: str
    budget: int | None
    epsilon: float | None
    unit: str
    delta: float | None
    guarantee: str
    counting: str
    run: int
    seed: int
    """The seed of the experiment."""
    version: str
    """The package of the algorithm and its version."""
    n_players: int
    value_range: float
    """The range of the exact values of all candidates, which makes the errors of different games comparable."""
    stopped: str
    """Why the run ended, see `topshap.TopK.stopped`; for external algorithms ``"finished"``, ``"refused"`` if the
    budget is below their minimum, or ``"failed: "`` with the message of an error."""
    evaluations: int
    calls: int
    seconds: float
    """CPU time of the run up to this budget, with the evaluations of the game and without the measures. For external
    algorithms, that of the attempt that counts, see `topshap_bench.external`."""
    binary_precision: float
    ratio_precision: float
    inclusion_exclusion_error: float
    mean_squared_error: float
    range_of_v: float | None = None
    """The range of the values of all coalitions; None if the game is not a table."""
    confidence: float | None = None
    """`topshap.TopK.confidence`; None if it is not known, and for external algorithms."""
    coverage: float | None = None
    """The fraction of players whose exact value is in `topshap.TopK.interval`; None for external algorithms."""
    rare_contributions: int | None = None
    """`topshap.TopK.rare_contributions` as 0 or 1; None for external algorithms."""
    rank_by: str = "value"
    ordered: int = 0
    order: int = 1
    lead: float | None = None
    """By how much the set is ahead of all others; None without a result."""

    @property
    def setting(self) -> Setting:
        """The setting of the row."""
        return Setting(*(getattr(self, name) for name in Setting._fields))

    @property
    def relative_error(self) -> float:
        """The inclusion-exclusion error as a fraction of the range of the Shapley values, 0 if all are equal."""
        return self.inclusion_exclusion_error / self.value_range if self.value_range else 0.0

    @property
    def relative_squared_error(self) -> float:
        """The mean squared error of all values as a fraction of the squared range, 0 if all values are equal."""
        return self.mean_squared_error / self.value_range**2 if self.value_range else 0.0

    @property
    def allowed_error(self) -> float:
        """The `epsilon` of a race that stops when it is confident, in the unit of the values."""
        if self.epsilon is None:
            return float("nan")
        units = {"range": self.value_range, "range of v": self.range_of_v}
        return self.epsilon * (units.get(self.unit, 1.0) or 0.0)
