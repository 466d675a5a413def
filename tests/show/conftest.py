"""Results to show, and matplotlib without a screen."""

import matplotlib as mpl
import numpy as np
import pytest

import topshap

mpl.use("Agg")

HOSTILE = "<script>alert(1)</script>"
LONG = "income of the household in the year before last, in thousands of euros, deflated (EUR)"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def found():
    """Return a function that runs a race among n players with names that are awkward to show.

    Values are multiplied by `scale`; only the first `useful` players matter, by default all.
    """

    def run(n=14, k=4, budget=200, scale=1.0, useful=None, **options):
        rng = np.random.default_rng(0)
        weights = np.sort(rng.exponential(size=n))[::-1]
        dummies = np.arange(n) >= (n if useful is None else useful)
        pair = [0, min(2, n - 1)]

        def game(coalitions):
            coalitions = coalitions & ~dummies
            return scale * (coalitions @ weights + np.sin(coalitions @ rng_weights) + coalitions[:, pair].all(axis=1))

        rng_weights = rng.normal(size=n)
        names = [HOSTILE, LONG, "$x^2", "tri\nglycerides", 'quote " and & amp', "naïve ἀρχή", "  "]
        names = [*names, *(f"player {i}" for i in range(n))][:n]
        options = {"random_state": 7, "player_names": names, "algorithm": "cmcs"} | options
        return topshap.identify(game, n_players=n, k=k, budget=budget, **options)

    return run
