"""The report on an answer in a real browser: run with ``make browser``, which keeps the screenshots."""

import pytest

import topshap
from topshap.clients import MockClient

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script>"
DOCUMENTS = {
    "danube": "Vienna lies on the Danube. " * 3,
    HOSTILE: "Bananas are yellow.",
    "tram": "Tram D stops here. It is red.",
    "a name that is long enough to be broken on a phone " * 3: "Unbroken" * 40,
}
ANSWER = "The Danube. Take tram D."


def log_prob(messages, answer):
    text = messages[-1]["content"]
    return [0.0, -4.0 + 3.0 * ("Danube" in text), 0.0, -4.0 + 2.0 * ("Tram D" in text), 0.0]


@pytest.fixture
def opened(chromium, window_of, tmp_path):
    """Return a function that writes the report on an answer and opens it."""

    def open_report(width=1000, *, dark=False, zoom=False):
        client = MockClient(log_prob=log_prob)
        found = topshap.attribute(client, "Which river, and which tram?", documents=DOCUMENTS, answer=ANSWER, k=1)
        (found.zoom() if zoom else found).to_html(tmp_path / "report.html", title=HOSTILE)
        return window_of(chromium, tmp_path / "report.html", width=width, dark=dark)

    return open_report


def lit(window, selector):
    """Return the strengths of elements by their first line of text."""
    script = "return [...document.querySelectorAll(arguments[0])].map(e => Number(e.style.getPropertyValue('--s')))"
    return window.run(script, selector)


def point_at(window, element):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(window.driver).move_to_element(element).perform()


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (390, True), (360, False), (1000, True)])
@pytest.mark.parametrize("zoom", [False, True])
def test_it_loads_without_errors_and_fits_the_window(opened, width, dark, zoom):
    window = opened(width, dark=dark, zoom=zoom)
    window.keep(f"answer-{'levels-' if zoom else ''}{width}{'-dark' if dark else ''}")
    assert window.driver.get_log("browser") == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert window.texts("h1") == [HOSTILE]
    assert HOSTILE in window.texts(".part-name")
    assert len(window.all(".part")) == 4


def test_pointing_at_a_sentence_lights_the_documents_behind_it(opened):
    window = opened()
    sentences = window.all(".span")
    assert [sentence.text for sentence in sentences] == ["The Danube.", "Take tram D."]
    point_at(window, sentences[0])
    assert lit(window, ".part") == [1, 0, 0, 0]
    assert "Sentence 1 rests on danube (3" in window.texts("#status")[0]
    point_at(window, sentences[1])
    assert lit(window, ".part") == [0, 0, 1, 0]
    assert window.texts(".part.in-top .part-name") == ["tram"]


def test_pointing_at_a_document_lights_the_sentences_that_rest_on_it(opened):
    window = opened()
    point_at(window, window.all(".part-name")[2])
    assert lit(window, ".span") == [0, 1]
    assert window.texts("#status") == ["tram is behind Sentence 2 (2)."]


def test_everything_works_by_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    window = opened()
    window.run("document.querySelector('.whole').focus()")
    window.press(Keys.TAB)  # the first sentence
    assert "Sentence 1 rests on danube" in window.texts("#status")[0]
    window.press(Keys.ENTER)
    assert window.all(".span")[0].get_attribute("aria-pressed") == "true"
    window.press(Keys.TAB, Keys.TAB)  # the second sentence, then the first part
    assert window.texts("#status") == ["danube is behind Sentence 1 (3)."]
    window.run("document.activeElement.blur()")
    assert "Sentence 1 rests on" in window.texts("#status")[0]  # still selected
    window.press(Keys.ESCAPE)
    assert "The whole answer rests on danube" in window.texts("#status")[0]


def test_nothing_is_requested(opened):
    window = opened()
    requests = [
        entry["message"] for entry in window.driver.get_log("performance") if "requestWillBeSent" in entry["message"]
    ]
    assert all("http" not in request.split('"url":"')[1][:5] for request in requests if '"url":"' in request)
