"""The settings of the race on games of 30 to 500 players: budgets by size, one k, and rivals that are fast enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap_bench.experiment import fixed_budget_settings
from topshap_bench.external import available
from topshap_bench.sources import sized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topshap_bench.settings import Setting
    from topshap_bench.sources import Source

BUDGETS: Mapping[int, tuple[int, ...]] = {
    30: (200, 500, 1000, 2000),
    60: (200, 500, 1000, 2000),
    120: (500, 1000, 2000),
    500: (2000, 5000),
}
"""The budgets by number of players."""
K = 5
RUNS: Mapping[int, int] = {500: 2}
"""The most runs by number of players, if there is a limit."""
OF_TOPSHAP = ("odd-gp@k", "swap@k", "cmcs", "kernelshap")
OF_OTHERS = (
    "shap:kernel",
    "shap:permutation",
    "shapiq:kernelshap",
    "shapiq:leverageshap",
    "shapiq:leverageshap-fixed",
    "shapiq:oddshap",
    "shapiq:regression-msr",
    "shapiq:proxyshap",
    "shapiq:proxyshap-adjusted",
)
"""The closest rivals in small games that run in seconds, and those of shap."""


def large_rivals() -> list[str]:
    """Return the rivals by default, of installed packages only."""
    return [*OF_TOPSHAP, *(name for name in OF_OTHERS if name in available(slow=False))]


def large_settings(
    algorithms: Sequence[str], *, runs: int, players: Sequence[int] = tuple(BUDGETS)
) -> list[tuple[Source, Setting]]:
    """Return the settings of the race for games of these numbers of players; those of trees need xgboost."""
    made = []
    for n in players:
        count = min(runs, RUNS.get(n, runs))
        made += fixed_budget_settings(sized([n]), algorithms, ks=[K], budgets=BUDGETS[n], runs=count)
    return made
