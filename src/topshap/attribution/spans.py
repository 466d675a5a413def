"""Spans of an answer that are chosen after a run: their results from the coalitions that are already known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.blas import one_thread
from topshap.algorithms.odd_gp.shared.rounds import SharedRun
from topshap.algorithms.odd_gp.shared.single_players import single_player_estimate
from topshap.algorithms.odd_gp.sparse_rounds import sparse_estimate
from topshap.core.coalitions import with_complements
from topshap.core.validation import check_rng
from topshap.shared_results import results_of

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate
    from topshap.core.result import TopK
    from topshap.core.results import TopKs
    from topshap.core.typing import Coalitions, Matrix


def results_for(top: TopK, coalitions: Coalitions, values: Matrix, output_names: tuple[str, ...]) -> TopKs:
    """Return the results of further outputs of a game from the coalitions that a run has evaluated.

    Parameters
    ----------
    top
        The result of the run.
    coalitions
        Its coalitions.
    values
        Their values for the further outputs, of shape (m, R).
    output_names
        One name per output.
    """
    estimate = _estimate(coalitions, values, top.k)
    empty, grand = ~coalitions.any(axis=1), coalitions.all(axis=1)
    exact = top.stopped == "exact"
    return results_of(
        estimate,
        player_names=top.player_names,
        output_names=output_names,
        k=top.k,
        tie_order=np.arange(top.n_players),
        rank_by=top.rank_by,
        budget=top.budget or top.evaluations,
        evaluations=top.evaluations,
        stopped=top.stopped if exact or top.stopped != "confident" else "finished",
        algorithm="enumeration" if exact else "odd-gp",
        ends=np.stack([values[empty].mean(axis=0), values[grand].mean(axis=0)]),
        seed=top.random_state,
        value_range=top.value_range,
    )


def _estimate(coalitions: Coalitions, values: Matrix, k: int) -> SharedEstimate:
    """Fit a process to the complement pairs among the coalitions; to all of them if there are few pairs."""
    mean_of = _means(coalitions, values)
    n = coalitions.shape[1]
    empty, grand = np.zeros(n, dtype=np.bool_), np.ones(n, dtype=np.bool_)
    rows = [np.frombuffer(key, dtype=np.bool_) for key in mean_of]
    pairs = [row for row in rows if row[0] and not row.all() and (~row).tobytes() in mean_of]
    with one_thread():
        if len(pairs) < min(n, 2 ** (n - 1) - 1):
            others = [row for row in rows if row.any() and not row.all()]
            known = np.stack([empty, grand, *others])
            known_values = np.stack([mean_of[row.tobytes()] for row in known])
            sparse = sparse_estimate(known, known_values, k)
            return single_player_estimate(known, known_values) if sparse is None else sparse
        ends = np.stack([mean_of[empty.tobytes()], mean_of[grand.tobytes()]])
        run = SharedRun(n, k, 0, ends, check_rng(0))
        if pairs:
            both = with_complements(np.stack(pairs))
            run.learn(np.stack(pairs), np.stack([mean_of[row.tobytes()] for row in both]))
        return run.estimate


def _means(coalitions: Coalitions, values: Matrix) -> dict[bytes, Matrix]:
    """Return the mean value of each distinct coalition, in the order of their first appearance."""
    found: dict[bytes, list[Matrix]] = {}
    for row, value in zip(coalitions, values, strict=True):
        found.setdefault(row.tobytes(), []).append(value)
    return {key: np.mean(several, axis=0) for key, several in found.items()}
