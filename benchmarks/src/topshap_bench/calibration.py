"""Calibration after a fixed budget: the share of right sets next to their confidence, and the coverage of intervals.

Only runs without `topshap.TopK.rare_contributions` are judged. A set is right if it is one of the optimal ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap_bench.runs import LEVEL
from topshap_bench.summary import Share, as_text, grouped, mean_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap_bench.settings import Row

ALGORITHMS = ("odd-gp", "cmcs")
BUDGETS = (100, 200, 400)
TOO_CONFIDENT = 0.05
"""Confidence is marked if it is significantly more than this above the share of runs that are right."""
LEAST_COVERAGE = 0.90
"""Coverage of intervals of 95% is marked if it is significantly below this."""
_COLUMNS = ("family", "algorithm", "budget", "runs", "warned", "confidence > 0.9", "right", "0.5 to 0.9", "right")


def calibration(rows: Sequence[Row]) -> str:
    """Return a table with a line per family, algorithm and budget, and a conclusion."""
    lines = [[*setting, *_cells(group)] for setting, group in grouped(rows, "family", "algorithm", "budget").items()]
    about = (
        f"Calibration after a fixed budget, of the runs without a warning of rare contributions ('warned' is the share"
        f" with it):\nmean confidence and the share of runs that are right, if the confidence is above 0.9 or from 0.5"
        f" to 0.9, and the coverage of intervals of {LEVEL:.0%}"
    )
    families = dict.fromkeys(line[0] for line in lines if line[1] == ALGORITHMS[0] and line[-1])
    conclusion = f"Lines of {ALGORITHMS[0]} are marked for: {', '.join(families) or 'no family'}."
    return "\n\n".join([about, as_text([*_COLUMNS, "coverage", ""], lines), conclusion])


def _cells(rows: Sequence[Row]) -> list[str]:
    """Return the cells of a line, given its runs."""
    judged = [row for row in rows if not row.rare_contributions]
    cells, marks = [str(len(rows)), f"{1.0 - len(judged) / len(rows):.3f}"], []
    for low, high in ((np.nextafter(0.9, 1.0), 1.0), (0.5, 0.9)):
        confident = [row for row in judged if row.confidence is not None and low <= row.confidence <= high]
        if not confident:
            cells += ["", ""]
            continue
        right = Share(sum(row.binary_precision == 1.0 for row in confident), len(confident))
        confidence = float(np.mean([row.confidence for row in confident]))
        cells += [f"{confidence:.3f}", str(right)]
        if right.is_below(confidence - TOO_CONFIDENT):
            marks = ["too confident"]
    covered = [row.coverage for row in judged if row.coverage is not None]
    if covered and mean_share(covered).is_below(LEAST_COVERAGE):
        marks.append("too narrow")
    return [*cells, str(mean_share(covered)) if covered else "", ", ".join(marks)]
