"""Plots, text and HTML of many rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap import Explanations, show
from topshap.core.errors import ParameterError
from topshap.show.many_rows import heat_map_order, relative_values, swarm_offsets

HOSTILE = ["<script>alert(1)</script>", "\x1b[2J", "a\nb", "$\\frac$", "\u202egpj", "\ud800"]


def mixed(n_rows, n=6):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, n)).astype(object)
    table[:, 1] = rng.choice(["b", "</td>", "c\x1b"], size=n_rows)
    table[::2, 3] = None
    table[:, 4] = None
    return table


@pytest.fixture(scope="module")
def tops(results_as_arrays):
    return Explanations(results_as_arrays(40), data=mixed(40))


@pytest.mark.parametrize("kind", ["beeswarm", "bar", "heat_map"])
def test_the_most_important_players_are_shown_first(tops, kind):
    ax = tops.plot(kind, k=4)
    importance = tops.importance()
    expected = [importance.names[i] for i in importance.ranking[:4]]
    assert [label.get_text() for label in ax.get_yticklabels()] == expected


def test_a_beeswarm_has_a_point_per_row_and_player_in_the_colour_of_its_value(tops):
    ax = show.beeswarm(tops)
    swarms = [points for points in ax.collections if len(points.get_offsets())]
    assert [len(points.get_offsets()) for points in swarms] == [40] * 6
    order = tops.importance().ranking.tolist()
    for place, player in enumerate(order):
        np.testing.assert_array_equal(swarms[place].get_offsets()[:, 0], tops.estimates[:, player])
    ax.figure.canvas.draw()
    of_numbers, of_unknown = (swarms[order.index(player)].get_facecolors() for player in (0, 4))
    assert len(np.unique(of_numbers, axis=0)) > 20
    assert len(np.unique(of_unknown, axis=0)) == 1


def test_of_many_rows_some_are_drawn_and_the_title_says_so(results_as_arrays):
    tops = Explanations(results_as_arrays(10_000))
    ax = show.beeswarm(tops, k=3, most_rows=500)
    assert ax.get_title(loc="left") == "3 of 6 players, 500 of 10,000 rows"
    assert [len(points.get_offsets()) for points in ax.collections] == [500] * 3
    assert show.heat_map(tops).images[0].get_array().shape == (6, 10_000)


def test_bars_are_mean_magnitudes_with_intervals(tops):
    ax = show.bar(tops, k=5)
    importance = tops.importance()
    first = importance.ranking[:5]
    bars: Any = ax.containers[0]
    np.testing.assert_allclose(bars.datavalues, importance.values[first])
    whiskers: Any = ax.collections[0]
    half = [(right[0] - left[0]) / 2 for left, right in whiskers.get_segments()]
    np.testing.assert_allclose(half, 1.959964 * importance.std_errors[first], rtol=1e-6)
    assert [text.get_text() for text in ax.texts] == ["⋮ 1 more"]


@given(order=st.sampled_from(["clustered", "prediction", "given"]), n_rows=st.integers(1, 40))
def test_a_heat_map_shows_each_row_once(results_as_arrays, order, n_rows):
    tops = Explanations(results_as_arrays(n_rows))
    found = heat_map_order(tops.estimates, order, tops.grand, anchors=10)
    assert sorted(found.tolist()) == list(range(n_rows))


def test_clusters_stay_together_in_a_heat_map():
    rng = np.random.default_rng(0)
    of_row = rng.integers(0, 4, size=3000)
    estimates = 5.0 * np.eye(4)[of_row] + rng.normal(size=(3000, 4))
    found = heat_map_order(estimates, "clustered", estimates.sum(axis=1))
    changes = np.count_nonzero(np.diff(of_row[found]))
    assert changes < 100  # 2,250 in the given order


def test_one_of_several_outputs_is_drawn(results_as_arrays):
    tops = Explanations(results_as_arrays(20), output_names=["x", "y"])
    for kind in ("beeswarm", "bar", "heat_map"):
        message = f"'output' parameter of {kind} must be given, since there are 2 outputs: 'x', 'y'"
        with pytest.raises(ParameterError, match=message):
            tops.plot(kind)
        assert tops.plot(kind, output="y").get_yticklabels()
        assert tops.output("y").plot(kind).get_yticklabels()
    with pytest.raises(ParameterError, match=r"'output' parameter of bar must be one of 'x', 'y'. Got 'z'"):
        show.bar(tops.importance(), output="z")
    with pytest.raises(ParameterError, match="explanations of at least one row"):
        show.beeswarm(tops[:0])
    with pytest.raises(ParameterError, match="'k' parameter of bar must be an int of at least 1"):
        show.bar(tops.output(0), k=0)
    with pytest.raises(ParameterError, match="'order' parameter of heat_map"):
        show.heat_map(tops.output(0), order="random")


def test_axes_can_be_given(tops):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    for ax, kind in zip(axes, ("beeswarm", "bar", "heat_map"), strict=True):
        assert tops.plot(kind, ax) is ax


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_relative_values_and_offsets_are_bounded(values):
    numbers = np.array(values)
    assert ((relative_values(numbers) >= 0) & (relative_values(numbers) <= 1)).all()
    assert (np.abs(swarm_offsets(numbers, (numbers.min(), numbers.max()))) <= 1).all()


def test_text_is_short_for_any_number_of_rows(results_as_arrays):
    tops = Explanations(results_as_arrays(5000, n=40, k=20))
    lines = str(tops).splitlines()
    assert lines[0] == "5,000 explanations of 40 players: the top 20 of each after 250,000 evaluations in total"
    assert len(lines) == 13
    assert lines[-1] == "... 4,990 more rows"
    assert max(map(len, lines)) < 200
    assert repr(tops) == "<5000 explanations of 40 players, k=20>"
    assert tops._repr_html_().count("<tr>") == 11


def test_hostile_names_and_values_are_escaped_in_text_html_and_plots(results_as_arrays, tmp_path):
    results = results_as_arrays(8, names=HOSTILE, k=6)
    tops = Explanations(results, data=mixed(8), row_names=["<b>", "\x1b", "r\n", *"abcde"])
    for text in (str(tops), str(tops.importance()), repr(tops), tops._repr_html_()):
        assert [c for c in text if not c.isprintable() and c != "\n"] == []
        text.encode("utf-8")
    assert "<script>" not in tops._repr_html_()
    assert "</td>" not in tops._repr_html_().replace("</bdi></td>", "")
    for kind in ("beeswarm", "bar", "heat_map"):
        ax = tops.plot(kind)
        ax.figure.savefig(tmp_path / "plot.svg")
        assert r"\x1b[2J" in [label.get_text() for label in ax.get_yticklabels()]
