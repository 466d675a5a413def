"""Read tables from files, and prepare features and a target for training."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.errors import ParameterError, describe
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

MOST_CLASSES = 10
"""An integer target holds classes if it has at most this many distinct values."""
_READABLE = (".csv", ".csv.gz", ".parquet")


class Task(StrEnum):
    """The kinds of targets: classes or numbers."""

    classification = "classification"
    regression = "regression"


class Trainable(NamedTuple):
    """Features, target and task of a model, and a description of what was inferred and skipped."""

    X: pd.DataFrame
    y: Any
    task: Task
    said: str


def read_table(path: Path) -> pd.DataFrame:
    r"""Read a .csv, .csv.gz or .parquet file; errors name the line.

    Examples
    --------
    >>> import tempfile
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
    frame: pd.DataFrame = _read_parquet(path) if name.endswith(".parquet") else _read_csv(path)
    if len(frame) == 0:
        raise ParameterError(f"{str(path)!r} has a header but no rows.")
    return frame


def column(frame: pd.DataFrame, name: str, path: Path) -> str:
    """Return the name of a column; raise an error that suggests the closest name if it does not exist."""
    if name in frame.columns:
        return name
    by_lower = {str(each).lower(): str(each) for each in frame.columns}
    near = get_close_matches(name.lower(), by_lower, n=1)
    columns = ", ".join(map(str, frame.columns[:20])) + (", ..." if len(frame.columns) > 20 else "")
    hint = f"Did you mean {by_lower[near[0]]!r}?" if near else f"The columns are {columns}."
    raise ParameterError(f"There is no column {name!r} in {str(path)!r}. {hint}")


def without(frame: pd.DataFrame, columns: Iterable[str], path: Path) -> pd.DataFrame:
    """Return the table without some columns; raise an error if none is left."""
    rest = frame.drop(columns=[column(frame, name, path) for name in columns])
    if rest.shape[1] == 0:
        raise ParameterError(f"No columns of {str(path)!r} are left to use. Drop fewer columns.")
    return rest


def trainable(
    frame: pd.DataFrame, target: str, drop: list[str], task: Task | None, *, path: Path, rows_a_class: int = 1
) -> Trainable:
    """Return the features and the target of a table, the task, and a description of what was inferred.

    Rows without a target are skipped, and the description states their number. The index keeps the row numbers of the
    file.
    """
    target = column(frame, target, path)
    known = frame[frame[target].notna()]
    y = known[target]
    if y.nunique() < 2:
        raise ParameterError(f"The target {target!r} of {str(path)!r} must have at least two distinct values.")
    said = f"{target!r} has {y.nunique()} distinct values: {task or task_of(y)}."
    said += "" if task else " Use --task to change this."
    task = task or task_of(y)
    if len(known) < len(frame):
        said += f" Rows without a target are skipped: {len(frame) - len(known)} of {len(frame)}."
    if task is Task.regression and y.dtype.kind not in "iuf":
        raise ParameterError(f"The target {target!r} of {str(path)!r} must be numeric for a regression.")
    rarest = y.value_counts().index[-1]
    if task is Task.classification and (y == rarest).sum() < rows_a_class:
        raise ParameterError(
            f"Every class of {target!r} needs at least {rows_a_class} rows. {rarest!r} has {(y == rarest).sum()}."
        )
    X = as_features(without(known, [target, *drop], path))
    return Trainable(X, y.to_numpy(dtype=np.float64 if task is Task.regression else None), task, said)


def task_of(target: pd.Series[Any]) -> Task:
    """Infer the task from a target: a few distinct integers, or values that are not numbers, are classes.

    Examples
    --------
    >>> import pandas as pd
    >>> str(task_of(pd.Series([0, 1, 1]))), str(task_of(pd.Series([0.5, 1.0, 2.0])))
    ('classification', 'regression')
    """
    if target.dtype.kind not in "iuf":
        return Task.classification
    numbers = target.to_numpy(dtype=np.float64)
    whole = bool((numbers == np.round(numbers)).all())
    return Task.classification if whole and target.nunique() <= MOST_CLASSES else Task.regression


def as_features(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert columns to the form that `make_model` expects: numbers to floats, dates to days, all others to text.

    Examples
    --------
    >>> import pandas as pd
    >>> as_features(pd.DataFrame({"old": [True, None], "rooms": [3, 4]})).to_dict("list")
    {'old': ['True', nan], 'rooms': [3.0, 4.0]}
    """
    pandas = import_extra("pandas", extra="pandas", needed_by="reading a table")
    return pandas.DataFrame({name: _as_feature(pandas, frame[name]) for name in frame.columns})


def _as_feature(pandas: Any, values: Any) -> Any:
    if values.dtype.kind in "iuf":
        return pandas.Series(values.to_numpy(dtype=np.float64, na_value=np.nan), index=values.index)
    if values.dtype.kind == "M":
        start = pandas.Timestamp(0, tz=getattr(values.dtype, "tz", None))
        return (values - start) / pandas.Timedelta(days=1)
    texts = [np.nan if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]
    return pandas.Series(texts, index=values.index, dtype=object)


def _read_parquet(path: Path) -> Any:
    pandas = import_extra("pandas", extra="pandas", needed_by="reading a table")
    import_extra("pyarrow", extra="parquet", needed_by="reading a .parquet file")
    try:
        return pandas.read_parquet(path).reset_index(drop=True)
    except Exception as error:  # pyarrow and pandas raise many kinds of errors for a damaged file
        raise ParameterError(f"Cannot read {str(path)!r} as Parquet: {' '.join(describe(error).split())}") from error


def _read_csv(path: Path) -> Any:
    pandas = import_extra("pandas", extra="pandas", needed_by="reading a table")
    text = _text_of(path)
    _check_lines(text, path)
    return pandas.read_csv(io.StringIO(text), index_col=False, low_memory=False)


def _text_of(path: Path) -> str:
    content = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ParameterError(f"{str(path)!r} is not a complete gzip file: {error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParameterError(f"Line {line} of {str(path)!r} is not UTF-8 text.") from error


def _check_lines(text: str, path: Path) -> None:
    """Raise an error for lines that do not match the header, since pandas pads short lines silently."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    first = 1
    try:
        for fields in reader:
            if fields and not header:
                header = fields
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
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"The header of {str(path)!r}, line {line}, repeats the column {twice!r}.")
    if len(header) == 1:
        hint = "Separate fields by commas."
        raise ParameterError(f"The header of {str(path)!r}, line {line}, has a single column {header[0]!r}. {hint}")
