"""ApproShapley: permutation sampling (Castro, Gómez and Tejada 2009)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Rounds, Task, ask, rows_at_most, slices
from topshap.core.standing import PAIRS_UP_TO, MeanStanding

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from topshap.core.typing import Coalitions, Players, Values


class ApproShapley(Algorithm[MeanStanding]):
    """Players join one by one in a random order; each one's gain on joining is a sample of its Shapley value.

    The value before one player joins is the value after the one before it joined, so a permutation takes n - 1
    evaluations for n samples. The samples of one permutation add up to v(N) - v(empty).

    Overhead per evaluation: O(n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="approshapley", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "approshapley"
    extendable: ClassVar[bool] = True

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Walk along one permutation after the other."""
        yield from permutation_rounds(task, standing)


def permutation_rounds(
    task: Task, standing: MeanStanding, limit: int | None = None
) -> Generator[Coalitions, Values, None]:
    """Walk along `limit` permutations, or along one after the other without end."""
    n, done = task.n, 0
    per_batch = task.rounds_per_batch(n - 1)
    while limit is None or done < limit:
        count = per_batch if limit is None else min(per_batch, limit - done)
        orders = task.rng.random((count, n)).argsort(axis=1)
        yield from ask(joining(orders), standing, partial(add_walks, task, standing, orders))
        done += count


def joining(orders: Players) -> Iterator[Coalitions]:
    """Yield, for each order, the coalitions of its first 1, 2, ..., n - 1 players, in batches of bounded size."""
    count, n = orders.shape
    place = orders.argsort(axis=1)
    sizes = np.arange(1, n)
    at_most = rows_at_most(n)
    if count * (n - 1) <= at_most:
        yield (place[:, None, :] < sizes[:, None]).reshape(-1, n)
        return
    for places in place:
        for part in slices(n - 1, at_most):
            yield places < sizes[part, None]


def add_walks(task: Task, standing: MeanStanding, orders: Players, values: Values) -> None:
    """Add the gains along the permutations in a prefix of the values of `joining(orders)`."""
    n = task.n
    complete = len(values) // (n - 1)
    walks = np.empty((complete, n + 1))
    walks[:, 0], walks[:, n] = task.empty, task.grand
    walks[:, 1:n] = values[: complete * (n - 1)].reshape(complete, n - 1)
    samples = np.empty((complete, n))
    np.put_along_axis(samples, orders[:complete], np.diff(walks, axis=1), axis=1)
    standing.add_rounds(samples)
    last = values[complete * (n - 1) :]
    if len(last) > 0:
        gains = np.diff(last, prepend=task.empty)
        standing.add_rounds(gains[None], orders[complete, : len(last)])
