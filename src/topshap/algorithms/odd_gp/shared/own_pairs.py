"""Pairs of their own for outputs in doubt.

After the shared pairs, the outputs whose top k is in doubt observe further pairs that no other output needs. All choose
from one pool. Each gets a share of the evaluations by the expected regret of its border.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.designs import allocate
from topshap.algorithms.odd_gp.shared.borders import borders, output_blocks, with_everyone
from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.algorithms.odd_gp.shared.pool import NONE, CandidatePool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.algorithms.odd_gp.shared.process import SharedProcess
    from topshap.core.typing import Coalitions, Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

DOUBT = 0.5
"""An output's share of the evaluations is its expected regret to this power."""
MAX_SHARE = 5
"""The largest number of pairs of an output in a round, relative to the average."""
_SMALLEST_REGRET = 1e-9
_BLOCK_ENTRIES = 2**18
"""The largest number of entries computed together, which bounds memory."""


class Wanted(NamedTuple):
    """Pairs, and the outputs that want them."""

    coalitions: Coalitions
    """The pairs, of shape (m, n)."""
    outputs: NDArray[np.bool_]
    """Whether each output wants each pair, of shape (m, R)."""


class OwnPairs:
    """The pairs that outputs have chosen from a pool, and the estimate that follows.

    Parameters
    ----------
    process
        The process, conditioned on the shared pairs.
    pool
        The candidates.
    base, mean
        The estimate from the shared pairs, and the expected odd parts of the candidates, of shape (P, R). They may come
        from models that improve on the process; its covariances say how an observation changes them.
    k, rank_by
        The size of the top and its order.
    """

    def __init__(
        self,
        process: SharedProcess,
        pool: CandidatePool,
        base: SharedEstimate,
        mean: Matrix,
        *,
        k: int,
        rank_by: RankBy,
    ) -> None:
        self._process, self._pool, self._k, self._rank_by = process, pool, k, rank_by
        self._base, self._mean = base.with_shared_covariance(), mean
        outputs = len(base.values)
        self._seen = np.full((outputs, 0), NONE, dtype=np.intp)
        self._surprise = np.zeros((outputs, 0))
        self.estimate = self._base
        """The estimate from all pairs added so far."""

    def choose(self, average: int, rng: np.random.Generator) -> Wanted:
        """Choose pairs for the outputs in doubt, `average` of them per output."""
        estimate, pool = self.estimate, self._pool
        outputs, n = estimate.values.shape
        weights = np.maximum(self._regrets(), _SMALLEST_REGRET) ** DOUBT
        available = np.minimum(MAX_SHARE * average, len(pool) - (self._seen != NONE).sum(axis=1))
        available[estimate.factors == 0.0] = 0
        counts = allocate(average * outputs, weights, available.astype(np.float64), rng)
        wanted = np.zeros((len(pool), outputs), dtype=np.bool_)
        order = np.argsort(-counts, kind="stable")
        order = order[: np.count_nonzero(counts)]
        for block in output_blocks(len(order), n * len(pool), _BLOCK_ENTRIES):
            part = order[block]
            chosen = pool.choose(self._roots(part), self._seen[part], counts[part])
            row, column = np.nonzero(chosen != NONE)
            wanted[chosen[row, column], part[row]] = True
        some = np.flatnonzero(wanted.any(axis=1))
        return Wanted(pool.coalitions[some], wanted[some])

    def add(self, wanted: Wanted, odd: Matrix) -> None:
        """Add the odd parts of the first pairs of `wanted`, of shape (m, R), nan where an output does not want them."""
        index = {row.tobytes(): at for at, row in enumerate(self._pool.coalitions)}
        at = np.array([index[row.tobytes()] for row in wanted.coalitions[: len(odd)]], dtype=np.intp)
        observed = wanted.outputs[: len(odd)]
        counts = observed.sum(axis=0)
        width = int(counts.max(initial=0))
        seen = np.full((len(counts), width), NONE, dtype=np.intp)
        surprise = np.zeros((len(counts), width))
        pair, output = np.nonzero(observed)
        place = (np.cumsum(observed, axis=0) - 1)[pair, output]
        seen[output, place] = at[pair]
        surprise[output, place] = (odd[pair, output] - self._mean[at[pair], output]) / self._process.units[output]
        self._seen = np.concatenate([self._seen, seen], axis=1)
        self._surprise = np.concatenate([self._surprise, surprise], axis=1)
        first = np.argsort(self._seen == NONE, axis=1, kind="stable")[:, : int((self._seen != NONE).sum(axis=1).max())]
        self._seen = np.take_along_axis(self._seen, first, axis=1)
        self._surprise = np.take_along_axis(self._surprise, first, axis=1)
        self._update()

    def _update(self) -> None:
        """Condition the estimate of each output on the pairs it has seen."""
        base, outputs = self._base, len(self._seen)
        shift = np.zeros_like(base.values)
        squares = np.zeros(outputs)
        for block, seen in seen_blocks(self._seen, self._pool):
            surprise = self._surprise[block, : seen.shape[1], None]
            right = np.concatenate([surprise, self._pool.effect[np.where(seen == NONE, 0, seen)]], axis=2)
            whitened = self._pool.whitened(seen, right)
            shift[block] = np.einsum("bq,bqn->bn", whitened[:, :, 0], whitened[:, :, 1:])
            squares[block] = np.sum(whitened[:, :, 0] ** 2, axis=1)
        gains = base.values.sum(axis=1)
        values = adding_up(base.values + shift * self._process.units[:, None], gains)
        m, n = self._process.posterior.x.shape
        own = (self._seen != NONE).sum(axis=1)
        known = base.factors / self._process.units**2
        # The own pairs say how surprising an output is, just as the shared ones do.
        factors = (m * known + squares * (1.0 + n / m)) / (m + own) * self._process.units**2
        factors = np.where(base.factors > 0.0, factors, 0.0)
        self.estimate = SharedEstimate(values, base.covariance, factors, _PoolReduction(self._pool, self._seen))

    def _regrets(self) -> Values:
        """Return the expected regret of the border of each output, relative to the range of its estimates."""
        estimate, regrets = self.estimate, np.empty(len(self._seen))
        for block, seen in seen_blocks(self._seen, self._pool):
            found = borders(
                estimate.values[block], self._covariances(seen), estimate.factors[block], self._k, self._rank_by
            )
            regrets[block] = found.regrets
        return regrets

    def _roots(self, outputs: Players) -> Matrix:
        """Return rows E for each output such that its pairs should reduce the trace of E Cov(phi) E'."""
        estimate, n = self.estimate, self.estimate.values.shape[1]
        covariances = self._covariances(self._seen[outputs])
        found = borders(estimate.values[outputs], covariances, estimate.factors[outputs], self._k, self._rank_by)
        laplacians = with_everyone(found.separate(n), covariances)
        return np.asarray(np.linalg.cholesky(laplacians).transpose(0, 2, 1))

    def _covariances(self, seen: Players) -> Matrix:
        """Return the covariances of outputs that have seen these pairs, in units of their factors, (B, n, n)."""
        reduced = self._pool.of_seen(seen)
        return np.asarray(self._base.covariance - reduced.transpose(0, 2, 1) @ reduced)


def seen_blocks(seen: Players, pool: CandidatePool) -> Iterator[tuple[Players, Players]]:
    """Yield blocks of outputs that have seen about as many pairs: their indices, and the pairs with little padding."""
    n = pool.effect.shape[1]
    counts = (seen != NONE).sum(axis=1)
    order = np.argsort(-counts, kind="stable")
    width = seen.shape[1]
    for block in output_blocks(len(order), n * n + width * (width + n), _BLOCK_ENTRIES):
        part = order[block]
        yield part, seen[part, : counts[part[0]]]


class _PoolReduction:
    """How much the pairs that outputs have seen reduce their covariances."""

    def __init__(self, pool: CandidatePool, seen: Players) -> None:
        self._pool, self._seen = pool, seen

    def of_output(self, output: int) -> Matrix:
        """Return the matrix (n, n) to subtract from the shared covariance."""
        reduced = self._pool.of_seen(self._seen[output : output + 1])[0]
        return np.asarray(reduced.T @ reduced)

    def diagonals(self) -> Matrix:
        """Return the diagonals of these matrices, of shape (R, n)."""
        diagonals = np.empty((len(self._seen), self._pool.effect.shape[1]))
        for block, seen in seen_blocks(self._seen, self._pool):
            diagonals[block] = np.sum(self._pool.of_seen(seen) ** 2, axis=1)
        return diagonals
