"""What mkdocs does while it builds the site: it runs the gallery, and puts the results of benchmarks on their page.

Gallery: each script in ``docs/gallery`` runs in an empty folder. What it prints and the png files that it leaves there
are shown below its code; a user who runs it finds the same pictures in the current folder. Scripts in
``docs/gallery/heavy`` need models that take long to install, so only their code is shown.

Benchmarks: a section of ``docs/benchmarks.md`` that ends in a line ``<!-- results: NAME -->`` shows
``docs/benchmarks/NAME.txt`` as it is, then the figures ``NAME.png`` and ``NAME-*.png``. ``make publish-benchmarks``
puts them there. Without the file there is no section; a file without a section is an error. A line
``<!-- code: PATH -->`` shows a Python file of the repository.
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

GALLERY = Path(__file__).parent / "gallery"
BENCHMARKS = Path(__file__).parent / "benchmarks"
RESULTS = re.compile(r"^<!-- results: ([a-z-]+) -->$", flags=re.MULTILINE)
CODE = re.compile(r"^<!-- code: ([\w./-]+\.py) -->$", flags=re.MULTILINE)
CIRCUMSTANCES = re.compile(r"\d{4}-\d\d-\d\d, Python \d.*, topshap \d.*, \d+ cores")
"""The first line of a report: date, versions and machine."""

_sections: list[str] = []
"""What the gallery shows; it is known when its pictures are."""


def on_files(files: Any, config: Any) -> Any:
    """Run the gallery, and add the pictures that it draws to the site."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the tests use the rest without it

    _sections.clear()
    for script in sorted(GALLERY.glob("*.py")):
        printed, pictures = run(script)
        _sections.append(section_of_a_script(script, printed, list(pictures)))
        for name, content in pictures.items():
            files.append(File.generated(config, f"gallery/{name}", content=content))
    _sections.extend(map(section_of_a_script, sorted(GALLERY.glob("heavy/*.py"))))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Add what was run to the page of the gallery, and what was measured to the page of benchmarks."""
    if page.file.src_uri == "gallery/README.md":
        return "\n\n".join([markdown, *_sections])
    if page.file.src_uri == "benchmarks.md":
        return with_code(with_results(markdown, BENCHMARKS))
    return markdown


def run(script: Path) -> tuple[str, dict[str, bytes]]:
    """Run a script in an empty folder; return what it printed and its pictures by name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 - our own
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
    """Return a script's section: its code, and what came of it if it was run."""
    code = script.read_text(encoding="utf-8")
    title = re.split(r"[.:]", ast.get_docstring(ast.parse(code)) or script.stem)[0]
    name = script.relative_to(GALLERY).as_posix()
    parts = [f"## {title}", f"[`{name}`]({name})", fenced(code, "python")]
    if printed is None:
        why_not = "It is not run for this page, since its model takes long to install: `make heavy`."
        return "\n\n".join([*parts, why_not])
    parts += ["It prints:", fenced(printed, "text")]
    return "\n\n".join(parts + [f"![{title}]({picture})" for picture in pictures or []])


def with_results(markdown: str, folder: Path) -> str:
    """Return the page of benchmarks with the results in a folder, without the sections that have none."""
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
        text = report.read_text(encoding="utf-8")
        if not CIRCUMSTANCES.match(text.partition("\n")[0]):
            raise RuntimeError(f"{report} does not begin with date, versions and machine")
        figures = sorted([*folder.glob(f"{name}.png"), *folder.glob(f"{name}-*.png")])
        images = [f"![{figure.stem}]({folder.name}/{figure.name})" for figure in figures]
        results = "\n\n".join([fenced(text, "text"), *images])
        shown.append(section[: marker.start()] + results + section[marker.end() :])
        used |= {report, *figures}
    left = {path for path in folder.glob("*") if path.suffix in {".txt", ".png"}} - used
    if left:
        raise RuntimeError(f"no section of benchmarks.md shows {', '.join(sorted(path.name for path in left))}")
    return "".join(shown)


def with_code(markdown: str) -> str:
    """Return a page with the Python files that it names."""
    root = Path(__file__).parent.parent
    return CODE.sub(lambda found: fenced((root / found[1]).read_text(encoding="utf-8"), "python"), markdown)


def fenced(text: str, language: str) -> str:
    """Return a block of code, whatever is in the text."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
