"""Which coalitions next: one algorithm a file, each a generator that reads like its paper's pseudocode.

`make` turns the name of an algorithm into the algorithm with its default parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap._validation import refuse
from topshap.algorithms.ablations import Identical, Independent, SameLength
from topshap.algorithms.approshapley import ApproShapley
from topshap.algorithms.auto import choose
from topshap.algorithms.base import Algorithm, Rounds, Task
from topshap.algorithms.bus import BUS
from topshap.algorithms.cmcs import CMCS
from topshap.algorithms.cmcs_at_k import CMCSAtK
from topshap.algorithms.enumeration import Enumeration
from topshap.algorithms.gap_e import GapE
from topshap.algorithms.greedy_cmcs import GreedyCMCS
from topshap.algorithms.kernelshap import KernelSHAP
from topshap.algorithms.odd_gp import OddGP
from topshap.algorithms.odd_gp_at_k import OddGPAtK
from topshap.algorithms.samplingshap_at_k import SamplingSHAPAtK
from topshap.algorithms.sar import SAR
from topshap.algorithms.stratified_svarm import StratifiedSVARM
from topshap.algorithms.swap_at_k import SwapAtK

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALGORITHMS",
    "BUS",
    "CMCS",
    "SAR",
    "Algorithm",
    "ApproShapley",
    "CMCSAtK",
    "Enumeration",
    "GapE",
    "GreedyCMCS",
    "Identical",
    "Independent",
    "KernelSHAP",
    "OddGP",
    "OddGPAtK",
    "Rounds",
    "SameLength",
    "SamplingSHAPAtK",
    "StratifiedSVARM",
    "SwapAtK",
    "Task",
    "choose",
    "make",
]

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


def make(algorithm: Any, *, owner: str = "make") -> Algorithm[Any]:
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
        refuse("algorithm", algorithm, owner=owner, must_be=f"an Algorithm or one of {names}")
    return ALGORITHMS[algorithm]()
