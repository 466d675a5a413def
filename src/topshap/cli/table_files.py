"""Read tables from files, with limits on their size."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from topshap.core.errors import ParameterError, describe
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

LONGEST_LINE = 2**24
"""The largest number of characters in a line of a .csv file. Every comma of a line takes memory when it is read."""
_READABLE = (".csv", ".csv.gz", ".parquet")
_ROWS_AT_A_TIME = 256


class TableLimits(NamedTuple):
    """The largest table to read."""

    columns: int = 100_000
    """The number of columns."""
    mebibytes: int = 1024
    """The size in MiB: of the uncompressed text, or of the decoded cells of a .parquet file."""

    def too_large(self, path: Path) -> ParameterError:
        """Return the error for a table above the size limit."""
        return ParameterError(
            f"{str(path)!r} holds more than {self.mebibytes} MiB of uncompressed data, the limit. If you trust the "
            "file and have the memory, set a higher limit with --max-size."
        )

    def check_columns(self, count: int, path: Path) -> None:
        """Raise an error for a table with too many columns."""
        if count > self.columns:
            raise ParameterError(
                f"{str(path)!r} has {count} columns, but the limit is {self.columns}. Set a higher limit with "
                "--max-columns."
            )


MaxColumns = Annotated[int, typer.Option("--max-columns", min=1, help="The largest number of columns to read.")]
MaxSize = Annotated[
    int, typer.Option("--max-size", min=1, help="The largest size of the uncompressed table to read, in MiB.")
]


def read_table(path: Path, limits: TableLimits | None = None) -> pd.DataFrame:
    r"""Read a .csv, .csv.gz or .parquet file; errors name the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("age,price\n3,10\n4\n")
    >>> read_table(path)
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: Line 3 of '...data.csv' has 1 field, but the header has 2.
    """
    if not path.is_file():
        raise ParameterError(f"The file {str(path)!r} does not exist.")
    name = path.name.lower()
    if not name.endswith(_READABLE):
        raise ParameterError(f"A table must be a file that ends in {', '.join(_READABLE)}. Got {str(path)!r} instead.")
    read = _read_parquet if name.endswith(".parquet") else _read_csv
    frame: pd.DataFrame = read(path, limits or TableLimits())
    if len(frame) == 0:
        raise ParameterError(f"{str(path)!r} has a header but no rows.")
    return frame


def _read_parquet(path: Path, limits: TableLimits) -> Any:
    pandas = import_extra("pandas", extra="pandas", needed_by="reading a table")
    parquet = import_extra("pyarrow.parquet", extra="parquet", needed_by="reading a .parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            _check_parquet(file, path, limits)
        return pandas.read_parquet(path).reset_index(drop=True)
    except ParameterError:
        raise
    except Exception as error:  # pyarrow and pandas raise many kinds of errors for a damaged file
        raise ParameterError(f"Cannot read {str(path)!r} as Parquet: {' '.join(describe(error).split())}") from error


def _check_parquet(file: Any, path: Path, limits: TableLimits) -> None:
    """Raise an error for a file whose cells take more memory than the limit.

    Equal cells take next to no space in the file. Numbers are counted by the declared size. The size of texts and lists
    is not declared, so they are decoded a few rows at a time.
    """
    types = import_extra("pyarrow.types", extra="parquet", needed_by="reading a .parquet file")
    declared, schema = file.metadata, file.schema_arrow
    limits.check_columns(declared.num_columns, path)
    left = limits.mebibytes * 2**20 - 8 * declared.num_rows * declared.num_columns
    if left < 0:
        raise limits.too_large(path)
    varying = [field.name for field in schema if not types.is_primitive(field.type)]
    if not varying:
        return
    for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=varying):
        left -= batch.nbytes
        if left < 0:
            raise limits.too_large(path)


def _read_csv(path: Path, limits: TableLimits) -> Any:
    pandas = import_extra("pandas", extra="pandas", needed_by="reading a table")
    _check_size(path, limits)
    try:
        _check_lines(path, limits)
    except UnicodeDecodeError as error:
        raise ParameterError(f"Line {_line_that_is_not_text(path)} of {str(path)!r} is not UTF-8 text.") from error
    compression = "gzip" if _is_gzip(path) else None
    return pandas.read_csv(path, compression=compression, encoding="utf-8-sig", index_col=False, low_memory=False)


def _check_lines(path: Path, limits: TableLimits) -> None:
    """Raise an error for lines that do not match the header, since pandas pads short lines silently."""
    header: list[str] = []
    first = 1
    with _uncompressed(path) as content, io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(_lines(text, path), strict=True)
        try:
            for fields in reader:
                if fields and not header:
                    header = fields
                    limits.check_columns(len(header), path)
                    _check_header(header, first, path)
                elif fields and len(fields) != len(header):
                    has = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                    raise ParameterError(f"Line {first} of {str(path)!r} has {has}, but the header has {len(header)}.")
                first = reader.line_num + 1
        except csv.Error as error:
            raise ParameterError(f"Cannot read line {first} of {str(path)!r}: {error}.") from error
    if not header:
        raise ParameterError(f"{str(path)!r} is empty.")


def _check_header(header: list[str], line: int, path: Path) -> None:
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise ParameterError(f"The header of {str(path)!r}, line {line}, repeats the column {name!r}.")
        seen.add(name)
    if len(header) == 1:
        hint = "Separate fields by commas."
        raise ParameterError(f"The header of {str(path)!r}, line {line}, has a single column {header[0]!r}. {hint}")


def _lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    number = 1
    while line := text.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise ParameterError(f"Line {number} of {str(path)!r} has more than {LONGEST_LINE} characters, the limit.")
        yield line
        number += 1


def _line_that_is_not_text(path: Path) -> int:
    """Return the number of the first line that is not UTF-8."""
    with _uncompressed(path) as content:
        for number, line in enumerate(content, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def _is_gzip(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _check_size(path: Path, limits: TableLimits) -> None:
    """Raise an error for a file with too many uncompressed bytes; they are counted in small pieces and not kept."""
    left = limits.mebibytes * 2**20
    with _uncompressed(path) as content:
        while piece := content.read(2**18):
            left -= len(piece)
            if left < 0:
                raise limits.too_large(path)


@contextmanager
def _uncompressed(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file to read its uncompressed bytes."""
    with path.open("rb") as file:
        if not _is_gzip(path):
            yield file
            return
        try:
            with gzip.GzipFile(fileobj=file) as unzipped:
                yield io.BufferedReader(unzipped)
        except (OSError, EOFError, zlib.error) as error:
            raise ParameterError(f"{str(path)!r} is not a complete gzip file: {error}") from error
