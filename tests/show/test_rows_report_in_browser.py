"""The report on many rows in a real browser: run with ``make browser``, which keeps the screenshots."""

import numpy as np
import pytest

from topshap import Explanations

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script>"


def mixed(n_rows, n):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, n)).round(3).astype(object)
    table[:, 1] = rng.choice(["Private", "Self-employed", HOSTILE], size=n_rows)
    table[:, 3] = None
    return table


def rows_of(window):
    return window.texts("#list tr.row button")


@pytest.fixture
def opened(chromium, window_of, results_as_arrays, tmp_path):
    """Return a function that writes the report on made-up rows and opens it."""

    def open_report(n_rows=120, n=8, k=3, *, outputs=None, width=1000, dark=False, with_data=True, title=None):
        names = ["age", "work", HOSTILE, "group", *(f"feature {i}" for i in range(n))][:n]
        count = n_rows * len(outputs or [1])
        data = mixed(n_rows, n) if with_data else None
        tops = Explanations(results_as_arrays(count, n, k, names=names), data=data, output_names=outputs)
        tops.to_html(tmp_path / "report.html", title=title)
        return tops, window_of(chromium, tmp_path / "report.html", width=width, dark=dark)

    return open_report


CASES = {
    "rows": {},
    "outputs": {"outputs": ["setosa", "versicolor", "virginica"]},
    "without-values": {"with_data": False},
    "one-row": {"n_rows": 1},
    "one-player": {"n": 1, "k": 1, "with_data": False},
    "all-players": {"n": 4, "k": 4},
    "1000-rows": {"n_rows": 1000, "n": 30},
}


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (390, True), (360, False), (1000, True)])
@pytest.mark.parametrize("case", CASES)
def test_it_loads_without_errors_and_fits_the_window(opened, case, dark, width):
    tops, window = opened(width=width, dark=dark, **CASES[case])
    window.all("#list tr.row button")[0].click()
    window.keep(f"many-{case}-{width}{'-dark' if dark else ''}")
    assert window.driver.get_log("browser") == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert len(rows_of(window)) == min(50, len(tops))
    assert len(window.all("#bars .ts-row")) == min(15, tops.n_players)
    assert len(window.all(".detail .ts-row")) == min(40, tops.n_players)
    assert len(window.all(".detail .ts-row.ts-in")) == tops.k
    overflowing = "return [...document.querySelectorAll('.ts-value, .ts-rank, #list th, #list tr.row td')].filter("
    overflowing += "e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert window.run(overflowing) == []
    drawn = "const c = document.getElementById('points'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height)"
    assert window.run(drawn + ".data; return d.some(x => x > 0)")


def test_nothing_is_requested_and_other_scripts_are_refused(opened):
    _, window = opened()
    requests = [
        entry["message"] for entry in window.driver.get_log("performance") if "requestWillBeSent" in entry["message"]
    ]
    assert all("http" not in request.split('"url":"')[1][:5] for request in requests if '"url":"' in request)
    window.run("const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)")
    assert window.run("return window.ran === undefined")
    assert "Content Security Policy" in window.driver.get_log("browser")[0]["message"]


def test_hostile_names_values_and_titles_are_text(opened):
    _, window = opened(title=f"{HOSTILE} & co")
    assert window.texts("h1") == [f"{HOSTILE} & co"]
    assert HOSTILE in window.texts("#bars .ts-name")
    assert any(text.startswith(f"{HOSTILE} = ") for text in window.texts("#list .top bdi"))
    assert len(window.all("script")) == 2


def test_any_column_sorts_up_and_down(opened):
    tops, window = opened()
    assert rows_of(window)[:3] == ["0", "1", "2"]
    heads = {button.text.split("\n")[0]: button for button in window.all("#list th button")}
    assert set(heads) == {"row", "prediction", "base value", "confidence", "top 3"}
    heads["prediction"].click()
    assert rows_of(window) == [str(i) for i in np.argsort(-tops.grand, kind="stable")[:50]]
    heads["prediction"].click()
    assert rows_of(window) == [str(i) for i in np.argsort(tops.grand, kind="stable")[:50]]
    assert window.all("#list th[aria-sort]")[0].get_attribute("aria-sort") == "ascending"
    heads["confidence"].click()
    assert rows_of(window)[0] == str(np.argmax(tops.confidence.round(3)))
    heads["top 3"].click()
    first = [text.split(" = ")[0] for text in window.texts("#list .top span:first-child > bdi")]
    assert first == sorted(first, key=lambda name: (name != HOSTILE, name))


def test_rows_are_filtered_by_text_and_by_player(opened):
    tops, window = opened()
    window.choose("#member", "age")
    with_age = [str(i) for i in range(120) if 0 in tops.players[i]]
    assert rows_of(window) == with_age[:50]
    assert window.texts("#found") == [f"{len(with_age)} of 120 rows"]
    window.all("#find")[0].send_keys("self-emp")
    both = [i for i in range(120) if {0, 1} <= set(tops.players[i].tolist()) and tops.data[i, 1] == "Self-employed"]
    assert rows_of(window) == [str(i) for i in both]
    window.all("#find")[0].send_keys("nothing like this")
    assert rows_of(window) == []
    assert window.texts("#found") == ["0 of 120 rows"]


def test_pages_are_turned(opened):
    _, window = opened()
    assert window.texts("#page") == ["1 to 50 of 120"]
    window.all("#next")[0].click()
    window.all("#next")[0].click()
    assert rows_of(window)[0] == "100"
    assert window.texts("#page") == ["101 to 120 of 120"]
    assert not window.all("#next")[0].is_enabled()
    window.all("#previous")[0].click()
    assert rows_of(window)[0] == "50"


def test_a_row_opens_to_its_leaderboard_by_mouse_and_by_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    tops, window = opened()
    window.all("#list tr.row .top")[3].click()
    names = [text.split(" = ")[0] for text in window.texts(".detail .ts-name")]
    assert names == [tops.player_names[i] for i in tops[3].ranking]
    numbers = [float(text.split(" ± ")[0]) for text in window.texts(".detail .ts-value")]
    np.testing.assert_allclose(numbers, tops.estimates[3][tops[3].ranking], rtol=1e-2, atol=1e-5)
    assert window.run("return document.activeElement.textContent") == "3"
    window.press(Keys.ARROW_DOWN)
    window.press(Keys.ENTER)
    assert window.run("return document.activeElement.textContent") == "4"
    assert window.texts("[aria-expanded=true]") == ["4"]
    assert len(window.all(".detail")) == 1
    window.press(Keys.ESCAPE)
    assert window.all(".detail") == []
    window.press(Keys.END)
    assert window.run("return document.activeElement.textContent") == "49"


def test_a_point_names_its_row_and_opens_it(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    tops, window = opened()
    farthest = "const c = document.getElementById('points').getBoundingClientRect(); return [c.width, c.height]"
    width, height = window.run(farthest)
    canvas = window.all("#points")[0]
    extreme = int(tops.estimates[:, 0].argmax())
    window.run("arguments[0].scrollIntoView()", canvas)
    right = ActionChains(window.driver).move_to_element_with_offset(canvas, int(width / 2) - 13, 15 - int(height / 2))
    right.perform()
    assert f"row {extreme}\nage = " in window.texts("#tip")[0]
    right.click().perform()
    assert window.texts("[aria-expanded=true]") == [str(extreme)]
    assert f"row {extreme}" in window.all(".detail ol")[0].get_attribute("aria-label")


def test_an_output_is_chosen(opened):
    tops, window = opened(outputs=["setosa", "versicolor", "virginica"])
    for output in ("virginica", "versicolor"):
        window.choose("#output", output)
        chosen = tops.output(output)
        importance = chosen.importance()
        assert window.texts("#bars .ts-name") == [importance.names[i] for i in importance.ranking]
        predictions = [float(text) for text in window.texts("#list tr.row td:nth-child(2)")]
        np.testing.assert_allclose(predictions, chosen.grand[:50], rtol=1e-3)
    _, window = opened()
    assert not window.all("#outputs")[0].is_displayed()


def test_all_controls_are_reached_by_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    _, window = opened(outputs=["x", "y"])
    reached = []
    for _ in range(12):
        window.press(Keys.TAB)
        reached.append(window.run("const e = document.activeElement; return e.id || e.className || e.textContent"))
    assert {"skip", "output", "find", "member", "row", "prediction", "0"} <= set(reached)


def test_ten_thousand_rows_stay_usable(opened):
    tops, window = opened(n_rows=10_000, n=30)
    assert window.texts("#found") == ["10,000 of 10,000 rows"]
    assert "Drawn are 1,000 of 10,000 rows" in window.texts("#legend")[0]
    window.all("#find")[0].send_keys("9999")
    assert "9999" in rows_of(window)
    assert window.run("return document.querySelectorAll('*').length") < 3000
    window.keep("many-10000-rows")
    assert len(tops) == 10_000
