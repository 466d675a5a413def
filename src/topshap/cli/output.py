"""The output of commands with a race: the result as text or JSON, a report, and how to resume after Ctrl-C."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from topshap.core.errors import ParameterError
from topshap.core.printable import printable_lines
from topshap.interop.json import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.result import TopK

INTERRUPTED = 130
"""The exit code after Ctrl-C, as used by shells."""


@dataclass(frozen=True, kw_only=True)
class ResultWriter:
    """Write a result to standard output and to a report, after a check that the files can be written."""

    as_json: bool
    report: Path | None
    store: Path | None

    def __post_init__(self) -> None:
        check_writable(self.report)
        check_writable(self.store)

    def say(self, text: str) -> None:
        """Print a message to standard output, or to standard error if the result is printed as JSON."""
        typer.echo(printable_lines(text), err=self.as_json)

    def run(self, race: Callable[[], TopK]) -> TopK:
        """Return the result of a race; exit if it is interrupted before it has a result."""
        try:
            return race()
        except KeyboardInterrupt:
            self._exit_interrupted()

    def write(self, top: TopK, *, title: str, game: str) -> None:
        """Print a result and write its report; exit with code 130 if the race was interrupted."""
        typer.echo(as_text(top) if self.as_json else str(top))
        self.finish(top, lambda path: top.to_html(path, title=title, game=game))

    def finish(self, top: TopK, write_report: Callable[[Path], None]) -> None:
        """Write the report, if there is one; exit with code 130 if the race was interrupted."""
        if self.report is not None:
            write_report(self.report)
            self.say(f"The report is in {self.report.resolve()}")
        if top.stopped == "interrupted":
            self._exit_interrupted()

    def _exit_interrupted(self) -> NoReturn:
        if self.store is None:
            typer.echo("Interrupted. No evaluations were kept. With --store FILE, the same command resumes.", err=True)
        else:
            command = shlex.join(["topshap", *sys.argv[1:]])
            kept = f"Interrupted. All evaluations are in {self.store}. To resume, run:"
            typer.echo(f"{kept}\n  {command}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def check_writable(path: Path | None) -> None:
    """Raise an error if the path is a directory, or if its directory does not exist."""
    if path is None:
        return
    if path.is_dir():
        raise ParameterError(f"Cannot write {str(path)!r}: it is a directory.")
    if not path.parent.is_dir():
        raise ParameterError(f"Cannot write {str(path)!r}: the directory {str(path.parent)!r} does not exist.")
