"""The choice of ``algorithm="auto"``, and the measurements behind it.

For a fixed budget
------------------
1. A budget that covers all 2^n coalitions enumerates them: the answer is exact, and nothing is left to choose.
2. Up to `ODD_GP_PLAYERS` players, `odd-gp`, whatever the budget. With fewer than 2 n + 2 evaluations it compares the
   players alone or the grand coalition without each of them; from there on it is the Gaussian process.
3. Beyond, `cmcs`: the time and memory of a round grow with n alone, those of the process with n times the budget.
4. Without any budget, where another criterion ends the race, `greedy-cmcs`, which does not plan ahead; `cmcs` beyond
   `PAIRWISE_PLAYERS` players, since it follows no pairs, and where players are ranked by magnitude, since it samples
   all players alike.

For a fixed confidence
----------------------
5. ``guarantee="asymptotic"`` or ``"credible"``: `odd-gp@k`, up to 1000 players and if the game is deterministic.
6. Otherwise, up to `PAIRWISE_PLAYERS` players, `swap@k` (asymptotic) or `greedy-cmcs` (credible).
7. Beyond, `cmcs` (credible); ``"asymptotic"`` is an error.
8. ``guarantee="exact"``: `swap@k` if there is a `value_range`, up to `PAIRWISE_PLAYERS` players; otherwise all
   coalitions (`enumeration`): up to 18 players small coalitions and their complements first, with more by id.
9. ``guarantee="published"``: `cmcs@k`.
10. Without a guarantee, ``"asymptotic"``; beyond `PAIRWISE_PLAYERS` players ``"published"``, with a warning.

Measurements
------------
``topshap-bench fixed-budget --runs 20`` (2): on 33 complete games, half of those there are, with budgets from 50 to
2000 and k = 1, 3, 5, 7, `odd-gp` has 0.24 of the error of `kernelshap`, 0.31 of that of `greedy-cmcs` and 0.10 of that
of `stratified-svarm` (geometric means over games and budgets); 0.37 of that of the one of them that did best on a game
and budget, 0.34 if that one is chosen by half of the runs and measured in the others (0.32 and 0.31 with one ratio a
game, of the errors averaged over budgets); and in no family and budget more than `kernelshap`.

``topshap-bench large-games`` (2 and 3): on games of 500 and 1000 players with 5 and 10 evaluations each, 0.2 of the
error of least squares with leverage scores, as a geometric mean over kinds of games; 0.8 to 0.9 on the least smooth
kinds. With 1000 players and 10,000 evaluations it takes about half a minute and 0.9 GB; both grow with the square of
the evaluations.

``topshap-bench fixed-confidence`` (5 and 6): on six games of 10 to 16 players with k = 5, epsilon = 0.0005 and
delta = 0.01, `odd-gp@k` takes 16.1 and `swap@k` 7.8 times fewer evaluations than the calls published for `cmcs@k`.
``topshap-bench large-confidence`` (5): in sums of unanimity games of 30 to 300 players and models of 30 and 50
features, `odd-gp@k` takes 2.2 to 15.0 times fewer evaluations than `cmcs@k`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.algorithms.cmcs import CMCS
from topshap.algorithms.cmcs_at_k import CMCSAtK
from topshap.algorithms.enumeration import Enumeration
from topshap.algorithms.greedy_cmcs import GreedyCMCS
from topshap.algorithms.odd_gp.fixed_budget import OddGP
from topshap.algorithms.odd_gp.fixed_confidence import OddGPAtK
from topshap.algorithms.swap.algorithm import SwapAtK
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from topshap.core.algorithm import Algorithm
    from topshap.core.stopping import Guarantee
    from topshap.statistics.ranking import RankBy

ODD_GP_PLAYERS = 2000
"""The largest number of players for which the process is fitted."""
PAIRWISE_PLAYERS = 2000
"""The largest number of players for which the differences of all pairs are followed: these are n x n arrays."""


def choose(
    *,
    n_players: int,
    budget: int | None,
    guarantee: Guarantee | None,
    rank_by: RankBy = "value",
    deterministic: bool = True,
    bounded: bool = False,
) -> Algorithm[Any]:
    """Return the algorithm that ``algorithm="auto"`` runs; the module documents the rule.

    Parameters
    ----------
    n_players
        The number of players.
    budget
        The budget, None without a limit; less than all coalitions, which would be enumerated.
    guarantee
        The guarantee of a race that stops by itself, None for a race that does not; `auto_guarantee` is the default.
    rank_by
        The order in which players are ranked; not by magnitude with a guarantee.
    deterministic
        Whether a coalition has the same value every time.
    bounded
        Whether a range of the values is known.

    Examples
    --------
    >>> choose(n_players=14, budget=500, guarantee=None).name
    'odd-gp'
    >>> choose(n_players=5000, budget=20_000, guarantee=None).name
    'cmcs'
    >>> choose(n_players=14, budget=None, guarantee="asymptotic").name
    'odd-gp@k'
    """
    pairwise = n_players <= PAIRWISE_PLAYERS
    sampling: Algorithm[Any] = GreedyCMCS() if pairwise and rank_by != "magnitude" else CMCS()
    if guarantee == "exact":
        return SwapAtK() if bounded and pairwise else Enumeration()
    if guarantee == "published":
        return CMCSAtK()
    if guarantee is None:
        return OddGP() if budget is not None and n_players <= ODD_GP_PLAYERS else sampling
    if deterministic and n_players <= (OddGPAtK.max_players or n_players):
        return OddGPAtK()
    if guarantee == "credible":
        return sampling
    if not pairwise:
        must_be = (
            f"'credible' or 'published' beyond {PAIRWISE_PLAYERS} players, unless the algorithm is {SwapAtK.name!r}"
        )
        refuse("guarantee", guarantee, must_be=must_be)
    return SwapAtK()


def auto_guarantee(n_players: int) -> Guarantee:
    """Return the guarantee with which `choose` is to be called where none was asked for.

    Examples
    --------
    >>> auto_guarantee(14), auto_guarantee(5000)
    ('asymptotic', 'published')
    """
    return "asymptotic" if n_players <= PAIRWISE_PLAYERS else "published"
