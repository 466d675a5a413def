"""Plots agree with the result for any names and any number of players."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import topshap
from topshap import show

PLOTS = [show.leaderboard, show.race, show.pairwise]
CASES = {
    "few": {"n": 14, "k": 4},
    "many": {"n": 1000, "k": 100, "budget": 3000, "algorithm": "greedy-cmcs"},
    "exact": {"n": 3, "k": 1, "budget": 8},
    "everyone": {"n": 5, "k": 5, "budget": 20},
    "no errors known": {"n": 14, "k": 2, "budget": 20},
    "one player": {"n": 1, "k": 1, "budget": 2},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("plot", PLOTS)
def test_every_plot_draws_every_result_without_a_warning(found, plot, case):
    top = found(**CASES[case])
    ax = plot(top)
    ax.figure.canvas.draw()
    assert plot(top, ax=plt.figure().add_subplot()) is plt.gca()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda top: show.leaderboard(top, most=3), "'most' parameter of leaderboard"),
        (lambda top: show.race(top, level=1.0), "'level' parameter of race"),
        (lambda top: show.pairwise(top, most=1), "'most' parameter of pairwise"),
        (lambda top: show.text_map(top, pieces=["a"]), "'pieces' parameter of text_map"),
        (lambda top: show.text_map(top, pieces=["a"], player_of=[0, 1]), "'player_of' parameter of text_map"),
        (lambda top: show.image_map(top, np.zeros((2, 2)), np.zeros((3, 3), int)), "'segments' parameter of image_map"),
        (lambda top: show.image_map(top, np.zeros(2), np.zeros(2, int)), "'image' parameter of image_map"),
        (lambda top: show.curves([1, 2], {"a": [[1.0]]}), "'errors' parameter of curves"),
        (lambda top: show.curves([1, 2], {}), "'errors' parameter of curves"),
    ],
)
def test_invalid_arguments_of_plots_are_refused_by_name(found, call, message):
    with pytest.raises(topshap.ParameterError, match=message):
        call(found())


@pytest.mark.parametrize("plot", PLOTS)
def test_a_missing_matplotlib_is_named_with_the_extra_to_install(monkeypatch, found, plot):
    top = found()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"needs matplotlib: pip install 'topshap\[plots\]'"):
        plot(top)
