"""The Benchmarks section of the README, with the figures of the published reports: run ``make figures``."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from sitetools.figures import fill

README = Path(__file__).parent.parent.parent / "README.md"
SECTION = re.compile(r"(?<=^## Benchmarks\n\n).*?(?=\n\n## )", flags=re.DOTALL | re.MULTILINE)
TEXT = """
On {{ race-games }} complete games that were not used for tuning, with {{ race-least }} to {{ race-most }} distinct
evaluations and k = {{ race-ks }}, the error of the top k of `odd-gp` is {{ race-kernel }} of that of shap's
KernelExplainer, {{ race-permutation }} of its PermutationExplainer (version {{ race-shap }}), {{ race-oddshap }} of
shapiq's OddSHAP, {{ race-proxyshap }} of its ProxySHAP and {{ race-leverageshap }} of its LeverageSHAP (version
{{ race-shapiq }}; geometric means over games). Of the best rival in each game and budget, it is
{{ race-best-error }}, and the mean squared error of all values {{ race-best-mse }} (up to {{ race-worst-mse }} in a
family).

With the settings of Table 1 in [the paper](https://arxiv.org/abs/2504.02019), `odd-gp@k` needs
{{ sure-fewer }} times fewer evaluations than the number of calls published for `cmcs@k` (geometric mean over
{{ sure-games }} games), and was wrong in {{ sure-wrong }} of {{ sure-runs }} runs. Part of the difference is that
topshap counts distinct coalitions only: `cmcs@k` needs {{ adult-cmcs }} distinct coalitions on adult and
{{ diabetes-cmcs }} on diabetes, `odd-gp@k` needs {{ adult-odd-gp }} and {{ diabetes-odd-gp }}.

The numbers are from [race.txt](docs/benchmarks/race.txt), [confidence.txt](docs/benchmarks/confidence.txt) and
[paper.txt](docs/benchmarks/paper.txt). [Benchmarks](docs/benchmarks.md) has the commands and all results,
also where rivals are ahead.
"""


def section() -> str:
    """Return the section with its figures, wrapped at 100 characters."""
    paragraphs = fill(TEXT).strip().split("\n\n")
    return "\n\n".join(
        textwrap.fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False)
        for text in paragraphs
    )


def with_section(readme: str) -> str:
    """Return the README with a new section."""
    if SECTION.search(readme) is None:
        raise ValueError("The README has no section 'Benchmarks' that is followed by another one.")
    return SECTION.sub(lambda _: section(), readme, count=1)


def main() -> None:
    """Write the section into the README."""
    README.write_text(with_section(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
