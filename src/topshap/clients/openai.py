"""Instances of openai.OpenAI and openai.AsyncOpenAI as clients."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, get_args

from topshap.clients import wire
from topshap.clients.base import check_model
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import check_choice, front_door

if TYPE_CHECKING:
    from topshap.clients.base import Completion, Message, TokenLogProbs

_OWN_FIELDS = ("prompt_logprobs", "add_generation_prompt", "continue_final_message")
"""Fields of vLLM, which openai takes as ``extra_body``."""


@front_door
class OpenAIClient:
    """A client around an instance of ``openai.OpenAI`` or ``openai.AsyncOpenAI``, or of a class with the same methods.

    `topshap.attribute` accepts such an instance as it is, together with `model`; use this class to choose how answers
    are scored. The instance's own retries come before those of `topshap.attribute`: create it with ``max_retries=0``.

    Parameters
    ----------
    client
        The instance.
    model
        The name of the model.
    scoring, template
        As in `topshap.clients.HTTPClient`.

    Examples
    --------
    >>> import openai
    >>> client = OpenAIClient(openai.OpenAI(api_key="none", max_retries=0), "small")
    >>> client.is_async
    False
    """

    def __init__(
        self,
        client: Any,
        model: str,
        *,
        scoring: wire.Scoring = "echo",
        template: wire.Template = wire.plain_template,
    ) -> None:
        check_model(model)
        check_choice("scoring", scoring, get_args(wire.Scoring))
        self.client, self.model, self.scoring, self.template = client, model, scoring, template
        self.is_async = any(kind.__name__.startswith("Async") for kind in type(client).__mro__)
        if self.is_async:
            self.acomplete, self.ascore = self._acomplete, self._ascore

    @property
    def fingerprint(self) -> str | None:
        """The identifier of the model and of how it is asked; the API key is not part of it."""
        template = None if self.template is wire.plain_template else self.template
        return fingerprint_of("OpenAIClient", model=self.model, scoring=self.scoring, template=template)

    def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""
        return wire.read_completion(_as_dict(self._chat(wire.chat_body(self.model, messages, params))))

    def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of an answer."""
        return self._read_scores(_as_dict(self._request_scores(messages, answer)), messages, answer)

    async def _acomplete(self, messages: list[Message], **params: Any) -> Completion:
        answer = self._chat(wire.chat_body(self.model, messages, params))
        return wire.read_completion(_as_dict(await answer if inspect.isawaitable(answer) else answer))

    async def _ascore(self, messages: list[Message], answer: str) -> TokenLogProbs:
        found = self._request_scores(messages, answer)
        content = _as_dict(await found if inspect.isawaitable(found) else found)
        return self._read_scores(content, messages, answer)

    def _chat(self, body: dict[str, Any]) -> Any:
        return self.client.chat.completions.create(**_with_extra_body(body))

    def _request_scores(self, messages: list[Message], answer: str) -> Any:
        if self.scoring == "echo":
            return self.client.completions.create(**wire.echo_body(self.model, self.template(messages), answer))
        return self._chat(wire.prompt_logprobs_body(self.model, messages, answer))

    def _read_scores(self, content: Any, messages: list[Message], answer: str) -> TokenLogProbs:
        if self.scoring == "echo":
            return wire.read_echo(content, self.template(messages), answer)
        return wire.read_prompt_logprobs(content, answer)


def _with_extra_body(body: dict[str, Any]) -> dict[str, Any]:
    extra = {name: body[name] for name in _OWN_FIELDS if name in body}
    own = {name: value for name, value in body.items() if name not in _OWN_FIELDS}
    return {**own, "extra_body": extra} if extra else own


def _as_dict(answer: Any) -> Any:
    """Return an answer of openai as the JSON it was made from."""
    return answer.model_dump() if hasattr(answer, "model_dump") else answer
