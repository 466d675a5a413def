"""The server behaves like an OpenAI-compatible endpoint, and fails as it is told."""

import httpx
import pytest

from topshap.clients import HTTPClient
from topshap_bench.prompts.faults import FAULTS, Trouble
from topshap_bench.prompts.openai_api import MODEL

MESSAGES = [{"role": "user", "content": "Ada keeps the blue lamp. Max sings.\nWho keeps the lamp?"}]


def ask(server, path="/chat/completions", timeout=10.0, **body):
    body = {"model": MODEL, "messages": MESSAGES} | body
    return httpx.post(server.base_url + path, json=body, timeout=timeout, trust_env=False)


def test_models_are_listed(server):
    listed = httpx.get(server.base_url + "/models", trust_env=False).json()
    assert [model["id"] for model in listed["data"]] == [MODEL]


def test_echoed_tokens_are_the_prompt_with_offsets(server):
    prompt = "Ada keeps the blue lamp.\n\nAda keeps the"
    answer = ask(server, "/completions", prompt=prompt, max_tokens=2, echo=True, logprobs=1).json()
    found = answer["choices"][0]["logprobs"]
    assert "".join(found["tokens"]) == answer["choices"][0]["text"] == prompt + " blue lamp"
    assert found["token_logprobs"][0] is None
    text, places = prompt + " blue lamp", zip(found["tokens"], found["text_offset"], strict=True)
    assert all(text.startswith(token, at) for token, at in places)
    assert answer["usage"] == {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


@pytest.mark.parametrize("scoring", ["echo", "prompt_logprobs"])
def test_an_answer_is_likely_if_a_document_contains_it(server, scoring):
    client = HTTPClient(server.base_url, MODEL, scoring=scoring)
    with_it = client.score(MESSAGES, "Ada keeps the blue lamp.")
    without = client.score([{"role": "user", "content": "Max sings."}], "Ada keeps the blue lamp.")
    client.close()
    assert "".join(with_it.tokens).strip() == "Ada keeps the blue lamp."
    assert with_it.total > without.total + 20.0


def test_chat_answers_with_the_sentence_that_fits(server):
    assert ask(server).json()["choices"][0]["message"]["content"] == "Ada keeps the blue lamp."


def test_embeddings_of_equal_texts_are_equal(server):
    first, second, third = (
        each["embedding"] for each in ask(server, "/embeddings", input=["a lamp", "a lamp", "rain"]).json()["data"]
    )
    assert first == second != third


def test_bad_requests_are_refused(server):
    assert ask(server, messages=[]).status_code == 400
    assert ask(server, "/nothing").status_code == 400


def test_every_fault_and_its_count(server):
    for kind in FAULTS:
        server.start_anew(rate=1.0, kinds=[kind], most=1, hang=0.2, retry_after="7")
        if kind in ("429", "500"):
            response = ask(server)
            assert response.status_code == int(kind)
            assert response.headers.get("Retry-After") == ("7" if kind == "429" else None)
        elif kind == "truncated":
            with pytest.raises(ValueError, match=r"Unterminated|Expecting|delimiter"):
                ask(server).json()
        else:
            with pytest.raises(httpx.RemoteProtocolError):
                ask(server)
        assert server.stats()["answered"] == 0
        assert ask(server).status_code == 200
        stats = server.stats()
        assert (stats["requests"], stats["answered"], stats["faults"]) == (2, 1, {kind: 1})


def test_the_rate_limit_refuses_further_requests(server):
    server.start_anew(per_second=2)
    assert [ask(server).status_code for _ in range(3)] == [200, 200, 429]


def test_faults_do_not_depend_on_the_order_of_requests():
    trouble = Trouble(rate=0.5, seed=3)
    bodies = [bytes([number]) for number in range(200)]
    forwards = [trouble.fault(body, 0) for body in bodies]
    assert forwards == [trouble.fault(body, 0) for body in reversed(bodies)][::-1]
    assert 70 < sum(fault is not None for fault in forwards) < 130
