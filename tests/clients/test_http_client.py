"""The HTTP client speaks the format of OpenAI-compatible endpoints, and says what went wrong."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

httpx = pytest.importorskip("httpx")

from topshap import ClientError, ParameterError  # noqa: E402
from topshap.clients import HTTPClient, OpenAIClient  # noqa: E402
from topshap.clients.http import seconds_to_wait  # noqa: E402

MESSAGES = [{"role": "user", "content": "Which river?"}]
PROMPT = "User: Which river?\n\nAssistant:"


def client_of(respond, **options):
    return HTTPClient("http://server/v1/", "small", transport=httpx.MockTransport(respond), **options)


def echo(request):
    """Answer as an endpoint that splits the text into pieces of three characters."""
    body = json.loads(request.content)
    text = body["prompt"]
    assert (body["echo"], body["max_tokens"], body["model"]) == (True, 0, "small")
    starts = list(range(0, len(text), 3))
    log_probs = {
        "tokens": [text[start : start + 3] for start in starts],
        "token_logprobs": [None, *(-0.5 * start for start in starts[1:])],
        "text_offset": starts,
    }
    usage = {"prompt_tokens": len(starts), "completion_tokens": 0}
    return httpx.Response(200, json={"choices": [{"text": text, "logprobs": log_probs}], "usage": usage})


def test_a_completion_has_text_and_usage():
    seen = []

    def respond(request):
        seen.append((request.url.path, json.loads(request.content), request.headers.get("authorization")))
        choice = {"message": {"content": "The Danube."}, "finish_reason": "stop"}
        return httpx.Response(200, json={"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})

    client = client_of(respond, api_key="secret")
    for completion in (
        client.complete(MESSAGES, temperature=0),
        asyncio.run(client.acomplete(MESSAGES, temperature=0)),
    ):
        assert (completion.text, completion.finish_reason) == ("The Danube.", "stop")
        assert (completion.usage.requests, completion.usage.prompt_tokens, completion.usage.tokens) == (1, 7, 10)
    body = {"model": "small", "messages": MESSAGES, "temperature": 0}
    assert seen == 2 * [("/v1/chat/completions", body, "Bearer secret")]


def test_calls_of_tools_are_the_text_of_an_answer_without_text():
    calls = [{"function": {"name": "weather", "arguments": '{"city": "Vienna"}'}}]
    answer = {"choices": [{"message": {"content": None, "tool_calls": calls}}]}
    client = client_of(lambda _: httpx.Response(200, json=answer))
    assert client.complete(MESSAGES).text == 'weather({"city": "Vienna"})'


def test_the_tokens_of_an_echoed_answer_are_those_after_the_prompt():
    scored = client_of(echo).score(MESSAGES, " The Danube.")
    text = PROMPT + " The Danube."
    first = len(PROMPT) // 3 * 3  # this token belongs to both
    expected = [text[start : start + 3] for start in range(first, len(text), 3)]
    assert list(scored.tokens) == expected
    assert scored.offsets[0] == 0
    assert [" The Danube."[offset : offset + 1] for offset in scored.offsets[1:]] == [t[:1] for t in expected[1:]]
    assert scored.logprobs == tuple(-0.5 * start for start in range(first, len(text), 3))
    assert scored == asyncio.run(client_of(echo).ascore(MESSAGES, " The Danube."))


def test_vllm_returns_log_probs_of_the_prompt():
    def respond(request):
        body = json.loads(request.content)
        assert body["messages"][-1] == {"role": "assistant", "content": "The Danube."}
        assert (body["prompt_logprobs"], body["continue_final_message"]) == (0, True)
        tokens = ["<user>", "Which river?", "<assistant>", "The", " Danube", "."]
        entries = [None] + [{str(i): {"logprob": -i, "decoded_token": t}} for i, t in enumerate(tokens) if i > 0]
        return httpx.Response(200, json={"choices": [{"message": {"content": "x"}}], "prompt_logprobs": entries})

    scored = client_of(respond, scoring="prompt_logprobs").score(MESSAGES, "The Danube.")
    assert (scored.tokens, scored.logprobs, scored.offsets) == (("The", " Danube", "."), (-3.0, -4.0, -5.0), (0, 3, 10))


def test_an_endpoint_without_log_probs_is_an_error_that_says_so():
    client = client_of(lambda _: httpx.Response(200, json={"choices": [{"text": "x", "logprobs": None}]}))
    with pytest.raises(ClientError, match="may not support 'echo' with 'logprobs'") as error:
        client.score(MESSAGES, "Yes.")
    assert not error.value.transient


@pytest.mark.parametrize(
    ("respond", "transient", "charged", "says"),
    [
        (lambda _: httpx.Response(400, text="no such model"), None, False, "status 400: no such model"),
        (lambda _: httpx.Response(200, text='{"choices": ['), True, True, "incomplete or invalid JSON"),
        (lambda _: httpx.Response(200, json={"error": "odd"}), True, True, "without choices"),
    ],
)
def test_errors_say_what_happened(respond, transient, charged, says):
    with pytest.raises(ClientError, match=says) as error:
        client_of(respond).complete(MESSAGES)
    assert error.value.may_be_charged == charged
    if transient is not None:
        assert error.value.transient == transient


def test_a_lost_connection_is_transient_and_may_be_charged_once_it_was_open():
    def fail(error):
        def respond(request):
            raise error("gone", request=request)

        with pytest.raises(ClientError, match="did not answer") as raised:
            client_of(respond).complete(MESSAGES)
        return raised.value.transient, raised.value.may_be_charged

    assert fail(httpx.ReadError) == (True, True)
    assert fail(httpx.ConnectError) == (True, False)


def test_the_time_to_wait_is_a_number_or_a_date():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < seconds_to_wait({"retry-after": later}) <= 30
    assert seconds_to_wait({"retry-after": "soon"}) is None


def test_the_fingerprint_has_the_model_but_neither_address_nor_key():
    first = HTTPClient("http://one/v1", "small", api_key="secret")
    assert first.fingerprint == HTTPClient("http://two/v1", "small", api_key="other").fingerprint
    assert first.fingerprint != HTTPClient("http://one/v1", "large").fingerprint
    assert "secret" not in repr(first)


def test_wrong_options_are_refused():
    with pytest.raises(ParameterError, match="'base_url' parameter of HTTPClient"):
        HTTPClient("localhost:8000", "small")
    with pytest.raises(ParameterError, match="'scoring' parameter of HTTPClient must be 'echo' or 'prompt_logprobs'"):
        HTTPClient("http://server/v1", "small", scoring="log")


def test_embeddings_come_in_the_order_of_the_texts():
    data = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    client = client_of(lambda _: httpx.Response(200, json={"data": data}))
    assert client.embed(["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]] == asyncio.run(client.aembed(["a", "b"]))


def openai_client(kind, http_client, **options):
    openai = pytest.importorskip("openai")
    instance = getattr(openai, kind)(
        api_key="none", base_url="http://server/v1", max_retries=0, http_client=http_client
    )
    return OpenAIClient(instance, "small", **options)


def test_instances_of_openai_are_clients():
    plain = openai_client("OpenAI", httpx.Client(transport=httpx.MockTransport(echo)))
    assert plain.score(MESSAGES, " The Danube.") == client_of(echo).score(MESSAGES, " The Danube.")

    async def awaited():
        async with httpx.AsyncClient(transport=httpx.MockTransport(echo)) as http_client:
            client = openai_client("AsyncOpenAI", http_client)
            assert client.is_async
            return await client.ascore(MESSAGES, " The Danube.")

    assert asyncio.run(awaited()) == plain.score(MESSAGES, " The Danube.")


def test_fields_of_vllm_reach_it_through_openai():
    def respond(request):
        assert json.loads(request.content)["prompt_logprobs"] == 0
        entries = [None, {"5": {"logprob": -2.0, "decoded_token": "Yes."}}]
        content = {
            "id": "1", "object": "chat.completion", "created": 0, "model": "small", "prompt_logprobs": entries,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}],
        }  # fmt: skip
        return httpx.Response(200, json=content)

    http_client = httpx.Client(transport=httpx.MockTransport(respond))
    client = openai_client("OpenAI", http_client, scoring="prompt_logprobs")
    assert client.score(MESSAGES, "Yes.").logprobs == (-2.0,)
