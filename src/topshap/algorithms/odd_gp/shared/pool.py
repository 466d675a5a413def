"""A pool of candidate pairs that outputs choose pairs of their own from.

The pool is conditioned on the shared pairs once. An output that observes q of its pairs then needs a q x q system only.
All functions treat a block of outputs together; outputs with fewer pairs than others are padded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.active import MAX_SHARE_OF_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.odd_gp.posterior import OddPosterior
    from topshap.core.typing import Coalitions, Matrix, Players

NONE = -1
"""Pads the lists of pairs of outputs that have fewer than others."""
SHORTLIST = (2, 32)
"""An output chooses from this many candidates per pair it may choose, plus this many: those that look best at first."""
_SMALLEST_VARIANCE = 1e-10


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """Candidate pairs, with their covariances given the shared pairs, on the scale on which odd parts have rms 1."""

    coalitions: Coalitions
    """The pairs, of shape (P, n)."""
    joint: Matrix
    """The covariance of their odd parts, of shape (P, P)."""
    effect: Matrix
    """The covariance of their odd parts and the Shapley values, of shape (P, n)."""

    @classmethod
    def of(cls, posterior: OddPosterior, coalitions: Coalitions) -> CandidatePool:
        """Condition candidate pairs on the observed ones."""
        x, kernel = np.where(coalitions, 1.0, -1.0), posterior.kernel
        cross = kernel.covariance(posterior.x, x)
        reduced = linalg.solve_triangular(posterior.factor, cross, lower=True, check_finite=False)
        joint = kernel.covariance(x, x) - reduced.T @ reduced
        joint[np.diag_indices(len(x))] += np.maximum(kernel.residual(x), _SMALLEST_VARIANCE)
        effect = posterior.functional_of(x) - cross.T @ posterior.solved_functional
        return cls(coalitions, joint, effect)

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.coalitions)

    def whitened(self, seen: Players, right: Matrix) -> Matrix:
        """Return L^-1 times `right`, with L the Cholesky factor of the covariance of the pairs seen by each output.

        `seen` is (B, Q), padded with `NONE`; `right` is (B, Q, c), and its padded rows become 0.
        """
        padded = seen == NONE
        index = np.where(padded, 0, seen)
        joint = self.joint[index[:, :, None], index[:, None, :]]
        joint[padded[:, :, None] | padded[:, None, :]] = 0.0
        diagonal = np.arange(seen.shape[1])
        joint[:, diagonal, diagonal] += padded
        right = np.where(padded[:, :, None], 0.0, right)
        if seen.shape[1] > 0:
            for output, factor in enumerate(np.linalg.cholesky(joint)):
                # The transposed factor is in the order of LAPACK, so that it is not copied.
                right[output], _ = linalg.lapack.dtrtrs(factor.T, right[output], lower=0, trans=1)
        return right

    def of_seen(self, seen: Players) -> Matrix:
        """Return the whitened covariance of the pairs seen by each output and the Shapley values, (B, Q, n).

        With H this matrix, the pairs reduce the covariance of the Shapley values by H'H.
        """
        return self.whitened(seen, self.effect[np.where(seen == NONE, 0, seen)])

    def choose(self, roots: Matrix, seen: Players, counts: NDArray[np.intp]) -> Players:
        """Choose pairs for each output greedily, as `active.most_informative` does for one.

        Parameters
        ----------
        roots
            Rows E of each output such that its pairs should reduce the trace of E Cov(phi) E', of shape (B, n, n).
        seen
            The pairs that each output has seen, of shape (B, Q), padded with `NONE`.
        counts
            The numbers of pairs to choose, in descending order.

        Returns
        -------
        NDArray
            The chosen pairs, of shape (B, counts[0]), padded with `NONE`.
        """
        greedy = _Greedy(self, roots, seen, counts)
        chosen = np.full((len(counts), int(counts[0])), NONE, dtype=np.intp)
        for step in range(int(counts[0])):
            active = int(np.searchsorted(-counts, -step))  # counts[:active] > step
            chosen[:active, step] = greedy.step(active)
        return chosen


class _Greedy:
    """The state of greedy choices for a block of outputs, in single precision."""

    def __init__(self, pool: CandidatePool, roots: Matrix, seen: Players, counts: NDArray[np.intp]) -> None:
        outputs, size = len(counts), len(pool)
        self._joint = pool.joint.astype(np.float32)
        effect = (roots @ pool.effect.T).astype(np.float32)  # (B, n, P)
        variance = np.broadcast_to(np.diag(pool.joint), (outputs, size)).astype(np.float32)
        free = np.ones((outputs, size), dtype=np.bool_)
        known = np.zeros((outputs, 0, size), dtype=np.float32)
        if seen.shape[1] > 0:
            rows, columns = np.nonzero(seen != NONE)
            free[rows, seen[rows, columns]] = False
            index = np.where(seen == NONE, 0, seen)
            units = np.broadcast_to(np.eye(seen.shape[1]), (outputs, *[seen.shape[1]] * 2))
            inverse = pool.whitened(seen, units).astype(np.float32)
            known = np.asarray(inverse @ self._joint[index])
            reduced = inverse @ pool.effect.astype(np.float32)[index]
            effect -= (roots.astype(np.float32) @ reduced.transpose(0, 2, 1)) @ known
            variance -= np.einsum("bqp,bqp->bp", known, known)
        variance = np.maximum(variance, _SMALLEST_VARIANCE)
        gain = np.einsum("bnp,bnp->bp", effect, effect)
        shortlist = min(size, SHORTLIST[0] * int(counts[0]) + SHORTLIST[1])
        order = np.argpartition(np.where(free, -gain / variance, np.inf), shortlist - 1, axis=1)[:, :shortlist]
        self._index = np.sort(order, axis=1)
        self._free = np.take_along_axis(free, self._index, axis=1)
        self._effect = np.take_along_axis(effect, self._index[:, None, :], axis=2)
        self._variance = np.take_along_axis(variance, self._index, axis=1)
        steps = np.zeros((outputs, known.shape[1] + int(counts[0]), shortlist), dtype=np.float32)
        steps[:, : known.shape[1]] = np.take_along_axis(known, self._index[:, None, :], axis=2)
        self._steps, self._done = steps, known.shape[1]
        n = pool.coalitions.shape[1]
        members = pool.coalitions.sum(axis=1)
        self._sizes = np.minimum(members, n - members)[self._index]
        self._room = np.repeat(np.ceil(MAX_SHARE_OF_SIZE * counts)[:, None], n // 2 + 1, axis=1)

    def step(self, active: int) -> Players:
        """Choose the next pair for each of the first outputs."""
        free, effect, variance = self._free[:active], self._effect[:active], self._variance[:active]
        row = np.arange(active)
        allowed = free & (np.take_along_axis(self._room[:active], self._sizes[:active], axis=1) > 0)
        allowed = np.where(allowed.any(axis=1, keepdims=True), allowed, free)
        gain = np.einsum("bnp,bnp->bp", effect, effect)
        best = np.argmax(np.where(allowed, gain / variance, -1.0), axis=1)
        free[row, best] = False
        self._room[row, self._sizes[row, best]] -= 1
        deviation = np.sqrt(variance[row, best])[:, None]
        before = self._steps[:active, : self._done]
        shift = self._joint[self._index[row, best][:, None], self._index[:active]]
        shift = shift - np.matmul(before[row, :, best][:, None, :], before)[:, 0]
        limit = np.sqrt(variance)  # bounds every covariance; rounding errors exceed it where the variance is tiny
        shift = np.clip(shift / deviation, -limit, limit)
        effect -= (effect[row, :, best] / deviation)[:, :, None] * shift[:, None, :]
        self._steps[:active, self._done] = shift
        self._done += 1
        variance[:] = np.maximum(variance - shift**2, _SMALLEST_VARIANCE)
        return np.asarray(self._index[row, best])
