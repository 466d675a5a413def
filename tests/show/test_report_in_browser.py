"""The report in a real browser: run with ``make browser``, which keeps the screenshots in ``screenshots/``."""

import base64
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import topshap

pytestmark = pytest.mark.browser

SCREENSHOTS = Path("screenshots")
HOSTILE = "<script>alert(1)</script>"
RACE = {"n": 14, "k": 4, "budget": 2000, "algorithm": "greedy-cmcs"}


class Window:
    """A report in a browser window of a given width, in dark or light mode."""

    def __init__(self, driver, path, *, width, dark, still):
        self.driver = driver
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, motion]})
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

    def messages(self):
        return self.driver.get_log("browser")

    def keep(self, name):
        height = min(6000, self.run("return document.documentElement.scrollHeight"))
        clip = {"x": 0, "y": 0, "width": self.run("return innerWidth"), "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        SCREENSHOTS.mkdir(exist_ok=True)
        (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


@pytest.fixture
def opened(chromium, found, tmp_path):
    """Return a function that writes the report of a race and opens it."""

    def open_report(*, width=1000, dark=False, title=None, still=True, **race):
        top = found(**(race or RACE))
        top.to_html(tmp_path / "report.html", title=title, game="made up for this test")
        return top, Window(chromium, tmp_path / "report.html", width=width, dark=dark, still=still)

    return open_report


CASES = {
    "14-players": RACE,
    "1000-players": {"n": 1000, "k": 20, "budget": 20_000, "algorithm": "greedy-cmcs"},
    "exact": {"n": 3, "k": 1, "budget": 8},
    "errors-unknown": {"n": 14, "k": 2, "budget": 20},
    "nothing-learned": {"n": 14, "k": 2, "budget": 2},
    "tiny-numbers": {"n": 14, "k": 4, "budget": 300, "scale": 1e-9},
    "ties": {"n": 20, "k": 6, "budget": 600, "algorithm": "odd-gp", "useful": 4},
}


@pytest.mark.parametrize("width", [1000, 390, 360])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_it_loads_without_errors_and_fits_the_window(opened, case, dark, width):
    top, window = opened(width=width, dark=dark, **CASES[case])
    window.keep(f"{case}-{width}{'-dark' if dark else ''}")
    assert window.messages() == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert len(window.all("#players tbody tr")) == top.n_players
    assert (len(window.all("#players tbody tr.ts-in")) == top.k) == (case != "nothing-learned")
    outside = "return [...document.querySelectorAll('#board *, #chart text')].filter("
    outside += "e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.textContent)"
    assert window.run(outside) == []
    overflowing = "return [...document.querySelectorAll('.ts-value, .ts-chance, .ts-rank')].filter("
    overflowing += "e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert window.run(overflowing) == []


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (390, True), (360, False)])
def test_values_and_the_sum_to_the_prediction_are_shown(chromium, tmp_path, width, dark):
    names = ["age", "mean fractal dimension", "job", "a name that is too long for a phone and for a table"]
    background = np.array([[20, 0.1, "clerk", 0], [70, 0.2, "</script><b>", 1]], dtype=object)

    def predict(rows):
        return rows[:, 0] / 50 + 5 * rows[:, 1] - (rows[:, 2] == "clerk") + 1e-9 * rows[:, 3].astype(float)

    explainer = topshap.Explainer(lambda rows: predict(rows).astype(float), background, feature_names=names)
    x = np.array([39, 0.05416, "</script><b>", 123456.789], dtype=object)
    top = explainer.explain(x, k=3, budget=14, algorithm="cmcs", random_state=0)
    top.to_html(tmp_path / "report.html")
    window = Window(chromium, tmp_path / "report.html", width=width, dark=dark, still=True)
    window.keep(f"values-{width}{'-dark' if dark else ''}")
    assert window.messages() == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert "age = 39" in window.texts("#board .ts-name")
    steps = window.texts("#steps .ts-name")
    assert [steps[0], *steps[-2:]] == ["base value", "1 other player", "prediction"]
    assert set(window.texts("#players td.name")) >= {"age", "39", "</script><b>"}
    window.run("const f = document.getElementById('find'); f.value = 'SCRIPT'; f.dispatchEvent(new Event('input'))")
    assert len(window.all("#players tbody tr")) == 1
    overflowing = "return [...document.querySelectorAll('.ts-sum, #steps .ts-name')].filter("
    overflowing += "e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert window.run(overflowing) == []


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (390, True), (360, False)])
def test_pairs_have_a_network_and_a_matrix(opened, width, dark):
    top, window = opened(width=width, dark=dark, n=8, k=3, budget=2**8, order=2)
    window.keep(f"pairs-{width}{'-dark' if dark else ''}")
    assert window.messages() == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert len(window.all("#players tbody tr")) == top.n_candidates
    assert window.texts("#h-table") == ["All pairs"]
    assert len(window.all(".network circle")) == len(window.all(".network text")) == 8
    assert len(window.all(".network line.ts-in")) == 3
    assert len(window.all(".matrix td.ts-in")) == 6
    assert HOSTILE in window.texts(".network text") or "…" in "".join(window.texts(".network text"))
    outside = (
        "return [...document.querySelectorAll('.network text')].filter(e => { const b = e.getBoundingClientRect();"
    )
    outside += " return b.left < -1 || b.right > innerWidth + 1; }).map(e => e.textContent)"
    assert window.run(outside) == []
    shades = window.run(
        "return [...document.querySelectorAll('.matrix tbody td.ts-in')].map(e => getComputedStyle(e).backgroundColor)"
    )
    assert all(shade.startswith("rgb") and shade != "rgba(0, 0, 0, 0)" for shade in shades)
    width_of = "return Number(getComputedStyle(document.querySelector('.network line.ts-in')).strokeWidth.slice(0, -2))"
    assert window.run(width_of) > 0.0


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_dark_and_light(opened, dark):
    _, window = opened(dark=dark)
    paper, ink = window.run("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
    brightness = [sum(json.loads(f"[{colour[colour.index('(') + 1 : -1]}]")[:3]) / 765 for colour in (paper, ink)]
    assert (brightness[0] < 0.2 and brightness[1] > 0.8) if dark else (brightness[0] > 0.9 and brightness[1] < 0.2)


def test_a_hostile_name_and_title_are_text(opened):
    _, window = opened(title=f"{HOSTILE} & co")
    assert window.texts("h1") == [f"{HOSTILE} & co"]
    assert HOSTILE in window.texts("#board .ts-name")
    assert HOSTILE in window.texts("#players bdi")
    assert len(window.all("script")) == 2


def test_the_policy_of_the_page_refuses_other_styles_and_scripts(opened):
    _, window = opened()
    window.run("document.body.setAttribute('style', 'opacity: .5')")
    window.run("document.body.insertAdjacentHTML('beforeend', '<style>body { opacity: .5 }</style>')")
    window.run("const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)")
    window.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.ran = 1\">')")
    assert window.run("return getComputedStyle(document.body).opacity") == "1"
    assert window.run("return window.ran === undefined")
    messages = [message["message"] for message in window.messages()]
    assert len(messages) >= 3
    assert all("Content Security Policy" in message for message in messages)


def test_a_notebook_with_a_strict_policy_shows_the_leaderboard(chromium, found, tmp_path):
    html = found(**RACE)._repr_html_()
    style = html[html.index("<style>") + len("<style>") : html.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    icon = '<link rel="icon" href="data:,">'
    (tmp_path / "notebook.html").write_text(f"<!doctype html>{head}{icon}<body>{html}</body>", encoding="utf-8")
    window = Window(chromium, tmp_path / "notebook.html", width=1000, dark=False, still=True)
    window.keep("notebook")
    assert window.messages() == []
    assert len(window.all(".ts-row")) == 14
    assert window.run("return getComputedStyle(document.querySelector('.ts-row')).display") == "grid"


def test_the_slider_moves_through_the_race_by_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    top, window = opened()
    evaluations = window.run("return JSON.parse(document.getElementById('topshap-data').textContent).race.evaluations")
    slider = window.all("#moment")[0]
    assert window.texts("#spent") == [f"after {top.evaluations:,} evaluations"]
    end = window.run("return document.querySelector('#chart .now').getAttribute('x1')")
    slider.send_keys(Keys.HOME)
    assert window.texts("#spent") == [f"after {evaluations[0]:,} evaluations"]
    start = window.run("return document.querySelector('#chart .now').getAttribute('x1')")
    assert float(start) < float(end)
    window.keep("slider-at-the-start")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert slider.get_attribute("aria-valuetext") == f"after {evaluations[1]:,} evaluations"


@pytest.mark.parametrize(("rank_by", "merit", "borders"), [("value", float, 1), ("magnitude", abs, 2)])
def test_the_ranking_is_sorted_at_each_moment(opened, rank_by, merit, borders):
    _, window = opened(**(RACE | {"algorithm": "cmcs"}), rank_by=rank_by)
    assert len(window.all("#chart .border")) == borders
    for moment in (0, 5, 10_000):
        set_slider = "const s = document.getElementById('moment'); s.value = arguments[0];"
        window.run(set_slider + "s.dispatchEvent(new Event('input'))", moment)
        rows = "return [...document.querySelectorAll('#standing .ts-row')].map(r => [r.getBoundingClientRect().top, "
        rows += "Number(r.querySelector('.ts-value').textContent), Number(r.querySelector('.ts-rank').textContent)])"
        by_height = sorted(window.run(rows))
        values, ranks = [row[1] for row in by_height], [row[2] for row in by_height]
        assert values == sorted(values, key=merit, reverse=True)
        assert ranks == list(range(1, len(ranks) + 1))


def test_the_first_ranking_is_laid_out_without_animation(opened):
    _, window = opened(still=False)
    tops = "return [...document.querySelectorAll('#standing .ts-row')].map(r => r.getBoundingClientRect().top)"
    assert len(set(window.run(tops))) == 12
    assert window.run("return document.getAnimations().length") == 0
    style = "return getComputedStyle(document.querySelector('#standing .ts-row')).transitionDuration"
    assert window.run(style) == "0.25s"  # later movements are animated


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e4])
def test_the_ranking_rounds_as_the_leaderboard_does(opened, scale):
    _, window = opened(**CASES["ties"], scale=scale)
    standing = window.texts("#standing .ts-value")
    assert standing.count("0") == 8
    assert standing == window.texts("#board .ts-value")[:12]


def test_the_race_can_be_played(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    _, window = opened()
    window.all("#play")[0].click()
    moment = "return Number(document.getElementById('moment').value)"
    WebDriverWait(window.driver, 10, poll_frequency=0.1).until(lambda _: 0 < window.run(moment) < 10)
    window.all("#play")[0].click()
    assert window.texts("#play") == ["Play"]


def test_any_column_sorts_up_and_down_and_the_table_is_searched_by_name(opened):
    top, window = opened()
    first = "#players tbody tr td:first-child"
    assert window.texts(first) == [str(i) for i in range(1, 15)]
    heads = {button.text.split("\n")[0]: button for button in window.all("#players th button")}
    assert set(heads) == {"rank", "player", "estimate", "std. error", "low", "high", "P(top 4)"}
    errors = top.std_errors[top.ranking]
    heads["std. error"].click()
    assert window.texts(first) == [str(i + 1) for i in (-errors).argsort(kind="stable")]
    heads["std. error"].click()
    assert window.texts(first) == [str(i + 1) for i in errors.argsort(kind="stable")]
    assert window.all("#players th[aria-sort]")[0].get_attribute("aria-sort") == "ascending"
    window.all("#find")[0].send_keys("SCRIPT")
    assert window.texts("#players bdi") == [HOSTILE]


def test_the_table_can_be_copied(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    top, window = opened()
    window.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    window.all("#copy")[0].click()
    WebDriverWait(window.driver, 5).until(lambda _: window.texts("#copied") == ["14 rows copied"])
    lines = window.run("return window.copied").splitlines()
    assert lines[0].split("\t")[:3] == ["rank", "player", "estimate"]
    assert len(lines) == 15
    assert float(lines[1].split("\t")[2]) == pytest.approx(top.estimates.max(), rel=1e-5)


def test_details_are_shown_on_hover_and_by_keyboard(opened):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    _, window = opened()
    rows = window.all("#board .ts-row")
    ActionChains(window.driver).move_to_element(rows[2]).perform()
    tip = window.all("#tip")[0]
    assert "rank 3 of 14" in tip.text
    window.keep("details")
    window.press(Keys.TAB, Keys.TAB)  # past the link that skips to the table
    assert "rank 1 of 14" in tip.text
    window.press(Keys.ARROW_DOWN)
    assert "rank 2 of 14" in tip.text
    assert "P(in top 4)" in tip.text
    window.press(Keys.ESCAPE)
    assert not tip.is_displayed()


def test_all_controls_are_reached_by_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    _, window = opened()
    reached = []
    for _ in range(25):
        window.press(Keys.TAB)
        reached.append(window.run("return document.activeElement.id || document.activeElement.className"))
    assert {"skip", "play", "moment", "find", "copy", "rows", "wide"} <= set(reached)


def test_it_prints_on_a_few_pages(opened):
    _, window = opened()
    printed = base64.b64decode(window.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    SCREENSHOTS.mkdir(exist_ok=True)
    (SCREENSHOTS / "report.pdf").write_bytes(printed)
    assert 1 <= printed.count(b"/Type /Page\n") <= 4
