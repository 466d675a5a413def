"""Experiments as data: games x algorithms x k x budgets x runs give one tidy table, on one machine or on a cluster.

`cells_of` and `races_of` say what to run, `run` runs it: in parallel, resumable, every run with random numbers of its
own. shap and shapiq are algorithms too, with their accesses counted by topshap's ledger. The command ``topshap bench``
makes the experiments of the modules `race`, `guarantee`, `paper` and `scale`.

Examples
--------
>>> from topshap import bench
>>> cells = bench.cells_of([bench.Source("tie", "0")], ["auto", "shapiq:svarm"], ks=[3], budgets=[60], runs=2)
>>> rows = bench.run(cells)
>>> [(row.algorithm, row.run, row.evaluations) for row in rows]
[('auto', 0, 60), ('auto', 1, 60), ('shapiq:svarm', 0, 60), ('shapiq:svarm', 1, 60)]
"""

from topshap.bench.cells import Cell, Row
from topshap.bench.experiment import cells_of, races_of, run
from topshap.bench.external import EXTERNAL
from topshap.bench.sources import Source, from_folder, hard, synthetic, trained
from topshap.bench.table import Table, read_table

__all__ = [
    "EXTERNAL",
    "Cell",
    "Row",
    "Source",
    "Table",
    "cells_of",
    "from_folder",
    "hard",
    "races_of",
    "read_table",
    "run",
    "synthetic",
    "trained",
]
