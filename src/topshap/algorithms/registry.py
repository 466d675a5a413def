"""The algorithms by name, and the choice of the one that a race runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.algorithms.auto import auto_guarantee, choose, choose_for_outputs
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
from topshap.algorithms.swap.algorithm import SwapAtK
from topshap.core.algorithm import Algorithm
from topshap.core.limits import default_guarantee
from topshap.core.validation import did_you_mean, front_door, refuse
from topshap.statistics.ranking import order_of_negated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topshap.core.limits import Limits
    from topshap.core.options import CheckedOptions
    from topshap.core.side_information import SideInformation
    from topshap.core.stopping import Guarantee
    from topshap.statistics.ranking import RankBy

ALGORITHMS: Mapping[str, type[Algorithm[Any]]] = {
    algorithm.name: algorithm
    for algorithm in (
        OddGP,
        OddGPAtK,
        SwapAtK,
        PlayerGP,
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
"""All algorithms that can be selected by name."""


@front_door
def make(algorithm: Any) -> Algorithm[Any]:
    """Return the algorithm of this name with its default parameters; an algorithm object is returned unchanged.

    Examples
    --------
    >>> make("greedy-cmcs")
    GreedyCMCS(warm_up=30)
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        names = ["auto", *ALGORITHMS]
        listed = ", ".join(repr(name) for name in names)
        refuse("algorithm", algorithm, must_be=f"an Algorithm or one of {listed}", hint=did_you_mean(algorithm, names))
    return ALGORITHMS[algorithm]()


def pick_algorithm(
    limits: Limits,
    n: int,
    options: CheckedOptions,
    *,
    deterministic: bool,
    n_outputs: int | None = None,
    side: SideInformation | None = None,
) -> Algorithm[Any]:
    """Return the algorithm to run: the requested one, or the choice of ``"auto"``; refuse one that lacks an ability."""
    auto = isinstance(options.algorithm, str) and options.algorithm == "auto"
    asked_for = None if auto else make(options.algorithm)
    if limits.enumerates:
        return Enumeration()
    if auto and side is not None and side.required and limits.confidence is None:
        asked_for = PlayerGP()
    if options.ordered and limits.confidence is None:
        must_be = "False without 'epsilon', unless the budget covers all coalitions: a fixed budget guarantees no order"
        refuse("ordered", options.ordered, must_be=must_be)
    several = n_outputs is not None
    default = "credible" if several else auto_guarantee(n)
    if limits.confidence is not None:
        _refuse_published(limits.guarantee or (default if auto else None), options)
    picked = asked_for or (choose_for_outputs if several else choose)(
        n_players=n,
        budget=limits.budget,
        guarantee=None if limits.confidence is None else limits.guarantee or default,
        rank_by=options.rank_by,
        ordered=options.ordered or options.order != 1,  # neither can be shown by players across the border alone
        deterministic=deterministic,
        bounded=limits.value_range is not None,
        informed=side is not None and options.order == 1,
    )
    if side is not None and side.required and not picked.takes_side_information:
        able = _names(lambda kind: kind.takes_side_information)
        refuse("algorithm", options.algorithm, must_be=f"one that uses side information: {able}")
    if several and picked.outputs == "one":
        able = _names(lambda kind: kind.outputs != "one")
        must_be = f"one for a game with several outputs: 'auto', {able}. This game has {n_outputs}"
        refuse("algorithm", options.algorithm, must_be=must_be)
    if several and picked.outputs == "together" and not deterministic:
        able = _names(lambda kind: kind.outputs == "each")
        refuse("algorithm", options.algorithm, must_be=f"one for several outputs that vary from call to call: {able}")
    if limits.clear_gap and limits.confidence is not None:  # without a confidence, k is refused
        _check_clear_gap(picked, options)
    if (needed := _missing_ability(picked, limits, n, options, deterministic=deterministic)) is not None:
        refuse("algorithm", options.algorithm, must_be=needed)
    if limits.budget is None and picked.needs_budget:
        refuse("budget", None, must_be=f"given with algorithm {picked.name!r}, which depends on it")
    return picked


def _check_clear_gap(picked: Algorithm[Any], options: CheckedOptions) -> None:
    """Refuse ``k="clear"`` with a goal or an algorithm that has no bounds for it."""
    if options.order != 1:
        refuse("order", options.order, must_be="1 with k='clear'")
    if options.rank_by == "magnitude":
        refuse("rank_by", options.rank_by, must_be="'value' or 'lowest' with k='clear'")
    if options.ordered:
        refuse("ordered", options.ordered, must_be="False with k='clear', which finds a set")
    if not picked.finds_clear_gap:
        able = _names(lambda kind: kind.finds_clear_gap)
        must_be = f"an int with algorithm {picked.name!r}, which does not look for gaps; k='clear' needs {able}"
        refuse("k", "clear", must_be=must_be)


def _missing_ability(
    picked: Algorithm[Any], limits: Limits, n: int, options: CheckedOptions, *, deterministic: bool
) -> str | None:
    """Return the ability that the race needs and the algorithm lacks, None if it has all."""
    if options.order not in picked.orders:
        return _for_pairs(n)
    by_default = picked.outputs != "one" and isinstance(options.algorithm, str) and options.algorithm == "auto"
    if limits.confidence is not None and not (by_default and limits.guarantee is None):
        lacking = _missing_guarantee(type(picked), limits.guarantee, options)
        if lacking is not None:
            return lacking
    if not _can_rank(picked.ranks_by, options.rank_by):
        able = _names(lambda kind: _can_rank(kind.ranks_by, options.rank_by))
        return f"one that ranks by {options.rank_by}: 'auto', {able}"
    most = picked.max_players if options.order == 1 else picked.max_players_of_pairs
    if most is not None and n > most:
        what = "" if options.order == 1 else "pairs of "
        return f"one for {what}more than {most} players: this game has {n}"
    if not deterministic and not picked.takes_noise:
        return "one for a game that is not deterministic"
    return None


def _for_pairs(n: int) -> str:
    """Return the requirement of a race of order 2, with the algorithms that meet it."""
    able = _names(lambda kind: 2 in kind.orders)
    every = f"any with a budget of 2**{n} that covers all coalitions"
    return f"one that ranks pairs (order=2): {f'{able}, or {every}' if able else every}"


def _refuse_published(guarantee: Guarantee | None, options: CheckedOptions) -> None:
    """Refuse the published rule where it does not apply: its intervals are of values, across the border only."""
    what = "for an ordered list" if options.ordered else "by magnitude"
    if guarantee == "published" and (options.ordered or options.rank_by == "magnitude"):
        refuse("guarantee", options.guarantee, must_be=f"'asymptotic', 'credible' or 'exact' {what}")


def _missing_guarantee(
    picked: type[Algorithm[Any]], asked_for: Guarantee | None, options: CheckedOptions
) -> str | None:
    """Return the guarantee that the algorithm lacks, with alternatives; None if it can give it."""
    own = _guarantees_of(picked, options)
    if asked_for in own or (asked_for is None and default_guarantee(own) is not None):
        return None
    guarantee = asked_for or "asymptotic"
    able = _names(lambda kind: guarantee in _guarantees_of(kind, options))
    offered = " or ".join(f"guarantee={each!r}" for each in own) or "no ordered lists"
    in_order = " and ordered=True" if options.ordered else ""
    return (
        f"one that can stop by itself with guarantee={guarantee!r}{in_order}: 'auto', {able or 'or one of your own'}; "
        f"{picked.name!r} takes {offered}"
    )


def _guarantees_of(kind: type[Algorithm[Any]], options: CheckedOptions) -> tuple[Guarantee, ...]:
    """Return the guarantees that an algorithm can give for what is ranked."""
    able = kind.ordered_guarantees if options.ordered else kind.guarantees
    return tuple(each for each in able if each != "published" or options.rank_by != "magnitude")


def _can_rank(orders: tuple[RankBy, ...], rank_by: RankBy) -> bool:
    """Return whether an algorithm with these orders can rank by another, on the game or on the negated game."""
    return rank_by in orders or order_of_negated(rank_by) in orders


def _names(able: Callable[[type[Algorithm[Any]]], bool]) -> str:
    return ", ".join(repr(name) for name, kind in ALGORITHMS.items() if able(kind))
