"""The report on an answer: complete data, escaped texts, and nothing from the network."""

import json
import re

import pytest

import topshap
from topshap.clients import MockClient
from topshap.show.answer_report.content import AnswerContent

HOSTILE = "</script><b>Danube</b>"
DOCUMENTS = {
    "danube": f"Vienna lies on the {HOSTILE}. It is old.",
    "<i>bananas</i>": "Bananas are yellow.",
    "tram": "Tram D stops here. It is red.",
    "rule": "Answer briefly.",
}
ANSWER = f"The {HOSTILE}. Take tram D."


def log_prob(messages, answer):
    text = messages[-1]["content"]
    first, second = -4.0 + 3.0 * ("Vienna" in text), -4.0 + 2.0 * ("Tram D" in text)
    return [0.0, first, 0.0, second, 0.0]  # one number per word between spaces


@pytest.fixture
def found():
    client = MockClient(log_prob=log_prob)
    options = {"documents": DOCUMENTS, "always": ["rule"], "answer": ANSWER, "k": 1}
    return topshap.attribute(client, "Which river, and which tram?", **options)


def page_of(found, tmp_path, **options):
    found.to_html(tmp_path / "report.html", **options)
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def data_of(page):
    return json.loads(re.search(r'id="topshap-data">(.*?)</script>', page, re.DOTALL).group(1))


def test_every_sentence_has_its_own_result(found, tmp_path):
    page = page_of(found, tmp_path)
    data = data_of(page)
    assert data["answer"] == ANSWER
    assert data["players"] == ["danube", "<i>bananas</i>", "tram"]
    assert [result["top"] for result in data["results"]] == [[0], [0], [2]]
    assert [ANSWER[start:stop] for start, stop in data["spans"][1:]] == [f"The {HOSTILE}.", "Take tram D."]
    assert data["results"][1]["strength"] == [1.0, 0.0, 0.0]
    assert page.count('class="span"') == 2
    assert page.count("in every prompt") == 1


def test_texts_are_escaped_and_nothing_is_loaded(found, tmp_path):
    page = page_of(found, tmp_path, title=HOSTILE)
    assert HOSTILE not in page
    assert "<i>bananas" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page


def test_both_levels_are_in_the_report(found, tmp_path):
    assert "ts-element" in re.sub(r"<style>.*?</style>", "", page_of(found.zoom(), tmp_path), flags=re.DOTALL)


def test_other_scores_have_a_result_for_the_whole_answer_only(tmp_path):
    client = MockClient(lambda messages: "Yes. Sure." if "rain" in messages[-1]["content"] else "No.")
    found = topshap.attribute(
        client, "Is it wet?", documents=["The rain falls.", "The sun sets."], score=topshap.games.ExactMatch(), k=1
    )
    page = page_of(found, tmp_path)
    assert len(data_of(page)["results"]) == 1
    assert "Yes. Sure." in page


def test_overlapping_spans_are_written_once(found):
    content = AnswerContent("abcdef", found.top, ["x"], [0], [(0, 3), (2, 5), (4, 6)], found.sentences)
    assert list(content.segments()) == [("abc", 0), ("d", None), ("ef", 2)]
