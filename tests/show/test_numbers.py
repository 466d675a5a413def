"""The format of numbers."""

import numpy as np

from topshap.show.numbers import percent


def test_an_estimated_probability_is_never_shown_as_certain():
    assert [percent(p) for p in (0.0, 0.5, 1.0, np.nan)] == ["<1%", "50%", ">99%", "?"]
