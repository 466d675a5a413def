"""Benchmarks of top-k identification: one tidy table of results for games x algorithms x k x budgets x runs.

`fixed_budget_settings` and `fixed_confidence_settings` list the runs of an experiment. `run` executes them in parallel,
on one machine or a cluster, and resumes after an interruption. Algorithms of shap, shapiq and lightshap are available
by name, and any subclass of `topshap.algorithms.Algorithm` as ``"module:Class"``. The command ``topshap-bench`` runs
the experiments and measurements of this package.

Examples
--------
>>> import topshap_bench as bench
>>> games, algorithms = [bench.Source("tie", "0")], ["auto", "shapiq:svarm"]
>>> rows = bench.run(bench.fixed_budget_settings(games, algorithms, ks=[3], budgets=[60], runs=2))
>>> [(row.algorithm, row.run, row.evaluations) for row in rows]
[('auto', 0, 60), ('auto', 1, 60), ('shapiq:svarm', 0, 60), ('shapiq:svarm', 1, 60)]
"""

from topshap_bench.datasets import load_dataset
from topshap_bench.experiment import fixed_budget_settings, fixed_confidence_settings, run
from topshap_bench.results_file import ResultsFile, read_results
from topshap_bench.rivals import RIVALS
from topshap_bench.settings import Row, Setting
from topshap_bench.sources import Source, adversarial, from_folder, synthetic, trained

__all__ = [
    "RIVALS",
    "ResultsFile",
    "Row",
    "Setting",
    "Source",
    "adversarial",
    "fixed_budget_settings",
    "fixed_confidence_settings",
    "from_folder",
    "load_dataset",
    "read_results",
    "run",
    "synthetic",
    "trained",
]
