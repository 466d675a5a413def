"""Draw the pictures of the README and the site, and record the run that they show, in docs/images.

The run answers the question of ``topshap demo``: which features are behind a neural network's prediction for a tumour?
The algorithm is greedy-cmcs with a short warm-up, so that its estimates are plotted from the start. ``recorded.json``
has all moments of the run; the landing page plays them.
"""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image

import topshap
from topshap.cli.demo import suspicious_tumour
from topshap.show.race_plot import known_history

FOLDER = Path(__file__).parent / "images"
UNIT = 0.0001
"""Estimates are recorded as multiples of this."""


def main() -> None:
    """Run once, draw both pictures and keep the recording."""
    mpl.use("Agg")
    explainer, x, _ = suspicious_tumour()
    top = explainer.explain(x, k=3, budget=1000, algorithm=topshap.algorithms.GreedyCMCS(warm_up=2), random_state=0)
    FOLDER.mkdir(exist_ok=True)
    leaderboard, race = top.plot(most=8), topshap.show.race(top)
    leaderboard.figure.set_size_inches(6.0, 3.4)  # narrow, so that its labels can be read on a phone
    for name, axes in (("leaderboard", leaderboard), ("race", race)):
        path = FOLDER / f"{name}.png"
        drawn = BytesIO()
        axes.figure.savefig(drawn, dpi=150)
        Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)
        print(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size:,} bytes")
    path = FOLDER / "recorded.json"
    path.write_text(json.dumps(recording(top), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size:,} bytes")


def recording(top: topshap.TopK) -> dict[str, Any]:
    """Return the moments of a run from the first one at which estimates differ, in ten-thousandths."""
    history = known_history(top)
    half_widths = np.nan_to_num(1.96 * history.std_errors)
    return {
        "algorithm": top.algorithm,
        "k": top.k,
        "unit": UNIT,
        "names": top.player_names,
        "evaluations": history.evaluations.tolist(),
        "estimates": np.rint(history.estimates / UNIT).astype(int).tolist(),
        "half_widths": np.rint(half_widths / UNIT).astype(int).tolist(),
    }


if __name__ == "__main__":
    main()
