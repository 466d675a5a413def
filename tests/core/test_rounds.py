"""Rounds in batches: every round gets its own values, in batches of any size."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core import rounds as core_rounds
from topshap.core.algorithm import Round
from topshap.core.coalitions import from_ids, to_ids
from topshap.core.rounds import RoundReader

N = 6


class Notes:
    """Rounds of given sizes with consecutive coalitions, and the values that each of them was given."""

    def __init__(self, sizes, independent):
        self.got = []
        self.sizes, self.independent = sizes, independent

    def rounds(self):
        start = 0
        for number, (size, independent) in enumerate(zip(self.sizes, self.independent, strict=True)):
            rows = from_ids(np.arange(start, start + size) % 2**N, N)
            yield Round(rows, lambda values, number=number: self.got.append((number, values.tolist())), independent)  # type: ignore[misc]
            start += size

    def checkpoint(self):
        got = list(self.got)
        return lambda: self.got.__setitem__(slice(None), got)


some_rounds = st.lists(st.tuples(st.integers(1, 20), st.booleans()), min_size=1, max_size=12)


def values_of(rows):
    return to_ids(rows).astype(float)


def expected(sizes):
    starts = np.cumsum([0, *sizes])
    return [
        (i, (np.arange(start, end) % 2**N).astype(float).tolist())
        for i, (start, end) in enumerate(itertools.pairwise(starts))
    ]


@given(some_rounds, st.booleans(), st.sampled_from([1, 7, 2**10]))
def test_every_round_gets_its_own_values_in_order(drawn, one_at_a_time, rows_at_most):
    sizes, independent = zip(*drawn, strict=True)
    notes = Notes(sizes, independent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_rounds, "MAX_BATCH_BYTES", N * rows_at_most)
        reader = RoundReader(notes.rounds(), one_at_a_time=one_at_a_time)
        while (batch := reader.read()) is not None:
            assert 1 <= len(batch) <= rows_at_most
            reader.take(values_of(batch))
    assert notes.got == expected(sizes)


def test_independent_rounds_are_read_together_up_to_a_number_of_rows():
    notes = Notes([100] * 5, [True] * 5)
    reader = RoundReader(notes.rounds(), one_at_a_time=False)
    assert sizes_of_batches(reader) == [200, 200, 100]
    notes = Notes([100] * 3, [True] * 3)
    reader = RoundReader(notes.rounds(), one_at_a_time=True)
    assert sizes_of_batches(reader) == [100, 100, 100]


def sizes_of_batches(reader):
    sizes = []
    while (batch := read_and_take(reader)) is not None:
        sizes.append(len(batch))
    return sizes


def read_and_take(reader):
    batch = reader.read()
    if batch is not None:
        reader.take(values_of(batch))
    return batch


def test_a_round_is_not_read_before_the_values_it_depends_on_are_added():
    seen = []

    def rounds():
        yield Round(from_ids(np.arange(3), N), seen.append)
        assert len(seen) == 1
        yield Round(from_ids(np.arange(3), N), seen.append)

    reader = RoundReader(rounds(), one_at_a_time=False)
    while read_and_take(reader) is not None:
        pass
    assert len(seen) == 2


@given(some_rounds, st.data())
def test_reading_resumes_after_a_prefix_as_if_it_had_not_been_interrupted(drawn, data):
    sizes, independent = zip(*drawn, strict=True)
    notes = Notes(sizes, independent)
    reader = RoundReader(notes.rounds(), one_at_a_time=False)
    batch = reader.read()
    cut_at = data.draw(st.integers(0, len(batch) - 1), label="cut at")
    reader.take_prefix(values_of(batch[:cut_at]), len(batch) - cut_at, notes, may_resume=True)
    assert sum(len(values) for _, values in notes.got) == cut_at
    reader.take(values_of(reader.resume()))
    while read_and_take(reader) is not None:
        pass
    assert notes.got == expected(sizes)
