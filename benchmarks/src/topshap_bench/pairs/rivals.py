"""Algorithms of shapiq that estimate the Shapley interaction index of pairs of players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.pairs import all_pairs
from topshap_bench.external import random_state_of_numpy, spend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topshap.core.typing import Game, Values
    from topshap_bench.external import Answer
    from topshap_bench.instrumented import CountedGame

RIVALS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "proxyshap": ("ProxySHAP", {}),
    "proxyshap-adjusted": ("ProxySHAP", {"adjustment": True}),
    "proxyshap-hpo": ("ProxySHAP", {"hpo": True}),
    "kernelshapiq": ("KernelSHAPIQ", {}),
    "svarmiq": ("SVARMIQ", {}),
}
"""Classes of shapiq with their options, by name. All estimate the index SII up to order 2."""


def estimate_pairs(name: str, game: Game, *, budget: int, seed: int) -> Answer:
    """Run an algorithm of shapiq so that it spends as many distinct evaluations of the budget as possible."""
    kind, options = RIVALS[name]
    shapiq = import_extra("shapiq", extra="shapiq", needed_by=name)
    approximator = getattr(shapiq.approximator, kind, None)
    if approximator is None:
        raise ImportError(f"{kind} is not in shapiq {shapiq.__version__}. Install shapiq 1.8 or later.")

    def run(counted: CountedGame, passed: int) -> Values | None:
        n = counted.n_players
        try:
            with random_state_of_numpy(seed):
                made = approximator(n, max_order=2, index="SII", random_state=seed, **options)
                found = made.approximate(passed, counted)
        except (ValueError, np.linalg.LinAlgError):  # raised for a budget that is too small
            return None
        values = np.array([found[tuple(pair)] for pair in all_pairs(n).tolist()], dtype=np.float64)
        return values if np.isfinite(values).all() else None

    return spend(run, game, budget=budget)
