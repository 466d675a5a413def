"""``topshap store``: summarise, check and export a store."""

from __future__ import annotations

from pathlib import Path

import typer

from topshap.cli.output import check_writable
from topshap.core.errors import ParameterError
from topshap.core.printable import printable
from topshap.evaluation.store.export import export
from topshap.evaluation.store.store import Store

store_app = typer.Typer(help="Summarise, check or export a store of evaluations.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(store_app, name="store")


@store_app.command("info")
def info(path: Path = typer.Argument(help="The file of the store.")) -> None:
    """Print the game that a store belongs to, and its size.

    For example: topshap store info run.db
    """
    with Store(path) as store:
        about = store.info()
    game = about.identity
    lines = {
        "store": about.path,
        "game": game.fingerprint,
        "players": game.n_players,
        "names": ", ".join(game.player_names) if game.player_names else "none",
        "values": "the same every time" if game.deterministic else "vary from call to call",
        **({} if game.n_outputs is None else {"outputs": game.n_outputs}),
        "evaluations": about.evaluations,
        "coalitions": about.coalitions,
        "created": about.created,
        "bytes": about.size,
    }
    for name, value in lines.items():
        typer.echo(f"{name:<12}{printable(str(value))}")


@store_app.command("check")
def check(
    path: Path = typer.Argument(help="The file of the store."),
    repair: bool = typer.Option(
        default=False, help="Replace a damaged file with one that has the intact values; the damaged file is renamed."
    ),
) -> None:
    """Verify every value of a store and the structure of its file; the exit code is 1 if something is damaged.

    For example: topshap store check run.db
    """
    report = Store(path).check(repair=repair)
    typer.echo(f"{report.values} values of {path} are intact.")
    if report.damaged:
        typer.echo(f"{report.damaged} values have a wrong checksum.")
    if report.problem is not None:
        typer.echo(f"The file is damaged: {report.problem}.")
    if report.damaged_file is not None:
        typer.echo(f"{path} now has only the intact values. The damaged file was renamed to {report.damaged_file}.")
    elif not report.intact:
        typer.echo(f"To keep only the intact values, run: topshap store check --repair {path}")
        raise typer.Exit(1)


@store_app.command("export")
def export_to(
    path: Path = typer.Argument(help="The file of the store."),
    out: Path = typer.Argument(help="The table to write: .csv or .parquet."),
    force: bool = typer.Option(default=False, help="Replace an existing file."),
) -> None:
    """Write all values of a store to a .csv or .parquet table.

    For example: topshap store export run.db evaluations.csv
    """
    check_writable(out)
    if out.exists() and not force:
        raise ParameterError(f"{str(out)!r} already exists. Use --force to replace it.")
    with Store(path) as store:
        count = export(store, out)
    typer.echo(f"Wrote {count} values of {path} to {out}")
