"""The algorithms that can be asked for by name, and the one that a race runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.algorithms.auto import choose
from topshap.algorithms.baselines.ablations import Identical, Independent, SameLength
from topshap.algorithms.baselines.approshapley import ApproShapley
from topshap.algorithms.baselines.bus import BUS
from topshap.algorithms.baselines.gap_e import GapE
from topshap.algorithms.baselines.kernelshap import KernelSHAP
from topshap.algorithms.baselines.samplingshap_at_k import SamplingSHAPAtK
from topshap.algorithms.baselines.sar import SAR
from topshap.algorithms.baselines.stratified_svarm import StratifiedSVARM
from topshap.algorithms.cmcs import CMCS
from topshap.algorithms.cmcs_at_k import CMCSAtK
from topshap.algorithms.enumeration import Enumeration
from topshap.algorithms.greedy_cmcs import GreedyCMCS
from topshap.algorithms.odd_gp.fixed_budget import OddGP
from topshap.algorithms.odd_gp.fixed_confidence import OddGPAtK
from topshap.algorithms.swap.algorithm import SwapAtK
from topshap.core.algorithm import Algorithm
from topshap.core.validation import front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topshap.core.options import Terms
    from topshap.statistics.ranking import RankBy

ALGORITHMS: Mapping[str, type[Algorithm[Any]]] = {
    algorithm.name: algorithm
    for algorithm in (
        OddGP,
        OddGPAtK,
        SwapAtK,
        CMCS,
        GreedyCMCS,
        CMCSAtK,
        Independent,
        SameLength,
        Identical,
        ApproShapley,
        KernelSHAP,
        StratifiedSVARM,
        BUS,
        SamplingSHAPAtK,
        GapE,
        SAR,
    )
}
"""Every algorithm that can be asked for by name."""


@front_door
def make(algorithm: Any) -> Algorithm[Any]:
    """Return the algorithm of this name with its default parameters; an algorithm is returned as it is.

    Examples
    --------
    >>> make("greedy-cmcs")
    GreedyCMCS(warm_up=30)
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        names = ", ".join(repr(name) for name in ["auto", *ALGORITHMS])
        refuse("algorithm", algorithm, must_be=f"an Algorithm or one of {names}")
    return ALGORITHMS[algorithm]()


def pick_algorithm(terms: Terms, n: int, algorithm: Any, *, rank_by: RankBy, deterministic: bool) -> Algorithm[Any]:
    """Return the algorithm to run: the one that was asked for, if it can keep the terms."""
    auto = isinstance(algorithm, str) and algorithm == "auto"
    asked_for = None if auto else make(algorithm)
    if terms.enumerates:
        return Enumeration()
    guarantee = terms.guarantee
    if rank_by != "value" and guarantee is not None:
        refuse("rank_by", rank_by, must_be="'value' in a race that stops by itself when it is confident")
    chosen = asked_for or choose(
        n_players=n,
        budget=terms.budget,
        guarantee=guarantee,
        rank_by=rank_by,
        deterministic=deterministic,
        bounded=terms.value_range is not None,
    )
    if guarantee is not None and guarantee not in chosen.guarantees:
        able = ", ".join(repr(name) for name, kind in ALGORITHMS.items() if guarantee in kind.guarantees)
        must_be = f"one that can stop by itself with guarantee={guarantee!r}: 'auto', {able or 'or one of your own'}"
        refuse("algorithm", algorithm, must_be=must_be)
    if rank_by not in chosen.ranks_by:
        able = ", ".join(repr(name) for name, kind in ALGORITHMS.items() if rank_by in kind.ranks_by)
        must_be = f"one that ranks by {rank_by}: 'auto', {able}"
        refuse("algorithm", algorithm, must_be=must_be)
    if terms.budget is None and chosen.needs_budget:
        must_be = f"given with algorithm {chosen.name!r}, which plans for the whole of it"
        refuse("budget", None, must_be=must_be)
    if chosen.max_players is not None and n > chosen.max_players:
        must_be = f"one for more than {chosen.max_players} players: this game has {n}"
        refuse("algorithm", algorithm, must_be=must_be)
    if not deterministic and not chosen.takes_noise:
        refuse("algorithm", algorithm, must_be="one for a game that is not deterministic")
    return chosen
