"""Results to show, and matplotlib without a screen."""

import base64
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import topshap

mpl.use("Agg")

SCREENSHOTS = Path("screenshots")
HOSTILE = "<script>alert(1)</script>"
LONG = "income of the household in the year before last, in thousands of euros, deflated (EUR)"


class Window:
    """A report in a browser window of a given width, in dark or light mode."""

    def __init__(self, driver, path, *, width, dark):
        self.driver = driver
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        driver.get_log("performance")
        driver.get(path.as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, selector, text):
        from selenium.webdriver.support.ui import Select

        Select(self.all(selector)[0]).select_by_visible_text(text)

    def keep(self, name):
        height = min(4000, self.run("return document.documentElement.scrollHeight"))
        clip = {"x": 0, "y": 0, "width": self.run("return innerWidth"), "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        SCREENSHOTS.mkdir(exist_ok=True)
        (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


@pytest.fixture(scope="session")
def window_of():
    """Return the class of a report in a browser window."""
    return Window


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
