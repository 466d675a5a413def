"""Any client can be awaited, and what is not a client is refused."""

import asyncio
import sys
import threading
from types import SimpleNamespace

import pytest

from topshap import ParameterError, Usage
from topshap.clients import Completion, LiteLLMClient, MockClient, TokenLogProbs
from topshap.clients.adapters import as_async, as_client, is_async_client, run_now
from topshap.clients.prices import prices_of
from topshap.core.errors import ClientError

MESSAGES = [{"role": "user", "content": "Is it wet?"}]


class Blocking:
    model = "own"

    def complete(self, messages, **params):
        return Completion(threading.current_thread().name)

    def score(self, messages, answer):
        return TokenLogProbs((answer,), (-1.0,), (0,))


class Awaited:
    async def complete(self, messages, **params):
        return Completion("yes")

    async def score(self, messages, answer):
        return TokenLogProbs((answer,), (-1.0,), (0,))


def test_a_blocking_client_is_called_in_threads():
    async def ask():
        client = as_async(Blocking(), threads=2)
        try:
            return await client.complete(MESSAGES), await client.score(MESSAGES, "yes"), client.model
        finally:
            await client.aclose()

    completion, scored, model = asyncio.run(ask())
    assert completion.text.startswith("topshap-client")
    assert (scored.total, model) == (-1.0, "own")


def test_an_async_client_stays_as_it_is():
    client = Awaited()
    assert is_async_client(client)
    assert as_async(client) is client


def test_other_objects_are_refused():
    with pytest.raises(ParameterError, match="'client' parameter must be an instance of openai"):
        as_client(print)
    with pytest.raises(ParameterError, match="'model' parameter must be the model of the client, 'own'"):
        as_client(Blocking(), "other")


def test_a_synchronous_client_never_waits():
    async def waits():
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="has been awaited"):
        run_now(waits())


def test_a_mock_scores_words():
    client = MockClient(log_prob=lambda messages, answer: [-1.0, -2.0])
    scored = client.score(MESSAGES, "It rains.")
    assert (scored.tokens, scored.offsets, scored.total) == (("It", " rains."), (0, 2), -3.0)
    assert client.requests == [MESSAGES]
    with pytest.raises(ClientError, match="cannot complete"):
        client.complete(MESSAGES)


def test_log_probs_have_as_many_numbers_as_tokens():
    with pytest.raises(ClientError, match="2 tokens, 1 numbers and 2 offsets"):
        TokenLogProbs(("a", "b"), (-1.0,), (0, 1))


def test_prices_are_pairs(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)  # as if it were not installed
    assert prices_of("small", (1, 2)) == (1.0, 2.0)
    assert prices_of("small", None) is None
    with pytest.raises(ParameterError, match="'prices' parameter must be a pair"):
        prices_of("small", 3.0)
    with pytest.raises(ParameterError, match="contains the model 'small'"):
        prices_of("small", {"large": (1, 2)})
    with pytest.raises(ParameterError, match="given for 'max_cost'"):
        prices_of("small", None, needed=True)


def test_prices_of_litellm_are_used_if_they_are_needed(monkeypatch):
    table = {"small": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6}}
    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(model_cost=table))
    assert prices_of("small", None, needed=True) == pytest.approx((1.0, 4.0))
    with pytest.raises(ParameterError, match="litellm does not know the prices of 'large'"):
        prices_of("large", None, needed=True)


def test_litellm_completes_and_reports_its_cost(monkeypatch):
    content = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 4, "completion_tokens": 1}}
    seen = []

    def completion(**options):
        seen.append(options)
        return SimpleNamespace(model_dump=lambda: content, _hidden_params={"response_cost": 0.25})

    async def acompletion(**options):
        return completion(**options)

    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(completion=completion, acompletion=acompletion))
    client = LiteLLMClient("openai/small", api_key="secret")
    for found in (client.complete(MESSAGES, seed=1), asyncio.run(as_async(client).complete(MESSAGES, seed=1))):
        assert (found.text, found.usage) == ("yes", Usage(1, 4, 1, 0.25))
    assert seen[0] == {
        "model": "openai/small", "messages": MESSAGES, "num_retries": 0, "api_key": "secret", "seed": 1,
    }  # fmt: skip
    assert client.fingerprint == LiteLLMClient("openai/small").fingerprint
    with pytest.raises(ClientError, match="no log probabilities"):
        client.score(MESSAGES, "yes")
