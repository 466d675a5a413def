import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from topshap.algorithms.odd_gp.bounds import BorderDifferences


@given(
    gaps=arrays(float, (3, 4), elements=st.floats(-1.0, 3.0)),
    deviations=arrays(float, (3, 4), elements=st.sampled_from([0.0, 0.1, 1.0, np.inf])),
    level=st.sampled_from([0.001, 0.1]),
)
def test_all_bounds_are_above_minus_epsilon_if_the_tails_add_up_to_the_level(gaps, deviations, level):
    nothing = np.zeros((3, 4))
    border = BorderDifferences(gaps, deviations, np.full((3, 4), 8.0), unseen=nothing, exposure=nothing)
    epsilon = 0.5
    bounds, total = border.lower_bounds(epsilon, level, unseen_level=0.1), border.tails(epsilon).sum()
    assert not np.isnan(bounds).any()
    if total <= 0.98 * level:
        assert (bounds >= -epsilon - 1e-9).all()
    if total > level:
        assert bounds.min() < -epsilon + 1e-9
