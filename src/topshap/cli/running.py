"""What the commands that run a race share: their options, and what they say at the end."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from topshap.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.result import TopK
    from topshap.show.progress import Progress

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


class Ranking(StrEnum):
    """What players are ranked by."""

    value = "value"
    magnitude = "magnitude"


RankBy: TypeAlias = Annotated[
    Ranking, typer.Option(help="Find the highest values, or the largest whichever sign they have.")
]
Budget: TypeAlias = Annotated[
    int | None, typer.Option(help="How many evaluations to spend; 50 per player if nothing else ends it.")
]
Epsilon: TypeAlias = Annotated[
    float | None, typer.Option(help="Stop when nobody left out is ahead by more than this, in units of the value.")
]
Delta: TypeAlias = Annotated[float, typer.Option(help="The allowed probability of being wrong about that.")]
Report: TypeAlias = Annotated[Path | None, typer.Option(help="Write a report to this .html file.")]
StoreFile: TypeAlias = Annotated[
    Path | None, typer.Option("--store", help="Keep every evaluation in this file; the same command goes on from it.")
]
Jobs: TypeAlias = Annotated[int, typer.Option(help="How many evaluations at a time; the answer is the same.")]
Seed: TypeAlias = Annotated[int, typer.Option(help="The same seed gives the same answer.")]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, which topshap show reads; all else goes to stderr.")
]


@dataclass(frozen=True)
class Outcome:
    """Where a result goes: printed for people or for scripts, and into a report."""

    as_json: bool
    report: Path | None
    store: Path | None

    def __post_init__(self) -> None:
        for path in (self.report, self.store):
            if path is not None and (path.is_dir() or not path.resolve().parent.is_dir()):
                raise ParameterError(f"{str(path)!r} cannot be written: there is no such folder, or it is one itself.")

    def say(self, text: str) -> None:
        """Tell people something; with --json beside the result, not in it."""
        typer.echo(text, err=self.as_json)

    @property
    def progress(self) -> Progress:
        """What to show while it runs: a live leaderboard where somebody can see it."""
        return "live" if sys.stderr.isatty() and find_spec("rich") is not None else False

    def of(self, race: Callable[[], TopK], *, title: str, game: str) -> None:
        """Run a race, print what it found and write the report; after Ctrl-C say how to go on."""
        try:
            top = race()
        except KeyboardInterrupt:
            self._say_how_to_go_on()
            raise typer.Exit(INTERRUPTED) from None
        self._print(top)
        if self.report is not None:
            top.to_html(self.report, title=title, game=game)
            self.say(f"The report is in {self.report.resolve()}")
        if top.stopped == "interrupted":
            self._say_how_to_go_on()
            raise typer.Exit(INTERRUPTED)

    def _print(self, top: TopK) -> None:
        from topshap.interop.json import as_text  # noqa: PLC0415 - the commands that print none need it not

        typer.echo(as_text(top) if self.as_json else str(top))

    def _say_how_to_go_on(self) -> None:
        command = shlex.join(["topshap", *sys.argv[1:]])
        if self.store is None:
            typer.echo("Interrupted. Nothing is kept: with --store FILE the same command would go on.", err=True)
        else:
            kept = f"Interrupted. Every evaluation is kept in {self.store}; this goes on from there:"
            typer.echo(f"{kept}\n  {command}", err=True)
