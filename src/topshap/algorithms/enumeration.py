"""Enumeration: all coalitions, for games whose budget covers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Rounds, Task, evaluate, rows_at_most, slices
from topshap.core.coalitions import from_ids
from topshap.core.standing import KnownStanding
from topshap.core.stopping import GUARANTEES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Coalitions


class Enumeration(Algorithm[KnownStanding]):
    """Evaluate every coalition; the race then computes the exact values.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    >>> top = topshap.identify(game, k=1, budget=8)
    >>> top.algorithm, top.stopped, top.estimates
    ('enumeration', 'exact', array([3., 1., 2.]))
    """

    name: ClassVar[str] = "enumeration"
    guarantees: ClassVar[tuple[Guarantee, ...]] = GUARANTEES

    def standing(self, task: Task) -> KnownStanding:
        """Return the standing at the start of a race."""
        return KnownStanding(task.tie_order, np.full(task.n, task.gain / task.n))

    def rounds(self, task: Task, standing: KnownStanding) -> Rounds:  # noqa: ARG002 - exact values need no standing
        """Ask for all coalitions in the order of their ids."""
        yield from evaluate(all_coalitions(task.n))


def all_coalitions(n: int) -> Iterator[Coalitions]:
    """Yield all 2**n coalitions in batches of bounded size, smallest ids first."""
    for part in slices(2**n, rows_at_most(n)):
        yield from_ids(np.arange(part.start, part.stop), n)
