"""The guard against regressions."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from topshap.core.errors import ParameterError


def guard(
    old: Annotated[
        Path | None,
        typer.Option(help="The source tree of the version to compare with: the folder with its package topshap."),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="A revision of this repository to compare with, instead of the last release.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file for the report, which is printed as well.")] = None,
) -> None:
    """Compare the overhead and the quality of this version with those of the last release, on small fixed cells.

    The exit code is 1 if a cell is worse than its limit allows.

    For example: topshap-bench guard --revision HEAD~10
    """
    from topshap_bench.guard import guard as measure
    from topshap_bench.guard import last_release, report, sources_of

    if old is not None and revision is not None:
        raise ParameterError("--old and --revision both name the version to compare with. Give one of them.")
    with sources_of(revision or last_release()) if old is None else nullcontext(old) as source:
        cells = measure(source, progress=lambda name: typer.echo(f"measuring {name}", err=True))
    text = report(cells)
    typer.echo(text)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")
    if any(cell.worse for cell in cells):
        raise typer.Exit(1)


COMMANDS = (guard,)
