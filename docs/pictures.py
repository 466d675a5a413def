"""Draw the pictures of the README and the site, the leaderboard and the race of one run, and save them in docs/images.

The run answers the question of ``topshap demo``: which features are behind a neural network's prediction for a tumour?
The algorithm is greedy-cmcs with a short warm-up, so that its estimates are plotted from the start.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from PIL import Image

import topshap
from topshap.cli.demo import suspicious_tumour

FOLDER = Path(__file__).parent / "images"


def main() -> None:
    """Run once and draw both pictures."""
    mpl.use("Agg")
    explainer, x, _ = suspicious_tumour()
    top = explainer.explain(x, k=5, budget=1500, algorithm=topshap.algorithms.GreedyCMCS(warm_up=2), random_state=0)
    FOLDER.mkdir(exist_ok=True)
    for name, axes in (("leaderboard", top.plot(most=14)), ("race", topshap.show.race(top))):
        path = FOLDER / f"{name}.png"
        drawn = BytesIO()
        axes.figure.savefig(drawn, dpi=110)
        Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)
        print(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
