"""Equal rows: the first equal element is found for any hashes, and keys are equal for equal rows only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from topshap.core.coalitions import from_ids
from topshap.games import equal_rows
from topshap.games.equal_rows import EqualRows, first_equal


def first_by_loop(values):
    seen = {}
    return [seen.setdefault(value, position) for position, value in enumerate(values)]


@given(
    hnp.arrays(np.int64, st.integers(0, 60), elements=st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)),
    st.sampled_from([0, 3, 2048]),
)
def test_the_first_equal_element_is_found(hashes, sort_up_to):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal_rows, "_SORT_UP_TO", sort_up_to)
        assert first_equal(hashes).tolist() == first_by_loop(hashes.tolist())


@pytest.mark.parametrize("shift", [0, 20, 50])
def test_many_elements_are_found_whichever_bits_differ(shift):
    hashes = np.random.default_rng(0).integers(0, 5000, size=20_000) << shift
    assert first_equal(hashes).tolist() == first_by_loop(hashes.tolist())


def test_an_element_that_does_not_agree_keeps_its_position():
    kinds = np.array([0, 1, 0, 1])
    first = first_equal(np.array([7, 7, 7, 7]), lambda some, others: kinds[some] == kinds[others])
    assert first.tolist() == [0, 1, 0, 3]


@given(st.integers(0, 10**6), st.sampled_from([4, 8, 53]), st.booleans())
def test_keys_are_equal_if_and_only_if_rows_are(seed, bits, grouped):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=(5, 4))
    player_of = np.array([0, 1, 1, 2]) if grouped else np.arange(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal_rows, "_BITS", bits)
        rows = EqualRows(codes, 2, player_of)
    present = from_ids(np.arange(8), 3)[:, player_of] if grouped else from_ids(np.arange(16), 4)
    keys = np.stack([own[:, :, None] + others[:, None, :] for own, others in rows.keys(present)], axis=-1)
    assert rows.exact == (keys.shape[-1] == 1)
    masked = np.where(present[:, None, None, :], codes[None, :2, None, :], codes[None, None, 2:, :]).reshape(-1, 4)
    same_keys = np.unique(keys.reshape(len(masked), -1), axis=0, return_inverse=True)[1].ravel()
    same_rows = np.unique(masked, axis=0, return_inverse=True)[1].ravel()
    assert first_by_loop(same_keys.tolist()) == first_by_loop(same_rows.tolist())
    own, others = rows.hashes(present)
    hashes = (own[:, :, None] + others[:, None, :]).ravel()
    for position, first in enumerate(first_by_loop(same_rows.tolist())):
        assert hashes[position] == hashes[first]
