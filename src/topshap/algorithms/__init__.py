"""The algorithms: each decides which coalitions to evaluate next, and estimates the Shapley values from their values.

`make` returns the algorithm of a given name, with its default parameters.
"""

from __future__ import annotations

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
from topshap.algorithms.player_gp.algorithm import PlayerGP
from topshap.algorithms.registry import ALGORITHMS, make
from topshap.algorithms.swap.algorithm import SwapAtK
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds

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
    "PlayerGP",
    "Problem",
    "Round",
    "Rounds",
    "SameLength",
    "SamplingSHAPAtK",
    "StratifiedSVARM",
    "SwapAtK",
    "choose",
    "make",
]
