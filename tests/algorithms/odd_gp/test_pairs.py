import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.algorithms.odd_gp.pairs import ComplementPairs

ROWS = np.array([[True, False, False], [False, True, False]])


@pytest.mark.parametrize("known", range(5))
def test_only_complete_pairs_are_added(known):
    pairs = ComplementPairs(np.ones((1, 3)), np.array([6.0]), np.array([0.0]))
    each = pairs.round(ROWS)
    assert each.rows.tolist() == [ROWS[0].tolist(), (~ROWS[0]).tolist(), ROWS[1].tolist(), (~ROWS[1]).tolist()]
    assert each.add(np.array([1.0, 4.0, 2.0, 3.0])[:known]) == known // 2
    assert len(pairs) == 1 + known // 2
    np.testing.assert_array_equal(pairs.odd, np.array([3.0, -1.5, -0.5])[: len(pairs)])
    np.testing.assert_array_equal(pairs.even, np.array([3.0, 2.5, 2.5])[: len(pairs)])
    assert set(pair_keys(ROWS[: known // 2])) <= pairs.keys()
    assert len(pairs.keys()) == len(pairs)


@given(st.integers(1, 400), st.data())
def test_every_end_of_the_even_order_is_spread_over_time_and_the_grand_coalition_comes_first(m, data):
    pairs = ComplementPairs(np.ones((m, 1)), np.arange(m, dtype=float), -np.arange(m, dtype=float))
    found = pairs.evenly_ordered()
    assert sorted(found.values) == list(range(m))
    assert found.values[0] == 0.0
    np.testing.assert_array_equal(found.values, -found.complement_values)
    count = data.draw(st.integers(1, m))
    last = np.sort(found.values[m - count :])
    expected = (np.arange(count) + 0.5) * m / count
    assert np.all(np.abs(last - expected) <= 1.0 + 3.0 * m / count)
