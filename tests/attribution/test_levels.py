"""Two levels: the documents behind an answer, then the sentences within them."""

import asyncio

import pytest

import topshap
from topshap import ParameterError
from topshap.clients import MockClient

DOCUMENTS = {
    "fruit": "Bananas are yellow. Apples are green.",
    "vienna": "Vienna is old. It lies on the Danube. It has trams.",
    "paris": "Paris lies on the Seine. It is large.",
    "alps": "The Alps are high. Snow falls there.",
}
ANSWER = "On the Danube."


def log_prob(messages, answer):
    text = messages[-1]["content"]
    return -10.0 + 6.0 * ("on the Danube" in text) + 1.0 * ("on the Seine" in text)


def mock():
    return MockClient(lambda messages: ANSWER, log_prob)


def attribute(client=None, **options):
    options = {"documents": DOCUMENTS, "k": 1, "random_state": 0, "levels": ("document", "sentence"), **options}
    return topshap.attribute(client or mock(), "Where is Vienna?", **options)


def test_the_sentences_of_the_documents_found_are_ranked_with_the_other_documents_in_every_prompt():
    client = mock()
    found = attribute(client)
    assert found.names == ("vienna",)
    assert found.inner.names == ("It lies on the Danube.",)
    assert found.inner.top.n_players == 3
    inner = [messages[-1]["content"] for messages in client.requests[-found.inner.top.evaluations :]]
    assert all(DOCUMENTS[name] in text for text in inner for name in ("fruit", "paris", "alps"))
    assert found.inner.top.grand == found.top.grand
    assert len(client.requests) == 1 + found.top.evaluations + found.inner.top.evaluations


def test_the_text_and_the_notebook_show_both_levels():
    found = attribute()
    lines = str(found).splitlines()
    assert lines[0] == f"Answer: {ANSWER}"
    assert lines[2].split()[:2] == ["1", "vienna"]
    assert lines[3].startswith("         1  It lies on the Danube.")
    assert "ts-element" in found._repr_html_()


def test_zoom_into_other_documents_and_in_an_event_loop():
    found = attribute(levels=("document",))
    assert found.inner is None
    assert found.zoom("paris").inner.names == ("Paris lies on the Seine.",)
    both = asyncio.run(found.azoom(["vienna", "paris"], k=2)).inner
    assert set(both.names) == {"It lies on the Danube.", "Paris lies on the Seine."}
    assert found.zoom().levels.inner.names == found.zoom().inner.names


def test_both_levels_share_budget_and_cost():
    client = mock()
    found = attribute(client, budget=20)
    assert found.top.evaluations + found.inner.top.evaluations <= 20
    full = attribute(prices=(1.0, 4.0))
    price = full.usage.cost + full.inner.usage.cost
    limited = attribute(prices=(1.0, 4.0), max_cost=0.7 * price, budget=1000, concurrency=1)
    assert limited.usage.cost + limited.inner.usage.cost <= 0.7 * price


def test_a_store_resumes_both_levels_without_a_request(tmp_path):
    first, second = mock(), mock()
    before = attribute(first, store=tmp_path / "run.db")
    after = attribute(second, store=tmp_path / "run.db")
    assert str(after.levels).splitlines()[:8] == str(before.levels).splitlines()[:8]
    assert second.requests == []


def test_a_dry_run_counts_both_levels():
    client = mock()
    one, two = (attribute(client, levels=levels, dry_run=True) for levels in (("document",), ("document", "sentence")))
    assert client.requests == []
    assert two.requests == one.requests + 2**3  # the document with the most sentences has three


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": ("sentence",)}, "'levels' parameter of attribute must be"),
        ({"unit": "sentence"}, "'unit' parameter of attribute must be 'document' with two levels"),
    ],
)
def test_wrong_levels_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        attribute(**options)


def test_sentences_and_documents_of_one_sentence_cannot_be_divided():
    with pytest.raises(ParameterError, match="which are sentences already"):
        attribute(levels=("document",), unit="sentence").zoom()
    with pytest.raises(ParameterError, match="players that consist of several sentences"):
        attribute(levels=("document",), documents={"a": "On the Danube.", "b": "No."}).zoom()


def test_plots_show_both_levels_or_one_span():
    pytest.importorskip("matplotlib").use("Agg")
    found = attribute()
    assert "It lies on the Danube." in [label.get_text() for label in found.plot().get_yticklabels()]
    marked = [text.get_text() for text in found.text_map(span="Danube").texts if text.get_bbox_patch()]
    assert "".join(marked).split() == DOCUMENTS["vienna"].split()
