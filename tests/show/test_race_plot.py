"""The plot of the race."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap import show
from topshap.core.history import History
from topshap.show.race_plot import borders, spread, within
from topshap.show.style import INSIDE


def test_the_race_ends_at_the_estimates_of_the_result(found):
    top = found(n=30, k=3, budget=2000)
    ax = show.race(top, most=8)
    ends = sorted(line.get_ydata()[-1] for line in ax.lines if len(line.get_ydata()) > 2)
    np.testing.assert_allclose(ends, np.sort(top.estimates[top.ranking[:8]]))
    assert ax.get_xlim()[1] == top.evaluations
    assert sum(text.get_color() == INSIDE for text in ax.texts) == 3


def test_the_race_marks_nothing_before_anything_distinguishes_the_players(found):
    top = found(n=8, k=3, budget=2)
    ax = show.race(top)
    assert borders(top) == []
    assert INSIDE not in {line.get_color() for line in ax.lines}
    assert {text.get_fontweight() for text in ax.texts} == {"normal"}
    assert INSIDE not in {text.get_color() for text in ax.texts}
    assert ax.get_title(loc="left") == "The race for the top 3: nothing distinguishes the players yet"


def test_a_race_without_a_history_is_refused(found):
    from dataclasses import replace

    with pytest.raises(topshap.ParameterError, match="history"):
        show.race(replace(found(), history=None))


def test_labels_are_spread_without_overlap():
    places = np.array([3.0, 1.0, 1.05, 1.1, 3.02])
    apart = spread(places, 0.5)
    assert np.diff(np.sort(apart)).min() >= 0.5 - 1e-12
    assert np.argsort(apart).tolist() == np.argsort(places).tolist()
    assert apart.mean() == pytest.approx(places.mean())


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=20))
def test_labels_stay_within_the_axes(places):
    gap = 2.0 / len(places)
    kept = within(spread(np.array(places), gap), gap, -1.0, 1.0)
    assert np.diff(np.sort(kept)).min(initial=gap) > gap - 1e-9
    assert kept.min() > -1.0
    assert kept.max() < 1.0


def test_a_history_may_begin_without_evaluations(found, tmp_path):
    top = found(budget=2000)
    history = History(np.array([0, 100]), top.history.estimates[-2:].copy(), top.history.std_errors[-2:].copy())
    ax = show.race(replace(top, history=history))
    ax.figure.savefig(tmp_path / "race.png")
    assert ax.get_xscale() == "linear"
