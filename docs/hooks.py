"""MkDocs hooks that run the gallery and insert the results of the benchmarks and a recorded run.

Gallery: each script in ``docs/gallery`` runs in an empty folder. Its output and the png files that it saves are shown
below its code. Scripts in ``docs/gallery/heavy`` need models that take a long time to install, so only their code is
shown.

Benchmarks: a section of ``docs/benchmarks.md`` with a line ``<!-- results: NAME -->`` shows the report
``docs/benchmarks/NAME.txt`` with tables that can be sorted, a link to the file, and the figures ``NAME.png`` and
``NAME-*.png``. ``make publish-benchmarks`` copies them to this folder. A section without its file is left out; a file
without a section is an error. A line ``<!-- code: PATH -->`` shows a Python file of the repository.

Both ``benchmarks.md`` and the landing page ``index.md`` may have figures from the reports, ``{{ NAME }}``, and charts,
``<!-- chart: NAME -->``. A line ``<!-- race: PATH -->`` of the landing page plays a recorded run. The package
``sitetools`` makes them.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sitetools import animation, charts, figures, reports

DOCS = Path(__file__).parent
GALLERY = DOCS / "gallery"
BENCHMARKS = DOCS / "benchmarks"
RESULTS = re.compile(r"^<!-- results: ([a-z-]+) -->$", flags=re.MULTILINE)
CODE = re.compile(r"^<!-- code: ([\w./-]+\.py) -->$", flags=re.MULTILINE)
CHART = re.compile(r"^<!-- chart: ([a-z-]+) -->$", flags=re.MULTILINE)
RACE = re.compile(r"^<!-- race: ([\w./-]+\.json) -->$", flags=re.MULTILINE)
CIRCUMSTANCES = re.compile(r"\d{4}-\d\d-\d\d, Python \d.*, topshap \d.*, \d+ cores")
"""The first line of a report: date, versions and machine."""

_sections: list[str] = []
"""The sections of the gallery page, filled after the scripts have run."""


def on_files(files: Any, config: Any) -> Any:
    """Run the gallery, and add its pictures to the site."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the tests use this module without mkdocs

    _sections.clear()
    for script in sorted(GALLERY.glob("*.py")):
        printed, pictures = run(script)
        _sections.append(section_of_a_script(script, printed, list(pictures)))
        for name, content in pictures.items():
            files.append(File.generated(config, f"gallery/{name}", content=content))
    _sections.extend(map(section_of_a_script, sorted(GALLERY.glob("heavy/*.py"))))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Add the sections of the gallery, the results of the benchmarks and the recorded run to their pages."""
    if page.file.src_uri == "gallery/README.md":
        return "\n\n".join([markdown, *_sections])
    if page.file.src_uri == "index.md":
        return RACE.sub(lambda found: animation.race(DOCS / found[1]), with_figures(markdown, BENCHMARKS))
    if page.file.src_uri == "benchmarks.md":
        return with_code(with_results(with_figures(markdown, BENCHMARKS), BENCHMARKS))
    return markdown


def run(script: Path) -> tuple[str, dict[str, bytes]]:
    """Run a script in an empty folder; return its output and its pictures by name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 - a script of this repository
            [sys.executable, script],
            cwd=folder,
            env=os.environ | {"MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{script} failed:\n{done.stderr}")
        return done.stdout, {picture.name: picture.read_bytes() for picture in sorted(Path(folder).glob("*.png"))}


def section_of_a_script(script: Path, printed: str | None = None, pictures: list[str] | None = None) -> str:
    """Return a script's section: its code and, if it was run, its output and pictures."""
    code = script.read_text(encoding="utf-8")
    title = re.split(r"[.:]", ast.get_docstring(ast.parse(code)) or script.stem)[0]
    name = script.relative_to(GALLERY).as_posix()
    parts = [f"## {title}", f"[`{name}`]({name})", fenced(code, "python")]
    if printed is None:
        why_not = "This page shows only the code, since its packages take a while to install. `make heavy` runs it."
        return "\n\n".join([*parts, why_not])
    parts += ["Output:", fenced(printed, "text")]
    return "\n\n".join(parts + [f"![{title}]({picture})" for picture in pictures or []])


def with_figures(markdown: str, folder: Path) -> str:
    """Return a page with the figures and charts of the reports in a folder."""
    return CHART.sub(lambda found: charts.chart(found[1], folder), figures.fill(markdown, folder))


def with_results(markdown: str, folder: Path) -> str:
    """Insert the results in a folder into the benchmarks page, and omit sections without results."""
    head, *sections = re.split(r"^(?=## )", markdown, flags=re.MULTILINE)
    shown, used = [head], set()
    for section in sections:
        marker = RESULTS.search(section)
        if marker is None:
            shown.append(section)
            continue
        name = marker[1]
        report = folder / f"{name}.txt"
        if not report.exists():
            continue
        pictures = sorted([*folder.glob(f"{name}.png"), *folder.glob(f"{name}-*.png")])
        images = [f"![{picture.stem}]({folder.name}/{picture.name})" for picture in pictures]
        raw = f"[{report.name}]({folder.name}/{report.name}) is the report as text."
        results = "\n\n".join([html_of_a_report(report), raw, *images])
        shown.append(section[: marker.start()] + results + section[marker.end() :])
        used |= {report, *pictures}
    left = {path for path in folder.glob("*") if path.suffix in {".txt", ".png"}} - used
    if left:
        raise RuntimeError(f"no section of benchmarks.md shows {', '.join(sorted(path.name for path in left))}")
    return "".join(shown)


def html_of_a_report(path: Path) -> str:
    """Return a report as HTML; it has to start with the date, the versions and the machine."""
    text = path.read_text(encoding="utf-8")
    if not CIRCUMSTANCES.match(text.partition("\n")[0]):
        raise RuntimeError(f"{path} does not start with the date, the versions and the machine")
    try:
        return reports.as_html(text, path.stem)
    except reports.ReportError as error:
        raise RuntimeError(f"{path}: {error}") from None


def with_code(markdown: str) -> str:
    """Return a page with the Python files that it names inserted."""
    return CODE.sub(lambda found: fenced((DOCS.parent / found[1]).read_text(encoding="utf-8"), "python"), markdown)


def fenced(text: str, language: str) -> str:
    """Return a code block with a fence longer than any in the text."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
