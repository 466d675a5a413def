"""Benchmark curves."""

import numpy as np

from topshap import show


def test_curves_show_means_and_bands():
    runs = np.array([[0.4, 0.2], [0.6, 0.2]])
    ax = show.curves([10, 20], {"one": runs, "two": runs / 2, "single": runs[:1]}, ylabel="mse", logarithmic=True)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.5, 0.2])
    assert len(ax.collections) == 2  # one run has no standard error
    assert len({line.get_linestyle() + line.get_marker() for line in ax.lines}) == 3
    assert (ax.get_ylabel(), ax.get_yscale()) == ("mse", "log")
