"""The site in a real browser: run with ``make browser``, which keeps the screenshots in ``screenshots/``.

The site is built once, with the gallery, and with the results of a small race if none are published.
"""

import base64
import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from topshap_bench import race, synthetic

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
SCREENSHOTS = Path("screenshots")
PAGES = {
    "start": "",
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
    published = folder / "docs" / "benchmarks"
    if not list(published.glob("*.txt")):
        race.race(synthetic()[:2], published, algorithms=["cmcs", "kernelshap"], budgets=[30, 60], ks=[3], runs=2)
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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_makes_no_external_requests_and_fits_the_window(site, chromium, page, width):
    pixels = WIDTHS[width]
    size = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": pixels < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    requested(chromium)
    chromium.get_log("browser")
    chromium.get(site + PAGES[page])
    chromium.execute_script("for (const image of document.images) image.loading = 'eager'")
    chromium.execute_async_script("Promise.all([...document.images].map(i => i.decode())).then(arguments[0])")
    keep(chromium, f"site-{page}-{width}", pixels)
    assert chromium.get_log("browser") == []
    elsewhere = [url for url in requested(chromium) if not url.startswith((site, "data:", "blob:", "chrome:"))]
    assert elsewhere == []
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= pixels
    images = chromium.execute_script("return [...document.images].map(i => [i.naturalWidth, i.clientWidth, i.alt])")
    assert all(natural > 0 and shown <= pixels and alt for natural, shown, alt in images)
    assert (len(images) > 0) == (page in {"start", "gallery", "benchmarks"})
