"""Cells: which are missing, equal and typical."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from topshap.games.tables.cells import codes_of, is_missing, number_codes, objects, ordinal_codes, typical_of

CELLS = st.one_of(st.none(), st.just(float("nan")), st.sampled_from(["a", "b", "c"]), st.integers(0, 3))


@pytest.mark.parametrize("cell", [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT])
def test_missing_values_of_every_library_are_recognised(cell):
    assert is_missing(cell)


@pytest.mark.parametrize("cell", [0, 0.0, "", False, "nan", (), np.inf])
def test_other_values_are_not_missing(cell):
    assert not is_missing(cell)


@given(st.lists(CELLS, min_size=1))
def test_codes_are_equal_exactly_for_equal_cells(cells):
    codes = codes_of(objects(cells))
    for cell, code in zip(cells, codes, strict=True):
        for other, other_code in zip(cells, codes, strict=True):
            same = (is_missing(cell) and is_missing(other)) or cell == other
            assert (code == other_code) == same


@given(st.lists(st.one_of(st.none(), st.text(max_size=2)), min_size=1))
def test_ordinal_codes_keep_the_order(cells):
    codes = ordinal_codes(objects(cells))
    assert np.isnan(codes).tolist() == [cell is None for cell in cells]
    known = sorted({cell for cell in cells if cell is not None})
    assert codes[~np.isnan(codes)].tolist() == [float(known.index(cell)) for cell in cells if cell is not None]


def test_numbers_are_their_own_ordinal_codes():
    numbers = np.array([3.0, np.nan, 1.0])
    assert ordinal_codes(numbers) is numbers


@given(st.lists(CELLS, min_size=1))
def test_no_value_is_more_frequent_than_the_typical_one(cells):
    typical = typical_of(objects(cells), whole=False, frequent=True)
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        assert typical is None
    else:
        assert known.count(typical) == max(known.count(cell) for cell in known)


def test_a_typical_whole_number_is_a_rounded_mean():
    assert typical_of(np.array([1.0, 2.0, 4.0]), whole=True, frequent=False) == 2
    assert typical_of(np.array([1.0, 2.0, 4.5]), whole=False, frequent=False) == 2.5
    assert typical_of(np.array([4.0, 1.0, 4.0]), whole=True, frequent=True) == 4
    assert np.isnan(typical_of(np.array([np.nan]), whole=True, frequent=False))


def test_the_least_of_equally_frequent_values_is_typical():
    assert typical_of(objects(["b", "a", "b", "a", "c"]), whole=False, frequent=False) == "a"
    assert typical_of(objects([2, "a", 1]), whole=False, frequent=False) == 1  # by type first


def test_lists_may_be_cells():
    assert objects([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]


@given(
    hnp.arrays(np.float64, (7, 2), elements=st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan, np.inf]))
    | hnp.arrays(np.int8, (7, 2), elements=st.integers(-2, 2))
    | hnp.arrays(np.bool_, (1, 2))
)
def test_codes_of_many_columns_are_those_of_each_column(numbers):
    expected = np.stack([codes_of(column) for column in numbers.T], axis=1)
    np.testing.assert_array_equal(number_codes(numbers), expected)
