"""The site in a real browser: run with ``make browser``, which keeps the screenshots in ``screenshots/``.

The site is built once, with the gallery.
"""

import base64
import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
SCREENSHOTS = Path("screenshots")
PAGES = {
    "start": "",
    "getting-started": "getting-started/",
    "which-algorithm": "which-algorithm/",
    "gallery": "gallery/",
    "benchmarks": "benchmarks/",
    "reference": "reference/",
}
WIDTHS = {"desktop": 1280, "phone": 390}


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files without log messages."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site and serve it; return its address."""
    pytest.importorskip("mkdocs", reason="mkdocs is in the extra 'docs'")
    folder = tmp_path_factory.mktemp("site")
    for name in ("benchmarks", "docs", "src", "mkdocs.yml"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder / "site"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def keep(driver, name, width):
    height = min(16000, driver.execute_script("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    SCREENSHOTS.mkdir(exist_ok=True)
    (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def requested(driver):
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]


def show(driver, url, *, width="desktop", scheme="light", motion="reduce"):
    """Open a page for a window and what the reader prefers."""
    pixels = WIDTHS[width]
    size = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": pixels < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preferred = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
    features = [{"name": name, "value": value} for name, value in preferred.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_makes_no_external_requests_and_fits_the_window(site, chromium, page, width, scheme):
    pixels = WIDTHS[width]
    requested(chromium)
    chromium.get_log("browser")
    show(chromium, site + PAGES[page], width=width, scheme=scheme)
    chromium.execute_script("for (const image of document.images) image.loading = 'eager'")
    chromium.execute_async_script("Promise.all([...document.images].map(i => i.decode())).then(arguments[0])")
    keep(chromium, f"site-{page}-{width}-{scheme}", pixels)
    assert chromium.get_log("browser") == []
    elsewhere = [url for url in requested(chromium) if not url.startswith((site, "data:", "blob:", "chrome:"))]
    assert elsewhere == []
    colours = chromium.execute_script("return document.body.getAttribute('data-md-color-scheme')")
    assert colours == {"light": "default", "dark": "slate"}[scheme]
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= pixels
    images = chromium.execute_script("return [...document.images].map(i => [i.naturalWidth, i.clientWidth, i.alt])")
    assert all(natural > 0 and shown <= pixels and alt for natural, shown, alt in images)
    assert (len(images) > 0) == (page in {"start", "getting-started", "gallery", "benchmarks"})


def unfold_reports(driver):
    driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")


def test_no_part_of_the_benchmarks_is_wider_than_a_phone_when_all_reports_are_unfolded(site, chromium):
    show(chromium, f"{site}benchmarks/", width="phone")
    unfold_reports(chromium)
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= WIDTHS["phone"]
    boxes = chromium.execute_script(
        "return [...document.querySelectorAll('.report-table, .report pre, .chart')].map(box => [box.className, "
        "box.getBoundingClientRect().right])"
    )
    assert len(boxes) > 50
    assert [box for box in boxes if box[1] > WIDTHS["phone"]] == []


def column_of(driver, label, name):
    """Return the header of a column of a table, and a function that returns the texts of its cells."""
    table = driver.find_element("css selector", f"[aria-label^='{label}'] table")
    headers = table.find_elements("css selector", "th")
    place = [header.text.strip() for header in headers].index(name)
    script = "return [...arguments[0].tBodies[0].rows].map(row => row.cells[arguments[1]].textContent)"
    return headers[place], lambda: driver.execute_script(script, table, place)


def test_tables_sort_by_number_up_down_and_back(site, chromium):
    show(chromium, f"{site}benchmarks/")
    header, cells = column_of(chromium, "scale, table 1", "n=3000")
    printed = cells()
    numbers = sorted(float(cell) for cell in printed if cell.replace(".", "").isdigit())
    assert len(numbers) > 10
    assert numbers != [float(cell) for cell in printed[: len(numbers)] if cell.replace(".", "").isdigit()]
    for direction, expected in (("ascending", numbers), ("descending", numbers[::-1])):
        header.find_element("css selector", "button").send_keys("\n")
        assert header.get_attribute("aria-sort") == direction
        assert [float(cell) for cell in cells()[: len(numbers)]] == expected
        assert sorted(cells()) == sorted(printed)
    header.find_element("css selector", "button").send_keys("\n")
    assert header.get_attribute("aria-sort") == "none"
    assert cells() == printed


def test_tables_sort_by_text_and_whole_rows_move(site, chromium):
    show(chromium, f"{site}benchmarks/")
    unfold_reports(chromium)
    header, names = column_of(chromium, "race, table 4", "algorithm")
    _, errors = column_of(chromium, "race, table 4", "error")
    printed = set(zip(names(), errors(), strict=True))
    header.find_element("css selector", "button").click()
    assert names() == sorted(names())
    assert set(zip(names(), errors(), strict=True)) == printed


def moment(driver):
    """Return what the animation shows: its state, the number of evaluations, and the names in order with their bars."""
    script = """
        const figure = document.querySelector(".race");
        const rows = [...figure.querySelectorAll("li:not(.hidden)")];
        rows.sort((a, b) => a.style.getPropertyValue("--rank") - b.style.getPropertyValue("--rank"));
        const bars = rows.map(row => [row.firstChild.textContent, row.querySelector("i").offsetWidth]);
        const count = figure.querySelector(".race-count").textContent.replace(",", "");
        return [figure.dataset.state, Number(count), bars];
    """
    return driver.execute_script(script)


def wait_for(driver, state):
    deadline = time.monotonic() + 60
    while moment(driver)[0] != state:
        assert time.monotonic() < deadline, moment(driver)
        time.sleep(0.1)


def test_the_recorded_run_plays_pauses_and_ends_as_it_was_recorded(site, chromium):
    recorded = json.loads((ROOT / "docs" / "images" / "recorded.json").read_text(encoding="utf-8"))
    show(chromium, site, motion="no-preference")
    button = chromium.find_element("css selector", ".race button")
    chromium.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    wait_for(chromium, "playing")
    _, early, bars = moment(chromium)
    assert early < recorded["evaluations"][-1]
    assert len(bars) == 8
    assert all(width > 0 for _, width in bars)
    time.sleep(1)
    button.click()
    state, later, moved = moment(chromium)
    assert state == "paused"
    assert later > early
    assert moved != bars
    time.sleep(0.3)
    assert moment(chromium)[1] == later
    button.click()
    wait_for(chromium, "done")
    _, count, bars = moment(chromium)
    assert count == recorded["evaluations"][-1]
    last = dict(zip(recorded["names"], recorded["estimates"][-1], strict=True))
    assert [name for name, _ in bars] == sorted(last, key=last.get, reverse=True)[:8]
    assert [width / bars[0][1] for _, width in bars] == pytest.approx(
        [last[name] / last[bars[0][0]] for name, _ in bars], abs=0.02
    )


def test_the_recorded_run_does_not_play_by_itself_if_the_reader_prefers_reduced_motion(site, chromium):
    show(chromium, site, motion="reduce")
    button = chromium.find_element("css selector", ".race button")
    chromium.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    before = moment(chromium)
    time.sleep(1)
    assert moment(chromium) == before
    assert before[0] == "done"
    button.click()
    wait_for(chromium, "playing")
