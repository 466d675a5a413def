"""What mkdocs does while it builds the site: it runs every script of the gallery, and shows what it printed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).parent / "gallery"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Add the scripts and their output to the page of the gallery."""
    if page.file.src_uri != "gallery/README.md":
        return markdown
    return "\n\n".join([markdown, *map(_section, sorted(GALLERY.glob("*.py")))])


def _section(script: Path) -> str:
    code = script.read_text(encoding="utf-8")
    title = (ast.get_docstring(ast.parse(code)) or script.stem).splitlines()[0]
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if run.returncode != 0:
        raise RuntimeError(f"{script} failed:\n{run.stderr}")
    return f"## {title}\n\n`{script.name}`\n\n```python\n{code}```\n\nIt prints:\n\n```text\n{run.stdout}```"
