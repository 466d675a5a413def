"""The players that are shown, and their labels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topshap.show.labels import around_border, shorten, shorten_all, shown_ranks


@given(n=st.integers(1, 300), most=st.integers(4, 60), data=st.data())
def test_shown_ranks_respect_the_maximum_and_include_both_sides_of_the_border(n, most, data):
    k = data.draw(st.integers(1, n))
    for ranks in (shown_ranks(n, k, most), around_border(n, k, most)):
        assert len(ranks) == min(n, most)
        assert np.all(np.diff(ranks) > 0)
        assert ranks[0] >= 0
        assert ranks[-1] < n
        if k < n:
            assert {k - 1, k} <= set(ranks.tolist())


@given(name=st.text(max_size=80), length=st.integers(5, 40))
def test_a_shortened_name_is_one_line_within_the_length(name, length):
    cut = shorten(name, length)
    assert 0 < len(cut) <= max(length, len("(no name)"))
    assert "\n" not in cut


def test_a_shortened_name_keeps_its_end():
    assert shorten("mean concave points of the cell (worst)", 20).endswith("worst)")
    assert shorten("short", 20) == "short"


def test_names_shown_together_stay_different():
    names = [f"feature number {i} of the long list" for i in range(30)]
    cut = shorten_all([*names, "age"], 20)
    assert len(set(cut)) == 31
    assert max(map(len, cut)) <= 20
    assert cut[-1] == "age"


@given(names=st.lists(st.text(max_size=60), max_size=12), length=st.integers(9, 40))
def test_any_names_are_shortened_to_the_length(names, length):
    cut = shorten_all(names, length)
    assert len(cut) == len(names)
    assert all(0 < len(name) <= length for name in cut)
