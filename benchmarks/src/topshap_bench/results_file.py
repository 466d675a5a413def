"""The results file of an experiment, CSV or Parquet: one row per setting, from which an experiment can be resumed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, get_type_hints

from topshap.core.extras import import_extra
from topshap.core.validation import front_door, refuse
from topshap_bench.settings import Row

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from typing import Self

RowT = TypeVar("RowT", bound=NamedTuple)

_PARQUET = "a results file in .parquet"


@front_door
class ResultsFile(Generic[RowT]):
    """A file of rows that are read when it is opened and appended as results arrive.

    A row is written to disk as soon as it is added. An incomplete last line of a CSV file, left by a crash, is removed.
    An older file may lack the last columns, if they have defaults. Since Parquet files do not support appending, their
    rows are kept in ``<name>.rows.csv`` until `close`.

    Parameters
    ----------
    path
        A path that ends in ``.csv`` or ``.parquet``. With None, the rows are kept in memory only.
    kind
        The type of a row: a named tuple of strings and numbers, `Row` in most experiments.

    Examples
    --------
    >>> with ResultsFile(None, Row) as results:
    ...     results.rows
    []
    """

    def __init__(self, path: str | os.PathLike[str] | None, kind: type[RowT]) -> None:
        self.path = None if path is None else Path(path)
        self.kind = kind
        self.rows: list[RowT] = []
        self._journal: Path | None = None
        if self.path is None:
            return
        if self.path.suffix not in (".csv", ".parquet"):
            refuse("path", str(self.path), must_be="a path that ends in .csv or .parquet")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._journal = self.path
        if self.path.suffix == ".parquet":
            self._journal = self.path.with_name(self.path.name + ".rows.csv")
            import_extra("pyarrow", extra="parquet", needed_by=_PARQUET)
            if self.path.exists():
                self.rows += _read_parquet(self.path, kind)
        if self._journal.exists():
            self.rows += _read_csv(self._journal, kind)

    def add(self, rows: Iterable[RowT]) -> None:
        """Add rows and write them to the file."""
        new = list(rows)
        self.rows += new
        if self._journal is None or not new:
            return
        started = self._journal.exists() and self._journal.stat().st_size > 0
        _write_csv(self._journal, new, self.kind, append=started)

    def close(self) -> None:
        """Write the rows to the file if it is a Parquet file."""
        if self.path is None or self._journal is None or self._journal == self.path:
            return
        _write_parquet(self.path, self.rows, self.kind)
        self._journal.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@front_door
def read_results(path: str | os.PathLike[str]) -> list[Row]:
    """Return the rows of a results file.

    Examples
    --------
    >>> read_results("results.txt")
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'path' parameter of read_results must be a path that ends in .csv or
    .parquet. Got 'results.txt' instead.
    """
    return ResultsFile(path, Row).rows


def _read_csv(path: Path, kind: type[RowT]) -> list[RowT]:
    """Return the rows of a file, and remove an incomplete last line from it so that rows can be appended."""
    text = path.read_bytes()
    if text and not text.endswith(b"\n"):
        text = text[: text.rfind(b"\n") + 1]
        path.write_bytes(text)
    lines = csv.reader(text.decode("utf-8").splitlines())
    header = next(lines, None)
    if header is None:
        return []
    _check_columns(path, header, kind)
    hints = get_type_hints(kind)
    rows = [kind(*(_from_text(hints[name], text) for name, text in zip(header, line, strict=True))) for line in lines]
    if len(header) < len(kind._fields):  # an older file: write the new columns, so that rows can be appended
        part = path.with_name(path.name + ".part")
        _write_csv(part, rows, kind)
        part.replace(path)
    return rows


def _check_columns(path: Path, header: Sequence[str], kind: type[NamedTuple]) -> None:
    """Raise an error unless the file has all columns, except perhaps some of the last ones that have a default."""
    missing = kind._fields[len(header) :]
    if tuple(header) + missing != kind._fields or not set(missing) <= set(kind._field_defaults):
        refuse("path", str(path), must_be="a results file with the columns of this experiment")


def _write_csv(path: Path, rows: Iterable[NamedTuple], kind: type[NamedTuple], *, append: bool = False) -> None:
    """Write rows with a header, or append rows to the file."""
    with path.open("a" if append else "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not append:
            writer.writerow(kind._fields)
        writer.writerows([_as_text(value) for value in row] for row in rows)


def _as_text(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _from_text(hint: Any, text: str) -> Any:
    if hint is str:
        return text
    if text == "":
        return None
    return int(text) if _is_int(hint) else float(text)


def _is_int(hint: Any) -> bool:
    return hint in (int, int | None)


def _read_parquet(path: Path, kind: type[RowT]) -> list[RowT]:
    parquet = import_extra("pyarrow.parquet", extra="parquet", needed_by=_PARQUET)
    columns = parquet.read_table(path).to_pydict()
    _check_columns(path, list(columns), kind)
    return [kind(*values) for values in zip(*columns.values(), strict=True)]


def _write_parquet(path: Path, rows: list[RowT], kind: type[RowT]) -> None:
    pa = import_extra("pyarrow", extra="parquet", needed_by=_PARQUET)
    parquet = import_extra("pyarrow.parquet", extra="parquet", needed_by=_PARQUET)
    others = {True: pa.string(), False: pa.float64()}
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name in kind._fields}
    types = {name: pa.int64() if _is_int(hint) else others[hint is str] for name, hint in hints.items()}
    schema = pa.schema([(name, types[name]) for name in kind._fields])
    columns = {name: [getattr(row, name) for row in rows] for name in kind._fields}
    part = path.with_name(path.name + ".part")
    parquet.write_table(pa.table(columns, schema=schema), part)
    part.replace(path)
