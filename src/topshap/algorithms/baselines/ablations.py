"""Three ablations of CMCS that pay for v(S) again for every player (Kolpaczki, Nielen and Hüllermeier 2025).

Each player's extended marginal contribution takes two evaluations, v(S + i) and v(S - i). They differ in how much the
anchors of the n players in a round have in common: everything, their size, or nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Rounds, Task, ask, rows_at_most, slices
from topshap.core.coalitions import draw_anchors, draw_of_sizes, with_and_without
from topshap.core.standing import PAIRS_UP_TO, MeanStanding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.typing import Coalitions, Values


class _WithoutReuse(Algorithm[MeanStanding]):
    """Rounds in which every player is sampled once, against an anchor of its own."""

    extendable: ClassVar[bool] = True

    @abstractmethod
    def draw(self, task: Task) -> Iterator[Coalitions]:
        """Draw the n anchors of one round, for the players in their tie order, in parts of bounded size."""

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Pay for both ends of every player's contribution."""
        while True:
            yield from ask(self._round(task), standing, partial(add_round, standing))

    def _round(self, task: Task) -> Iterator[Coalitions]:
        first = 0
        for anchors in self.draw(task):
            yield with_and_without(anchors, task.tie_order[first : first + len(anchors)])
            first += len(anchors)


def add_round(standing: MeanStanding, values: Values) -> None:
    """Add the contributions in a prefix of the values of a round: with and without each player, in the tie order."""
    sampled = len(values) // 2
    marginals = values[0 : 2 * sampled : 2] - values[1 : 2 * sampled : 2]
    standing.add_rounds(marginals[None], standing.tie_order[:sampled])


def _parts(n: int) -> Iterator[int]:
    """Yield the lengths of the parts in which n players' anchors are drawn; their random numbers take 8 bytes each."""
    for part in slices(n, rows_at_most(n, bytes_per_entry=8)):
        yield part.stop - part.start


class Independent(_WithoutReuse):
    """Every player is sampled against an anchor of its own: plain Monte Carlo.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="independent", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "independent"

    def draw(self, task: Task) -> Iterator[Coalitions]:
        """Draw an anchor for every player."""
        for count in _parts(task.n):
            yield draw_anchors(count, task.n, task.rng)


class SameLength(_WithoutReuse):
    """Every player is sampled against an anchor of its own; the anchors of a round have one size.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="same-length", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "same-length"

    def draw(self, task: Task) -> Iterator[Coalitions]:
        """Draw one size, and a set of that size for every player."""
        size = int(task.rng.integers(task.n + 1))
        for count in _parts(task.n):
            yield draw_of_sizes(np.full(count, size), task.n, task.rng)


class Identical(_WithoutReuse):
    """Every player of a round is sampled against the same anchor, as in CMCS, but v(S) is paid for each of them.

    When repeated coalitions are free (``counting="distinct"``) this costs what CMCS costs.

    Overhead per evaluation: O(n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="identical", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "identical"

    def draw(self, task: Task) -> Iterator[Coalitions]:
        """Draw one anchor and give it to every player."""
        anchor = draw_anchors(1, task.n, task.rng)
        for count in _parts(task.n):
            yield np.repeat(anchor, count, axis=0)
