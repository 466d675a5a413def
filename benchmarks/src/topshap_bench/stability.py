"""Failure rates of clear gaps and of stable ranks, compared with the allowed rates.

clear-gap     races with ``k="clear"`` on adversarial games (see `topshap_bench.adversarial`), for each delta; a run
              fails if a player of its set is not ahead of all others by epsilon, or by more than 0
credible-gap  the same with ``guarantee="credible"``, which is not a guarantee
ranks         `topshap.TopK.stable_ranks` at the level 1 - delta after a fixed budget; a run fails if any of the
              verified ranks is wrong, or shared with a player after it
sizes         the same for the verified set sizes; a run fails if any of them is wrong

Stable ranks assume normal estimates with the estimated covariance, which holds only approximately after few
evaluations; they are judged in runs without a warning of rare contributions. Rates have 95% Clopper-Pearson intervals
and are marked if they are significantly above delta (one-sided, 0.1%).
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap.core.validation import check_choice, front_door
from topshap.reference.metrics import tie_tolerance
from topshap_bench.adversarial import KINDS, adversarial_game
from topshap_bench.parallel import run_all
from topshap_bench.runs import lead_of_set
from topshap_bench.summary import Share, as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topshap.core.result import TopK
    from topshap.core.typing import Players, Values

DELTAS = (0.01, 0.05, 0.1)
GAPS = {"clear-gap": "asymptotic", "credible-gap": "credible"}
"""Questions about races that stop at a clear gap, and their guarantee."""
QUESTIONS = (*GAPS, "ranks", "sizes")
EPSILONS = (0.0, 0.02)
"""The smallest gap that counts, as fractions of the range of the Shapley values."""
ALGORITHMS = ("odd-gp", "cmcs")
BUDGET = 400
"""The budget after which stable ranks are judged."""


class Setting(NamedTuple):
    """Some runs of one kind of game."""

    question: str
    kind: str
    delta: float
    how: float | str
    """The epsilon of a clear gap, or the algorithm of a run with a fixed budget."""
    games: int
    runs: int
    budget: int


class Outcome(NamedTuple):
    """The failures among the judged runs, the number of answers, and the evaluations and the answer on average."""

    failures: Share
    answered: int
    """The runs that found a clear gap, or verified a rank or a size."""
    evaluations: float
    answer: float
    """The mean k of a clear gap, or the mean number of verified ranks or sizes."""


def wrong_borders(exact: Values, ranking: Players) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return, for each size, whether the leading players are not ahead of all others.

    Examples
    --------
    >>> wrong_borders(np.array([5.0, 1.0, 4.0, 4.0]), np.array([0, 2, 3, 1]))
    array([False,  True, False])
    """
    leads = [lead_of_set(exact, ranking[:k]) for k in range(1, len(exact))]
    return np.array(leads) <= 0.0


@front_door
def stability(
    *,
    questions: Sequence[str] = QUESTIONS,
    kinds: Sequence[str] = tuple(KINDS),
    deltas: Sequence[float] = DELTAS,
    games: int = 50,
    runs: int = 20,
    budget: int = BUDGET,
    n_jobs: int | None = None,
) -> str:
    """Run all settings and return the report.

    Parameters
    ----------
    questions, kinds
        The questions, see above, and the kinds of adversarial games.
    deltas
        The allowed failure rates.
    games, runs
        The number of games of each kind, and of runs per game.
    budget
        The budget after which stable ranks are judged.
    n_jobs
        The number of processes.
    """
    settings = []
    for question, kind, delta in product(questions, kinds, deltas):
        check_choice("questions", question, QUESTIONS)
        check_choice("kinds", kind, KINDS)
        hows: Sequence[float | str] = EPSILONS if question in GAPS else ALGORITHMS
        settings += [Setting(question, kind, delta, how, games, runs, budget) for how in hows]
    return f"{circumstances()}\n\n{report(run_all(run_setting, settings, n_jobs))}"


def run_setting(setting: Setting) -> Outcome:
    """Run a setting on all its games."""
    play = _clear_gap if setting.question in GAPS else _stable
    results = []
    for number in range(setting.games):
        game = adversarial_game(setting.kind, number)
        exact = game.shapley_values()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", topshap.RareContributionsWarning)
            results += [play(setting, game, exact, 1000 * number + run) for run in range(setting.runs)]
    judged = [(failed, answer) for failed, answer, top in results if not top.rare_contributions]
    return Outcome(
        failures=Share(sum(failed for failed, _ in judged), len(judged)),
        answered=sum(answer > 0 for _, answer in judged),
        evaluations=float(np.mean([top.evaluations for _, _, top in results])),
        answer=float(np.mean([answer for _, answer in judged])) if judged else float("nan"),
    )


def _clear_gap(setting: Setting, game: Any, exact: Values, seed: int) -> tuple[bool, int, TopK]:
    """Return whether a clear gap is wrong, its k or 0 without one, and the result."""
    epsilon = float(setting.how) * float(np.ptp(exact))
    options: Any = {"delta": setting.delta, "guarantee": GAPS[setting.question], "random_state": seed}
    top = topshap.identify(game, k="clear", epsilon=epsilon, **options)
    if top.stopped != "confident":
        return False, 0, top
    lead = lead_of_set(exact, top.players)
    return lead < epsilon - tie_tolerance(exact) or lead <= 0.0, top.k, top


def _stable(setting: Setting, game: Any, exact: Values, seed: int) -> tuple[bool, int, TopK]:
    """Return whether any verified rank or size is wrong, their number, and the result."""
    top = topshap.identify(game, k=4, budget=setting.budget, algorithm=str(setting.how), random_state=seed)
    stable, wrong = top.stable_ranks(1.0 - setting.delta), wrong_borders(exact, top.ranking)
    if setting.question == "ranks":
        return bool(wrong[: stable.count].any()), stable.count, top
    return bool(wrong[np.array(stable.sizes, dtype=np.intp) - 1].any()), len(stable.sizes), top


def report(outcomes: Mapping[Setting, Outcome]) -> str:
    """Return a table with a line for every setting."""
    lines = []
    for setting, outcome in outcomes.items():
        how = f"epsilon {setting.how:g}" if isinstance(setting.how, float) else f"{setting.how} {setting.budget}"
        judged = outcome.failures.runs
        mark = "above" if judged and outcome.failures.is_above(setting.delta) else ""
        found = f"{outcome.answered / judged:.2f}" if judged else ""
        failures = str(outcome.failures) if judged else "no run without a warning"
        numbers = [f"{outcome.evaluations:.0f}", found, f"{outcome.answer:.1f}", failures, mark]
        lines.append([setting.question, setting.kind, how, f"{setting.delta:g}", *numbers])
    columns = ["question", "kind", "how", "delta", "evaluations", "answered", "answer", "failures", ""]
    return as_text(columns, lines, left=3)
