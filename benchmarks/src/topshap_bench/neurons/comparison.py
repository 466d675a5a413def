"""The top 10 of 200 units of small networks: what their removal costs, and how many evaluations find them.

The networks are trained on the digits of scikit-learn with several seeds. The value of a coalition is the accuracy on
100 images; one evaluation is one forward pass of these images. Removal is judged on images that are held out. The
error of a set is its inclusion-exclusion error, in percentage points of accuracy, against a long run of `kernelshap`,
which has errors itself.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.neurons.activations import activation_scores
from topshap_bench.neurons.bandit import DELTA, run_bandit
from topshap_bench.neurons.networks import KINDS, accuracy_without, import_torch, train
from topshap_bench.parallel import run_all
from topshap_bench.summary import as_text, circumstances, mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap.core.typing import Players, Values
    from topshap_bench.neurons.bandit import Bandit, Bound
    from topshap_bench.neurons.networks import Trained

K, CHANCE = 10, 0.1
BUDGETS = (500, 1000, 2000)
RANDOM_SETS = 20
AUTO, BERNSTEIN, NORMAL = "auto", "bandit, Bernstein", "bandit, normal"


class Setting(NamedTuple):
    """A network and the limits of its runs."""

    network: str
    seed: int
    budgets: tuple[int, ...]
    tolerance: float
    most: int
    """The budget of runs that stop by themselves, and of the reference."""


class Found(NamedTuple):
    """A set of units: the evaluations it took, whether the run stopped by itself, its error, and the accuracy left."""

    evaluations: int
    stopped: bool
    error: float
    accuracy: float


class Outcome(NamedTuple):
    """The results for one network."""

    accuracy: float
    reference_error: float
    """The mean standard error of the reference."""
    removal: dict[str, float]
    """The accuracy on held-out images without the top units, by ranking."""
    at_budget: dict[tuple[str, int], Found]
    at_stop: dict[str, Found]


def compare_neurons(
    *,
    networks: Sequence[str] = tuple(KINDS),
    seeds: int = 3,
    budgets: Sequence[int] = BUDGETS,
    tolerance: float = 0.01,
    most: int = 6000,
    n_jobs: int = 1,
) -> str:
    """Run the comparison, and return its report.

    Parameters
    ----------
    networks
        Names of `topshap_bench.neurons.networks.KINDS`.
    seeds
        The number of networks of each kind.
    budgets
        The numbers of evaluations at which sets are compared.
    tolerance
        The tolerance of runs that stop by themselves.
    most
        The largest number of evaluations of these runs, and that of the reference.
    n_jobs
        The number of workers.
    """
    import_torch()  # names the extra before any work starts
    settings = [Setting(*each, tuple(budgets), tolerance, most) for each in product(networks, range(seeds))]
    return report(run_all(run_setting, settings, n_jobs))


def run_setting(setting: Setting) -> Outcome:
    """Train a network, and find its top units in every way."""
    import_torch().set_num_threads(1)
    trained = train(setting.network, setting.seed)
    reference = _identify(trained, setting, algorithm="kernelshap", budget=setting.most, random_state=1000)
    judge = _judge(trained, reference.estimates)
    at_budget = {}
    for budget in setting.budgets:
        top = _identify(trained, setting, budget=budget)
        at_budget[AUTO, budget] = judge(top.players, top.evaluations)

    def bandit(bound: Bound, tolerance: float, budget: int) -> Bandit:
        game, seed = trained.game, setting.seed
        return run_bandit(
            game, game.n_players, K, bound=bound, tolerance=tolerance, chance=CHANCE, budget=budget, seed=seed
        )

    endless = bandit("normal", 0.0, max(setting.budgets))
    for budget in setting.budgets:
        evaluations, estimates = [each for each in endless.history if each[0] <= budget or each is endless.history[0]][
            -1
        ]
        at_budget[NORMAL, budget] = judge(_top(estimates), evaluations)
    top = _identify(trained, setting, epsilon=setting.tolerance, delta=DELTA, budget=setting.most)
    at_stop = {AUTO: judge(top.players, top.evaluations, stopped=top.stopped == "confident")}
    bounds: dict[str, Bound] = {BERNSTEIN: "bernstein", NORMAL: "normal"}
    for name, bound in bounds.items():
        state = bandit(bound, setting.tolerance, setting.most)
        at_stop[name] = judge(_top(state.estimates), state.evaluations, stopped=state.stopped)
    return Outcome(
        accuracy=accuracy_without(trained.held_out, np.arange(0)),
        reference_error=float(np.mean(reference.std_errors)),
        removal=_removal(trained, setting),
        at_budget=at_budget,
        at_stop=at_stop,
    )


def _identify(trained: Trained, setting: Setting, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small budgets leave the set in doubt
        return topshap.identify(trained.game, k=K, **({"random_state": setting.seed} | options))


def _judge(trained: Trained, reference: Values) -> Callable[..., Found]:
    def judge(players: Players, evaluations: int, *, stopped: bool = False) -> Found:
        error = inclusion_exclusion_error(reference, players)
        return Found(evaluations, stopped, error, accuracy_without(trained.held_out, players))

    return judge


def _top(values: Values) -> Players:
    return np.argsort(-values, kind="stable")[:K]


def _removal(trained: Trained, setting: Setting) -> dict[str, float]:
    """Return the accuracy without the top units of rankings that evaluate no coalitions, and of random sets."""
    scores = activation_scores(setting.network, trained)
    left = {name: accuracy_without(trained.held_out, _top(values)) for name, values in scores.items()}
    rng, n = np.random.default_rng(setting.seed), trained.game.n_players
    sets = [rng.choice(n, K, replace=False) for _ in range(RANDOM_SETS)]
    return left | {"random": float(np.mean([accuracy_without(trained.held_out, each) for each in sets]))}


def report(outcomes: Mapping[Setting, Outcome]) -> str:
    """Return the tables of a comparison."""
    first = next(iter(outcomes))
    networks = list(dict.fromkeys(setting.network for setting in outcomes))
    grouped = {name: [o for setting, o in outcomes.items() if setting.network == name] for name in networks}
    counts = {len(each) for each in grouped.values()}
    head = f"{counts.pop()} networks of each kind, top {K} of 200 units, means with standard errors over networks"
    errors = ", ".join(
        f"{100 * np.mean([o.reference_error for o in each]):.2f} ({name})" for name, each in grouped.items()
    )
    judged = (
        f"error: in percentage points of accuracy, against kernelshap with {first.most} evaluations, whose standard "
        f"errors are {errors} on average"
    )
    parts = [_removal_table(grouped, max(first.budgets)), _budget_table(grouped, first.budgets), judged]
    return "\n\n".join([f"{circumstances('torch')}\n\n{head}", *parts, _stop_table(grouped, first)])


def _removal_table(grouped: Mapping[str, Sequence[Outcome]], budget: int) -> str:
    names = list(next(iter(grouped.values()))[0].removal)
    rows = []
    for network, outcomes in grouped.items():
        found = [_percent(o.at_budget[AUTO, budget].accuracy for o in outcomes)]
        others = [_percent(o.removal[name] for o in outcomes) for name in names]
        rows.append([network, _percent(o.accuracy for o in outcomes), *found, *others])
    title = f"accuracy in % on held-out images without the top {K} (lower is better; auto with {budget} evaluations)"
    return f"{title}\n{as_text(['network', 'all units', AUTO, *names], rows)}"


def _budget_table(grouped: Mapping[str, Sequence[Outcome]], budgets: Sequence[int]) -> str:
    rows = []
    for (network, outcomes), budget in product(grouped.items(), budgets):
        found = [[o.at_budget[name, budget] for o in outcomes] for name in (AUTO, NORMAL)]
        errors = [_percent(each.error for each in those) for those in found]
        rows.append([network, budget, *errors, *(_percent(each.accuracy for each in those) for those in found)])
    header = ["network", "evaluations", f"error {AUTO}", "error bandit", f"accuracy {AUTO}", "accuracy bandit"]
    return f"after equally many evaluations; the bandit has normal bounds and does not stop\n{as_text(header, rows)}"


def _stop_table(grouped: Mapping[str, Sequence[Outcome]], first: Setting) -> str:
    rows = []
    for (network, outcomes), name in product(grouped.items(), (AUTO, BERNSTEIN, NORMAL)):
        found = [o.at_stop[name] for o in outcomes]
        stopped = sum(each.stopped for each in found)
        numbers = [_percent(each.error for each in found), _percent(each.accuracy for each in found)]
        rows.append(
            [network, name, f"{stopped} of {len(found)}", mean_of(each.evaluations for each in found), *numbers]
        )
    header = ["network", "algorithm", "stopped", "evaluations", "error", "accuracy"]
    title = f"until the run stops by itself: tolerance {first.tolerance:g}, delta {DELTA:g}, at most {first.most}"
    return f"{title}\n{as_text(header, rows, left=2)}"


def _percent(numbers: Any) -> str:
    mean, error = mean_of(100.0 * number for number in numbers)
    return f"{mean:.2f} ± {error:.2f}"
