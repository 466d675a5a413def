"""``topshap store``: a summary of a store, and its values as a table."""

from __future__ import annotations

from pathlib import Path

import typer

from topshap.cli.output import check_writable
from topshap.core.errors import ParameterError
from topshap.evaluation.store.export import export
from topshap.evaluation.store.store import Store

store_app = typer.Typer(help="Summarise a store of evaluations, or export it.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(store_app, name="store")


@store_app.command("info")
def info(path: Path = typer.Argument(help="The file of a store.")) -> None:
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
        "evaluations": about.evaluations,
        "coalitions": about.coalitions,
        "created": about.created,
        "bytes": about.size,
    }
    for name, value in lines.items():
        typer.echo(f"{name:<12}{value}")


@store_app.command("export")
def export_to(
    path: Path = typer.Argument(help="The file of a store."),
    out: Path = typer.Argument(help="The table to write: .csv or .parquet."),
    force: bool = typer.Option(default=False, help="Replace an existing file."),
) -> None:
    """Write all values of a store to a .csv or .parquet table.

    For example: topshap store export run.db evaluations.csv
    """
    check_writable(out)
    if out.exists() and not force:
        raise ParameterError(f"{str(out)!r} already exists; --force replaces it.")
    with Store(path) as store:
        count = export(store, out)
    typer.echo(f"{count} values of {path} are in {out}")
