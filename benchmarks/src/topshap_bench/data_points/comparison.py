"""How many wrong labels the lowest values find, and the accuracy of a model without the lowest or highest points."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.errors import ParameterError
from topshap_bench.data_points.tasks import DATASETS, MODELS, make_task
from topshap_bench.data_points.valuations import VALUATIONS, reference
from topshap_bench.summary import circumstances, mean_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from topshap.core.typing import Matrix, Values
    from topshap_bench.data_points.tasks import Task

REMOVED = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
"""The fractions of the points that are removed."""
REFERENCE, REFERENCE_POINTS = 7500, 1000
"""The retrainings of a long run, and the largest number of points for it."""
LONG_RUN = "long run"
"""The name of the independent estimates of the Shapley values, which show what the exact values would find."""
COMPARED = ("topshap auto", "KNN-Shapley")
"""The valuation with a prior and the prior alone, whose difference in the same runs is shown."""
FIRST_SEED = 100
"""The first seed. The odds of player-gp were chosen on other data, its other constants on other random splits, whose
rows overlap with these."""


class Setting(NamedTuple):
    """A data set, a model, and the numbers of points and retrainings."""

    dataset: str
    model: str
    n_points: int
    budget: int

    @classmethod
    def parse(cls, text: str) -> Setting:
        """Return the setting of a text such as ``"digits:bayes:1000:1000"``.

        Examples
        --------
        >>> Setting.parse("digits:bayes:300:100")
        Setting(dataset='digits', model='bayes', n_points=300, budget=100)
        """
        parts = text.split(":")
        known = len(parts) == 4 and parts[0] in DATASETS and parts[1] in MODELS and all(map(str.isdigit, parts[2:]))
        if not known:
            must_be = f"DATA:MODEL:POINTS:BUDGET, with data in {DATASETS} and a model in {tuple(MODELS)}"
            raise ParameterError(f"A setting must be {must_be}. Got {text!r} instead.")
        return cls(parts[0], parts[1], int(parts[2]), int(parts[3]))


SETTINGS = (
    Setting("digits", "bayes", 1000, 500),
    Setting("adult", "logistic", 1000, 100),
    Setting("adult", "logistic", 1000, 500),
    Setting("bank-marketing", "logistic", 1000, 500),
    Setting("adult", "logistic", 10_000, 500),
    Setting("bank-marketing", "bayes", 10_000, 500),
)


class Measured(NamedTuple):
    """The quality of a valuation."""

    area: float
    """The area under the detection curve: the wrong labels found, by the fraction of points looked at, lowest first."""
    found: float
    """The fraction of the wrong labels among as many points of the lowest values."""
    without_lowest: float
    """The mean gain in held-out accuracy when the lowest points are removed, over `REMOVED`."""
    without_highest: float
    """The mean loss in held-out accuracy when the highest points are removed, over `REMOVED`."""
    correlation: float
    """The correlation with independent estimates of the Shapley values; nan if they were not computed."""
    seconds: float


def measure(task: Task, values: Values, truth: Values | None = None, seconds: float = 0.0) -> Measured:
    """Measure what values find; ties are broken at random."""
    order = np.lexsort([np.random.default_rng(0).random(len(values)), values])
    wrong = np.isin(order, task.wrong)
    cuts = [round(fraction * len(values)) for fraction in REMOVED]
    whole = task.accuracy_without(order[:0])
    return Measured(
        area=float(np.mean(np.cumsum(wrong) / len(task.wrong))),
        found=float(wrong[: len(task.wrong)].mean()),
        without_lowest=float(np.mean([task.accuracy_without(order[:cut]) for cut in cuts])) - whole,
        without_highest=whole - float(np.mean([task.accuracy_without(order[-cut:]) for cut in cuts])),
        correlation=np.nan if truth is None else float(np.corrcoef(values, truth)[0, 1]),
        seconds=seconds,
    )


def compare(
    settings: Sequence[Setting] = SETTINGS,
    *,
    runs: int = 3,
    valuations: Iterable[str] = tuple(VALUATIONS),
    folder: str | os.PathLike[str] | None = None,
) -> Iterator[str]:
    """Yield the lines of a report: one per setting and valuation."""
    yield circumstances("pydvl")
    yield (
        f"\nMeans and standard errors over {runs} runs; 10% of the labels are wrong. Area: under the detection curve. "
        "Found: wrong labels among\nas many lowest values. Lowest and highest: gain and loss of held-out accuracy, in "
        "percentage points, without 5% to 40% of these points.\n"
        f"Long run, up to {REFERENCE_POINTS} points: independent estimates of the Shapley values, without side "
        f"information and with {REFERENCE}\nretrainings. Shapley: the correlation with these, in percent; their own "
        "errors keep it below 100. KNN-Shapley trains no model.\nThe difference is that of topshap auto and "
        "KNN-Shapley, its prior, in the same runs.\n"
    )
    row = "{:<15} {:<9} {:>6} {:>6}  {:<20} {:>11} {:>11} {:>13} {:>13} {:>13} {:>7}"
    yield row.format(
        "data", "model", "points", "budget", "values", "area", "found", "lowest", "highest", "Shapley", "CPU s"
    )
    for setting in settings:
        found: dict[str, list[Measured]] = {}
        for seed in range(FIRST_SEED, FIRST_SEED + runs):
            task = make_task(setting.dataset, setting.model, setting.n_points, seed, folder=folder)
            for name, measured in _measured(task, setting, seed, valuations).items():
                found.setdefault(name, []).append(measured)
        tables = {name: np.array(of_runs).T for name, of_runs in found.items()}
        for name, columns in tables.items():
            yield row.format(*setting, name, *_texts(columns), f"{columns[-1].mean():.1f}")
        if tables.keys() >= set(COMPARED):
            one, other = (tables[name] for name in COMPARED)
            yield row.format(*setting, "difference", *_texts(one - other), "")
        yield ""


def _measured(task: Task, setting: Setting, seed: int, valuations: Iterable[str]) -> dict[str, Measured]:
    """Return the quality of every valuation in one run, and that of a long run if there are few points."""
    found, truth, start = {}, None, process_time()
    if setting.n_points <= REFERENCE_POINTS:
        truth = reference(task, REFERENCE)
        found[LONG_RUN] = measure(task, truth, seconds=process_time() - start)
    for name in valuations:
        start = process_time()
        values = VALUATIONS[name](task, setting.budget, seed)
        found[name] = measure(task, values, truth, process_time() - start)
    return found


def _texts(columns: Matrix) -> list[str]:
    """Return the means of all columns but the last, the CPU time."""
    return [_text(column, places) for column, places in zip(columns[:-1], (1, 1, 2, 2, 1), strict=True)]


def _text(numbers: Values, places: int) -> str:
    if np.isnan(numbers).any():
        return ""
    mean = mean_of(100.0 * numbers)
    return f"{mean.mean:.{places}f} ± {mean.error:.{places}f}"
