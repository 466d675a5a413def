"""CMCS: comparable marginal contributions sampling (Kolpaczki, Nielen and Hüllermeier 2025)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Rounds, Task, ask, flipped, rows_at_most, slices
from topshap.core.coalitions import draw_anchors
from topshap.core.standing import PAIRS_UP_TO, MeanStanding
from topshap.core.stopping import OverlappingIntervals

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Coalition, Coalitions, Matrix, Players, Values

WARM_UP = 30
"""Rounds in which everyone is sampled before the central limit theorem is relied on."""


class CMCS(Algorithm[MeanStanding]):
    """Comparable Marginal Contributions Sampling: everyone is compared against the same coalition.

    A round draws one anchor coalition S, with a size uniform in 0..n and then uniform among the sets of that size, and
    evaluates S and its n neighbours with one player flipped. That gives the extended marginal contribution
    D_i(S) = v(S + i) - v(S - i) of every player for n + 1 evaluations. E[D_i(S)] is the Shapley value, and since
    all players meet the same S, the differences between them vary less than the contributions themselves.

    Overhead per evaluation: O(n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, budget=10, algorithm="cmcs", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "cmcs"
    extendable: ClassVar[bool] = True
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("asymptotic", "credible")

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Compare everyone against one anchor after the other."""
        yield from comparable_rounds(task, standing)

    def stopping_rule(self, task: Task) -> StoppingRule | None:
        """Return the published rule, checked once everyone has been sampled 30 times; or the one of every algorithm."""
        return published_rule(task, WARM_UP) or super().stopping_rule(task)


def published_rule(task: Task, warm_up: int) -> OverlappingIntervals | None:
    """Return the rule that these algorithms were published with, where an asymptotic guarantee is asked for.

    It is none at level delta, and a result that rests on it says so.
    """
    if task.epsilon is None or task.delta is None or task.guarantee != "asymptotic":
        return None
    return OverlappingIntervals(task.epsilon, task.delta, min_samples=warm_up)


def comparable_rounds(
    task: Task, standing: MeanStanding, limit: int | None = None
) -> Generator[Coalitions, Values, None]:
    """Sample everyone against common anchors, `limit` times or without end."""
    n, done = task.n, 0
    per_batch = task.rounds_per_batch(n + 1)
    while limit is None or done < limit:
        count = per_batch if limit is None else min(per_batch, limit - done)
        anchors = draw_anchors(count, n, task.rng)
        add = partial(add_neighbourhoods, standing, anchors, task.tie_order)
        yield from ask(neighbourhoods(anchors, task.tie_order), standing, add)
        done += count


def neighbourhoods(anchors: Coalitions, order: Players) -> Iterator[Coalitions]:
    """Yield every anchor followed by its n neighbours, players flipped in this order, in batches of bounded size."""
    count, n = anchors.shape
    if count * (n + 1) <= rows_at_most(n):
        rows = np.repeat(anchors[:, None, :], n + 1, axis=1)
        rows[:, np.arange(1, n + 1), order] ^= True
        yield rows.reshape(-1, n)
        return
    for anchor in anchors:
        yield from compare(anchor, order)


def add_neighbourhoods(standing: MeanStanding, anchors: Coalitions, order: Players, values: Values) -> None:
    """Add the extended marginal contributions in a prefix of the values of `neighbourhoods(anchors, order)`."""
    n = anchors.shape[1]
    complete = len(values) // (n + 1)
    rounds = values[: complete * (n + 1)].reshape(complete, n + 1)
    samples = np.empty((complete, n))
    samples[:, order] = extended_marginals(anchors[:complete, order], rounds)
    standing.add_rounds(samples)
    last = values[complete * (n + 1) :]
    if len(last) > 1:
        players = order[: len(last) - 1]
        standing.add_rounds(extended_marginals(anchors[complete, players], last)[None], players)


def extended_marginals(anchor: Coalitions | Coalition, values: Matrix | Values) -> Matrix | Values:
    """Return v(S + i) - v(S - i) from v(S) and the values with one player flipped.

    `anchor` says, for each of the flipped players, whether it is in S. Works on one anchor or on one a row.
    """
    difference = values[..., :1] - values[..., 1:]
    return np.where(anchor, difference, -difference)


def compare(anchor: Coalition, players: Players) -> Iterator[Coalitions]:
    """Yield the anchor, then the anchor with each of `players` flipped, in batches of bounded size."""
    at_most = rows_at_most(len(anchor))
    first = min(len(players), at_most - 1)
    yield compared(anchor, players[:first])
    for part in slices(len(players) - first, at_most):
        yield flipped(anchor, players[first:][part])


def compared(anchor: Coalition, players: Players) -> Coalitions:
    """Return the anchor, then the anchor with each of `players` flipped, in one array."""
    rows = np.empty((len(players) + 1, len(anchor)), dtype=np.bool_)
    rows[:] = anchor
    rows[np.arange(1, len(rows)), players] = ~anchor[players]
    return rows
