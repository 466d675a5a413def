"""Export of a store to CSV or Parquet, with one row per value and one column per player."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import front_door, refuse

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from topshap.core.typing import Coalitions
    from topshap.evaluation.store.store import Store

    Write = Callable[[Coalitions, np.ndarray[Any, Any], np.ndarray[Any, Any]], None]


@front_door
def export(store: Store, path: str | os.PathLike[str]) -> int:
    """Write all values of a store to a ``.csv`` or ``.parquet`` file and return their number.

    The columns are ``in_<player>`` for every player, 1 or true for members of the coalition, ``draw``, the number of
    the evaluation among those of the same coalition, starting at 0, and ``value``, or ``value_0``, ``value_1`` and so
    on for several outputs. Parquet needs the extra ``topshap[parquet]``. The file appears once it is complete.

    Examples
    --------
    >>> import tempfile
    >>> import topshap
    >>> game = topshap.games.per_coalition(lambda coalition: coalition.sum(), player_names=["Ann", "Bob"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = topshap.Store(folder + "/run.db", game="sum-v1")
    ...     top = topshap.identify(game, k=1, store=store)
    ...     export(store, folder + "/run.csv")
    ...     print(Path(folder + "/run.csv").read_text())
    ...     store.close()
    4
    in_Ann,in_Bob,draw,value
    0,0,0,0.0
    1,1,0,2.0
    1,0,0,1.0
    0,1,0,1.0
    """
    path = Path(path)
    writers = {".csv": _csv, ".parquet": _parquet}
    if path.suffix not in writers:
        refuse("path", str(path), must_be="a path that ends in .csv or .parquet")
    identity = store.open()
    names = identity.player_names or tuple(str(i) for i in range(identity.n_players))
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        outputs = ["value"] if identity.n_outputs is None else [f"value_{i}" for i in range(identity.n_outputs)]
        with writers[path.suffix](part, [f"in_{name}" for name in names], outputs) as write:
            for coalitions, draws, values in store.read():
                write(coalitions, np.array(draws), values)
                count += len(values)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return count


@contextmanager
def _csv(path: Path, players: list[str], outputs: list[str]) -> Iterator[Write]:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*players, "draw", *outputs])

        def write(coalitions: Coalitions, draws: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
            inside = coalitions.astype(np.int8).tolist()
            numbers = values.reshape(len(values), -1).tolist()
            rows = zip(inside, draws.tolist(), numbers, strict=True)
            table.writerows([*members, draw, *map(repr, of_row)] for members, draw, of_row in rows)

        yield write


@contextmanager
def _parquet(path: Path, players: list[str], outputs: list[str]) -> Iterator[Write]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra, imported where it is used
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra, imported where it is used
    except ImportError as error:
        raise ImportError("export to .parquet needs pyarrow: pip install 'topshap[parquet]'") from error
    columns = [(name, pa.bool_()) for name in players] + [("draw", pa.int64())]
    columns += [(name, pa.float64()) for name in outputs]
    schema = pa.schema(columns)
    with pq.ParquetWriter(path, schema) as table:

        def write(coalitions: Coalitions, draws: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
            arrays = [pa.array(column) for column in np.ascontiguousarray(coalitions.T)]
            numbers = [pa.array(column) for column in np.ascontiguousarray(values.reshape(len(values), -1).T)]
            table.write_table(pa.Table.from_arrays([*arrays, pa.array(draws), *numbers], schema=schema))

        yield write
