"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

Games: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="A folder with complete games FAMILY/*.npz or *.npz; by default games are generated."),
]
Folder: TypeAlias = Annotated[Path, typer.Option("--games", help="A folder with complete games FAMILY/*.npz.")]
Baselines: TypeAlias = Annotated[Path | None, typer.Option(help="A folder with the published results, pac_global.csv.")]
Datasets: TypeAlias = Annotated[
    Path | None, typer.Option("--folder", help="A folder with the datasets, instead of OpenML.")
]
Out: TypeAlias = Annotated[Path, typer.Option(help="The output folder; results in it are not computed again.")]
Jobs: TypeAlias = Annotated[int, typer.Option(help="The number of processes; -1 for one per core.")]
Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="Use few games and few runs: minutes instead of hours.")
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="The random seed. The same seed gives the same results, except for times.")
]
Algorithms: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--algorithm", help="An algorithm by name, or your own as module:Class; can be repeated."),
]
Budgets: TypeAlias = Annotated[list[int] | None, typer.Option("--budget", min=2, help="A budget; can be repeated.")]
Ks: TypeAlias = Annotated[list[int] | None, typer.Option("--k", "-k", min=1, help="A value of k; can be repeated.")]
Families: TypeAlias = Annotated[
    list[str] | None, typer.Option("--family", help="A family of games, a subfolder; can be repeated.")
]
Half: TypeAlias = Annotated[
    str, typer.Option(help="The games of a family: all, tune (1st, 3rd, ...) or judge (2nd, 4th, ...).")
]
Unseen: TypeAlias = Annotated[bool, typer.Option("--unseen", help="Skip published tables that odd-gp was tuned on.")]
Delta: TypeAlias = Annotated[float, typer.Option(help="The allowed failure rate.")]

RankBy: TypeAlias = Annotated[
    str | None,
    typer.Option(help="value, magnitude or lowest; by default value for players, magnitude for pairs."),
]
Order: TypeAlias = Annotated[int, typer.Option(min=1, max=2, help="What is ranked: 1 for players, 2 for pairs.")]
Ordered: TypeAlias = Annotated[bool, typer.Option("--ordered", help="Whether the order of the top k matters.")]

OUT = Path("topshap-bench")


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given, so that functions use their defaults for the others.

    Examples
    --------
    >>> given(ks=[3], budgets=[], runs=None)
    {'ks': [3]}
    """
    return {name: value for name, value in options.items() if value not in (None, [])}


def say_where(text: str, out: Path, *files: str) -> None:
    """Print the report and the output files of an experiment."""
    typer.echo(text)
    typer.echo(f"\n{', '.join(files)} are in {out.resolve()}")
