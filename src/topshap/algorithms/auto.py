"""The choice of ``algorithm="auto"``, and the measurements behind it.

For a fixed budget
------------------
1. If the budget covers all 2^n coalitions, they are enumerated, and the result is exact.
2. Up to `ODD_GP_PLAYERS` players, `odd-gp`, whatever the budget. With fewer evaluations than players it fits a model in
   which few players matter to random coalitions; with fewer than 2 n + 2 it compares the players alone or the grand
   coalition without each of them; from there on it is the Gaussian process. Beyond 12,000 evaluations, which only cheap
   games allow, the process is conditioned on a part of the pairs and corrected by least squares on the others, so that
   its time grows in proportion to the budget.
3. Beyond, `cmcs`: the time and memory of a round grow with n alone, those of the process with n times the budget. With
   fewer than `FEW_EVALUATIONS` evaluations per player, which leave most players without a sample, `player-gp`.
   If there is side information, such as the prior of training points, and fewer than `INFORMED_EVALUATIONS` evaluations
   per player, `player-gp` for any number of players.
4. Without a budget, if another criterion ends the race, `greedy-cmcs`, which does not depend on the budget; `cmcs`
   beyond `PAIRWISE_PLAYERS` players, since it does not track pairs, and if players are ranked by magnitude, since it
   samples all players equally.

For a fixed confidence
----------------------
5. ``guarantee="asymptotic"`` or ``"credible"``: `odd-gp@k`, up to 1000 players and if the game is deterministic.
6. Otherwise, up to `PAIRWISE_PLAYERS` players, `swap@k` (asymptotic) or `greedy-cmcs` (credible).
7. Beyond, `cmcs` (credible); ``"asymptotic"`` is an error.
8. ``guarantee="exact"``: `swap@k` if there is a `value_range`, up to `PAIRWISE_PLAYERS` players; otherwise all
   coalitions (`enumeration`): up to 18 players small coalitions and their complements first, with more by id.
9. ``guarantee="published"``: `cmcs@k`.
   By magnitude, for ordered lists and for pairs, `cmcs` takes the place of `greedy-cmcs` and enumeration that of
   `swap@k`, which compare players across the border of values only; ``"asymptotic"`` is then an error where `odd-gp@k`
   cannot run, and so is ``"published"``.
10. If no guarantee is given, ``"asymptotic"``; beyond `PAIRWISE_PLAYERS` players ``"published"``, with a warning.

For several outputs
-------------------
11. If the budget covers all coalitions, they are enumerated.
12. With a budget, `odd-gp` up to `SHARED_PLAYERS` players, whose outputs share one Gaussian process; beyond, and if
    values vary from call to call, `kernelshap` up to `ODD_GP_PLAYERS` players.
13. Otherwise, and with ``guarantee="credible"``, the default, or ``"published"``, `cmcs`. ``"exact"`` enumerates, and
    ``"asymptotic"`` is an error.

For pairs of players
--------------------
14. With a budget, `odd-gp`, up to 200 players, if the budget does not cover all coalitions.

Measurements
------------
``topshap-bench fixed-budget --runs 20`` (2): 33 complete games, half of those available, with budgets from 50 to 2000
and k = 1, 3, 5, 7. As geometric means over games and budgets, the error of `odd-gp` is 0.24 times that of `kernelshap`,
0.31 times that of `greedy-cmcs` and 0.10 times that of `stratified-svarm`. It is 0.37 times that of the best of the
three on each game and budget, or 0.34 times if the best is chosen on half of the runs and measured on the others (0.32
and 0.31 with one ratio per game, of errors averaged over budgets). In no family and at no budget is it larger than the
error of `kernelshap`.

``topshap-bench large-games`` (2 and 3): on games of 500 and 1000 players with 5 and 10 evaluations per player, the
error is 0.2 times that of least squares with leverage scores, as a geometric mean over kinds of games, and 0.8 to 0.9
times on the least smooth kinds. With 1000 players and 10,000 evaluations a run takes about half a minute and 0.9 GB;
both grow with the square of the evaluations.

Large budgets on cheap games (2): root mean square errors in 1e-4 of the range of the Shapley values, with CPU seconds
in parentheses, the game included. Two games each, sums or sigmoids of sparse polynomials and sigmoids of group counts.
Here `odd-gp` is conditioned on 2000 pairs.

=====================  ================  ================  ====================  ====================
game                   odd-gp, 20,000    odd-gp, 100,000   kernelshap, 100,000   kernelshap, 200,000
=====================  ================  ================  ====================  ====================
polynomial, n = 30     0.5 (0.27)        0.4 (0.77)        10.5 (0.19)           8.0 (0.47)
sigmoid, n = 20        9.0 (0.24)        2.5 (0.79)        13.7 (0.18)           6.6 (0.41)
sigmoid, n = 30        9.4 (0.28)        4.4 (0.71)        18.9 (0.19)           12.5 (0.47)
groups, n = 60         61.7 (0.33)       26.0 (0.97)       155.5 (0.26)
=====================  ================  ================  ====================  ====================

`stratified-svarm` with 50,000 evaluations has errors of 47 to 56 on the first three (0.16 to 0.21 s). Least squares
with all interactions of order 3 on the odd part has 31 with 12,000 and 13 with 50,000 evaluations on the sigmoid of 20
players (0.23 and 0.72 s); its time grows with the sixth power of n.

``topshap-bench data-points`` (3): with 500 retrainings for 1000 and 10,000 points; see ``docs/benchmarks``.

``topshap-bench fixed-confidence`` (5 and 6): on six games of 10 to 16 players with k = 5, epsilon = 0.0005 and
delta = 0.01, `odd-gp@k` takes 16.1 and `swap@k` 7.8 times fewer evaluations than the calls published for `cmcs@k`.
``topshap-bench large-confidence`` (5): in sums of unanimity games of 30 to 300 players and models of 30 and 50
features, `odd-gp@k` takes 2.2 to 15.0 times fewer evaluations than `cmcs@k`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.algorithms.baselines.kernelshap import KernelSHAP
from topshap.algorithms.cmcs import CMCS
from topshap.algorithms.cmcs_at_k import CMCSAtK
from topshap.algorithms.enumeration import Enumeration
from topshap.algorithms.greedy_cmcs import GreedyCMCS
from topshap.algorithms.odd_gp.fixed_budget import OddGP
from topshap.algorithms.odd_gp.fixed_confidence import OddGPAtK
from topshap.algorithms.player_gp.algorithm import PlayerGP
from topshap.algorithms.swap.algorithm import SwapAtK
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from topshap.core.algorithm import Algorithm
    from topshap.core.stopping import Guarantee
    from topshap.statistics.ranking import RankBy

ODD_GP_PLAYERS = 2000
"""The largest number of players for which the Gaussian process is fitted."""
INFORMED_EVALUATIONS = 5.0
"""The number of evaluations per player below which side information is worth more than what single players tell."""
FEW_EVALUATIONS = 0.25
"""The number of evaluations per player below which marginal contributions of single players are too few."""
SHARED_PLAYERS = 200
"""The largest number of players for which several outputs share a Gaussian process: each has its own relevance."""
PAIRWISE_PLAYERS = 2000
"""The largest number of players for which the differences of all pairs are tracked, in n x n arrays."""


def choose(
    *,
    n_players: int,
    budget: int | None,
    guarantee: Guarantee | None,
    rank_by: RankBy = "value",
    ordered: bool = False,
    deterministic: bool = True,
    bounded: bool = False,
    informed: bool = False,
) -> Algorithm[Any]:
    """Return the algorithm that ``algorithm="auto"`` runs.

    It depends on the number of players, the budget and the guarantee, as the page "Which algorithm?" shows.

    Parameters
    ----------
    n_players
        The number of players.
    budget
        The budget, None without a limit. It must not cover all coalitions, since these would be enumerated.
    guarantee
        The guarantee of a race that stops by itself, None for a race that does not; `auto_guarantee` is the default.
    rank_by
        The order in which players are ranked.
    ordered
        Whether the order of the top k matters, or pairs are ranked: the players across the border are not enough.
    deterministic
        Whether a coalition has the same value every time.
    bounded
        Whether a range of the values is known.
    informed
        Whether there is side information about the players, see `topshap.SideInformation`.

    Examples
    --------
    >>> choose(n_players=14, budget=500, guarantee=None).name
    'odd-gp'
    >>> choose(n_players=5000, budget=20_000, guarantee=None).name
    'cmcs'
    >>> choose(n_players=5000, budget=20_000, guarantee=None, informed=True).name
    'player-gp'
    >>> choose(n_players=14, budget=None, guarantee="asymptotic").name
    'odd-gp@k'
    """
    pairwise = n_players <= PAIRWISE_PLAYERS
    across_border = rank_by != "magnitude" and not ordered
    sampling: Algorithm[Any] = GreedyCMCS() if pairwise and across_border else CMCS()
    if guarantee == "exact":
        return SwapAtK() if bounded and pairwise and across_border else Enumeration()
    if guarantee == "published":
        return CMCSAtK()
    if guarantee is None:
        return _for_budget(n_players, budget, informed=informed) or sampling
    if deterministic and n_players <= (OddGPAtK.max_players or n_players):
        return OddGPAtK()
    if guarantee == "credible":
        return sampling
    if not across_border:
        must_be = (
            "'credible' or 'exact' by magnitude, for ordered lists and for pairs, if values vary from call to call or "
            f"there are more than {OddGPAtK.max_players} players"
        )
        refuse("guarantee", guarantee, must_be=must_be)
    if not pairwise:
        must_be = (
            f"'credible' or 'published' beyond {PAIRWISE_PLAYERS} players, unless the algorithm is {SwapAtK.name!r}"
        )
        refuse("guarantee", guarantee, must_be=must_be)
    return SwapAtK()


def _for_budget(n_players: int, budget: int | None, *, informed: bool) -> Algorithm[Any] | None:
    """Return the algorithm of a race that only its budget ends, None if it samples marginal contributions."""
    if budget is None:
        return None
    per_player = budget / n_players
    if informed and per_player < INFORMED_EVALUATIONS:
        return PlayerGP()
    if n_players <= ODD_GP_PLAYERS:
        return OddGP()
    return PlayerGP() if per_player < FEW_EVALUATIONS else None


def choose_for_outputs(
    *,
    n_players: int,
    budget: int | None,
    guarantee: Guarantee | None,
    rank_by: RankBy = "value",  # noqa: ARG001 - the same parameters as `choose`
    ordered: bool = False,  # noqa: ARG001 - the same parameters as `choose`
    deterministic: bool = True,
    bounded: bool = False,  # noqa: ARG001 - the same parameters as `choose`
    informed: bool = False,  # noqa: ARG001 - the same parameters as `choose`
) -> Algorithm[Any]:
    """Return the algorithm that ``algorithm="auto"`` runs on a game with several outputs; see `choose`.

    Examples
    --------
    >>> choose_for_outputs(n_players=14, budget=500, guarantee=None).name
    'odd-gp'
    >>> choose_for_outputs(n_players=14, budget=None, guarantee="credible").name
    'cmcs'
    """
    if guarantee == "asymptotic":
        refuse("guarantee", guarantee, must_be="'credible', 'exact' or 'published' for a game with several outputs")
    if guarantee == "exact":
        return Enumeration()
    if guarantee is None and budget is not None:
        if deterministic and n_players <= SHARED_PLAYERS:
            return OddGP()
        if n_players <= ODD_GP_PLAYERS:
            return KernelSHAP()
    return CMCS()


def auto_guarantee(n_players: int) -> Guarantee:
    """Return the guarantee for `choose` if none was given.

    Examples
    --------
    >>> auto_guarantee(14), auto_guarantee(5000)
    ('asymptotic', 'published')
    """
    return "asymptotic" if n_players <= PAIRWISE_PLAYERS else "published"
