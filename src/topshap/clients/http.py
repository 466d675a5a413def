"""A client of any OpenAI-compatible endpoint, through httpx."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, get_args

from topshap.clients import wire
from topshap.clients.base import check_model
from topshap.core.errors import ClientError
from topshap.core.extras import import_extra
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import check_choice, check_positive, front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topshap.clients.base import Completion, Message, TokenLogProbs

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable with the default API key."""


@front_door
class HTTPClient:
    """A client of any OpenAI-compatible endpoint: OpenAI, vLLM, llama.cpp, ollama, LM Studio and others.

    It needs the extra ``topshap[prompts]``. The methods `complete` and `score` are synchronous, `acomplete` and
    `ascore` are not; `topshap.attribute` uses the latter. They make one request each: retries and rate limits are
    options of `topshap.attribute`.

    Parameters
    ----------
    base_url
        The address of the endpoint up to the version, such as ``"http://localhost:8000/v1"``.
    model
        The name of the model.
    api_key
        The API key; by default the environment variable ``OPENAI_API_KEY``, if it is set. It is not part of
        fingerprints, stores or messages.
    headers
        Further headers of all requests.
    timeout
        The time limit of a request in seconds.
    scoring
        How the endpoint returns the log probabilities of a given answer. ``"echo"``: ``/completions`` with ``echo`` and
        ``logprobs``. ``"prompt_logprobs"``: ``/chat/completions`` of vLLM with ``prompt_logprobs``, which uses the
        model's chat template.
    template
        With ``scoring="echo"``, a function from chat messages to the text of the prompt, such as the ``apply_chat_
        template`` of a tokenizer; by default `topshap.clients.plain_template`.
    transport
        A transport of httpx, such as ``httpx.MockTransport`` in tests.

    Examples
    --------
    >>> import httpx
    >>> def respond(request):
    ...     return httpx.Response(200, json={"choices": [{"message": {"content": "The Danube."}}]})
    >>> client = HTTPClient("http://localhost:8000/v1", "small", transport=httpx.MockTransport(respond))
    >>> client.complete([{"role": "user", "content": "Which river?"}]).text
    'The Danube.'
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 120.0,
        scoring: wire.Scoring = "echo",
        template: wire.Template = wire.plain_template,
        transport: Any = None,
    ) -> None:
        if not str(base_url).startswith(("http://", "https://")):
            refuse("base_url", base_url, must_be="an address that starts with http:// or https://")
        check_model(model)
        check_choice("scoring", scoring, get_args(wire.Scoring))
        if not callable(template):
            refuse("template", template, must_be="a function from chat messages to a prompt")
        self._httpx = import_extra("httpx", extra="prompts", needed_by="HTTPClient")
        self.base_url, self.model, self.scoring, self.template = base_url.rstrip("/"), model, scoring, template
        self.timeout = check_positive("timeout", timeout)
        self._headers = {**(headers or {})}
        key = os.environ.get(KEY_VARIABLE) if api_key is None else api_key
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._transport = transport
        self._sync: Any = None
        self._async: Any = None
        self._loop: Any = None

    @property
    def fingerprint(self) -> str | None:
        """The identifier of the model and of how it is asked; neither the address nor the API key is part of it."""
        if self.template is wire.plain_template:
            return fingerprint_of("HTTPClient", model=self.model, scoring=self.scoring)
        return fingerprint_of("HTTPClient", model=self.model, scoring=self.scoring, template=self.template)

    def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""
        return wire.read_completion(self._post("/chat/completions", wire.chat_body(self.model, messages, params)))

    def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of an answer."""
        path, body = self._scoring_request(messages, answer)
        return self._read_scores(self._post(path, body), messages, answer)

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return the embeddings of texts, for `topshap.games.Similarity`."""
        return wire.read_embeddings(self._post("/embeddings", {"model": self.model, "input": texts}))

    async def acomplete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages, asynchronously."""
        body = wire.chat_body(self.model, messages, params)
        return wire.read_completion(await self._apost("/chat/completions", body))

    async def ascore(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of an answer, asynchronously."""
        path, body = self._scoring_request(messages, answer)
        return self._read_scores(await self._apost(path, body), messages, answer)

    async def aembed(self, texts: list[str]) -> list[list[float]]:
        """Return the embeddings of texts, asynchronously."""
        return wire.read_embeddings(await self._apost("/embeddings", {"model": self.model, "input": texts}))

    def close(self) -> None:
        """Close the connections of the synchronous methods."""
        client, self._sync = self._sync, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the connections of the asynchronous methods."""
        client, self._async, self._loop = self._async, None, None
        if client is not None:
            await client.aclose()

    def _scoring_request(self, messages: list[Message], answer: str) -> tuple[str, dict[str, Any]]:
        if self.scoring == "echo":
            return "/completions", wire.echo_body(self.model, self.template(messages), answer)
        return "/chat/completions", wire.prompt_logprobs_body(self.model, messages, answer)

    def _read_scores(self, content: Any, messages: list[Message], answer: str) -> TokenLogProbs:
        if self.scoring == "echo":
            return wire.read_echo(content, self.template(messages), answer)
        return wire.read_prompt_logprobs(content, answer)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        if self._sync is None:
            self._sync = self._httpx.Client(headers=self._headers, timeout=self.timeout, transport=self._transport)
        try:
            response = self._sync.post(self.base_url + path, json=body)
        except self._httpx.HTTPError as error:
            raise self._lost(error) from error
        return read_response(response)

    async def _apost(self, path: str, body: dict[str, Any]) -> Any:
        import asyncio  # noqa: PLC0415 - so that importing topshap stays fast

        loop = asyncio.get_running_loop()
        if self._async is None or self._loop is not loop:  # connections belong to an event loop
            limits = self._httpx.Limits(max_connections=None, max_keepalive_connections=None)
            options = {"headers": self._headers, "timeout": self.timeout, "limits": limits}
            self._async, self._loop = self._httpx.AsyncClient(transport=self._transport, **options), loop
        try:
            response = await self._async.post(self.base_url + path, json=body)
        except self._httpx.HTTPError as error:
            raise self._lost(error) from error
        return read_response(response)

    def _lost(self, error: Exception) -> ClientError:
        """Return the error for a request without a response; it is not charged if there was no connection."""
        charged = not isinstance(error, self._httpx.ConnectError | self._httpx.ConnectTimeout)
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return ClientError(f"{self.base_url} did not answer ({what})", transient=True, may_be_charged=charged)

    def __repr__(self) -> str:
        return f"HTTPClient({self.base_url!r}, {self.model!r})"


def read_response(response: Any) -> Any:
    """Return the JSON of a response; raise a `ClientError` if it has none or reports an error."""
    if response.status_code >= 400:
        wait = seconds_to_wait(response.headers)
        detail = " ".join(response.text.split())[:300]
        message = f"{response.url} answered with status {response.status_code}: {detail}"
        raise ClientError(message, status=response.status_code, retry_after=wait)
    try:
        return response.json()
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        message = f"{response.url} returned incomplete or invalid JSON"
        raise ClientError(message, transient=True, may_be_charged=True) from error


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the header ``Retry-After`` asks to wait, given as a number or as a date.

    Examples
    --------
    >>> seconds_to_wait({"retry-after": "1.5"}), seconds_to_wait({"retry-after-ms": "20"}), seconds_to_wait({})
    (1.5, 0.02, None)
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000.0)
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        pass
    try:
        from datetime import UTC, datetime  # noqa: PLC0415 - rarely needed
        from email.utils import parsedate_to_datetime  # noqa: PLC0415 - rarely needed

        date = parsedate_to_datetime(headers["retry-after"])
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
