"""Tables from files: read completely, or refused with the number of the invalid line or the exceeded limit."""

import gzip
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topshap
from topshap.cli import table_files
from topshap.cli.table_files import TableLimits, read_table


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV", "t.parquet"])
def test_every_format_gives_the_same_table(tmp_path, houses, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        houses.to_parquet(path)
    else:
        houses.to_csv(path, index=False)
    frame = read_table(path)
    pd.testing.assert_frame_equal(frame, houses, check_dtype=False, check_exact=False)


def test_a_byte_order_mark_blank_lines_and_quoted_line_breaks_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfname,x\r\n\r\n"a\nb",1\r\nc,2\r\n')
    frame = read_table(path)
    assert frame["name"].tolist() == ["a\nb", "c"]
    assert frame["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n3,4,5\n", "Line 3 of '.*' has 3 fields, but the header has 2"),
        (b"a,b\n1,2\n3\n", "Line 3 of '.*' has 1 field, but the header has 2"),
        (b'a,b\n"1\n2",2\n3\n', "Line 4 of '.*' has 1 field"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "Cannot read line 3 of '.*': unexpected end of data"),
        (b"a,b\n1,2\n3,\xff\n", "Line 3 of '.*' is not UTF-8 text"),
        (b"a,b,a\n1,2,3\n", "The header of '.*', line 1, repeats the column 'a'"),
        (b"a;b\n1;2\n", "line 1, has a single column 'a;b'. Separate fields by commas"),
        (b"a,b\n", "has a header but no rows"),
        (b"", "is empty"),
    ],
)
def test_the_error_about_a_bad_file_names_the_line(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(topshap.ParameterError, match=message):
        read_table(path)
    zipped = tmp_path / "bad.csv.gz"
    zipped.write_bytes(gzip.compress(content))
    with pytest.raises(topshap.ParameterError, match=message):
        read_table(zipped)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 100)[:-12], "is not a complete gzip file"),
        ("t.csv.gz", b"a,b\n1,2\n", "is not a complete gzip file"),
        ("t.parquet", b"a,b\n1,2\n", "Cannot read .* as Parquet"),
        ("t.xlsx", b"", "ends in .csv, .csv.gz, .parquet"),
    ],
    ids=["cut short", "not zipped", "not parquet", "another kind"],  # gzip data contain the time
)
def test_a_file_that_is_not_a_table_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(topshap.ParameterError, match=message):
        read_table(tmp_path / name)
    with pytest.raises(topshap.ParameterError, match="does not exist"):
        read_table(tmp_path / f"other-{name}")


def test_carriage_returns_alone_end_lines(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\r1,2\r3,4\r")
    assert read_table(tmp_path / "t.csv")["b"].tolist() == [2, 4]


class CountingName(str):
    """A column name that counts its comparisons."""

    compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        CountingName.compared += 1
        return str.__eq__(self, other)


def test_the_names_of_a_header_are_not_compared_pairwise(tmp_path):
    names = [CountingName(f"c{i}") for i in range(2000)]
    CountingName.compared = 0
    table_files._check_header(names, 1, tmp_path / "wide.csv")
    assert CountingName.compared < 2000


def test_a_wide_table_is_read(tmp_path):
    names = [f"c{i}" for i in range(5000)]
    (tmp_path / "wide.csv").write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
    assert read_table(tmp_path / "wide.csv").shape == (1, 5000)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_too_many_columns_are_refused_with_the_option_that_allows_them(tmp_path, houses, name):
    path = tmp_path / name
    houses.to_parquet(path) if name.endswith("parquet") else houses.to_csv(path, index=False)
    with pytest.raises(topshap.ParameterError, match=rf"{name}' has 7 columns, but the limit is 6.*--max-columns"):
        read_table(path, TableLimits(columns=6))
    assert read_table(path, TableLimits(columns=7)).shape[1] == 7


def zeros_in_csv(path, lines):
    """Write a small file of many lines; gzip compresses them a thousandfold."""
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n")
        for _ in range(lines // 1000):
            file.write(b"0,0\n" * 1000)


def test_a_small_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    zeros_in_csv(path, 2_000_000)
    assert path.stat().st_size < 2**16
    tracemalloc.start()
    with pytest.raises(topshap.ParameterError, match=r"bomb.csv.gz' holds more than 4 MiB.*--max-size"):
        read_table(path, TableLimits(mebibytes=4))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**21


def test_a_large_uncompressed_file_is_refused_too(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"0,0\n" * 2**18)
    with pytest.raises(topshap.ParameterError, match="more than 1 MiB"):
        read_table(tmp_path / "t.csv", TableLimits(mebibytes=1))
    assert len(read_table(tmp_path / "t.csv", TableLimits(mebibytes=2))) == 2**18


def test_a_line_of_commas_is_refused_before_it_is_split(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "LONGEST_LINE", 1000)
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n" + b"," * 1001)
    with pytest.raises(topshap.ParameterError, match=r"Line 3 of '.*' has more than 1000 characters"):
        read_table(tmp_path / "t.csv")


def test_equal_numbers_in_parquet_count_in_full(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.zeros(2**20), "b": np.zeros(2**20)}), path)
    assert path.stat().st_size < 2**14
    with pytest.raises(topshap.ParameterError, match=r"t.parquet' holds more than 15 MiB"):
        read_table(path, TableLimits(mebibytes=15))
    assert len(read_table(path, TableLimits(mebibytes=16))) == 2**20


def test_equal_texts_in_parquet_count_in_full(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x" * 2**16] * 256, "b": np.zeros(256)}), path)
    assert path.stat().st_size < 2**17
    with pytest.raises(topshap.ParameterError, match="holds more than 15 MiB"):
        read_table(path, TableLimits(mebibytes=15))
    assert len(read_table(path, TableLimits(mebibytes=17))) == 256


@pytest.mark.parametrize("command", [["select"], ["explain", "--row", "3"]])
def test_the_commands_have_options_for_the_limits(folder, run, command):
    command = [*command, "houses.csv", "--target", "price", "--model", "linear", "--budget", "6", "-k", "1"]
    assert "the limit is 3" in str(run(*command, "--max-columns", 3).exception)
    assert run(*command, "--max-columns", 7, "--max-size", 1).exit_code == 0
