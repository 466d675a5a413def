"""The format of OpenAI-compatible endpoints: bodies of requests, and what is read from responses.

Nothing here makes a request, so that all clients share it, sync and async.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from topshap.clients.base import Completion, Message, TokenLogProbs, tool_calls_as_text
from topshap.core.errors import ClientError
from topshap.core.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Scoring: TypeAlias = Literal["echo", "prompt_logprobs"]
"""How an endpoint returns the log probabilities of a given answer.

``"echo"``: ``/completions`` with ``echo`` and ``logprobs``. ``"prompt_logprobs"``: ``/chat/completions`` of vLLM, with
the answer as the last message.
"""
Template: TypeAlias = "Callable[[list[Message]], str]"
"""A function from chat messages to the text of a prompt."""


def plain_template(messages: list[Message]) -> str:
    r"""Return chat messages as the text of a prompt, for models without a chat template.

    Examples
    --------
    >>> plain_template([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which river?"}])
    'System: Be brief.\n\nUser: Which river?\n\nAssistant:'
    """
    lines = [f"{str(message['role']).capitalize()}: {message.get('content') or ''}" for message in messages]
    return "\n\n".join([*lines, "Assistant:"])


def chat_body(model: str, messages: list[Message], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a request for a completion of chat messages."""
    return {"model": model, "messages": messages, **params}


def echo_body(model: str, prompt: str, answer: str) -> dict[str, Any]:
    """Return the body of a request that echoes a prompt and an answer with their log probabilities."""
    return {"model": model, "prompt": prompt + answer, "max_tokens": 0, "echo": True, "logprobs": 1, "temperature": 0}


def prompt_logprobs_body(model: str, messages: list[Message], answer: str) -> dict[str, Any]:
    """Return the body of a chat request to vLLM that returns log probabilities of the prompt."""
    return {
        "model": model,
        "messages": [*messages, {"role": "assistant", "content": answer}],
        "max_tokens": 1,
        "temperature": 0,
        "prompt_logprobs": 0,
        "add_generation_prompt": False,
        "continue_final_message": True,
    }


def read_completion(content: Any) -> Completion:
    """Return the completion in a response.

    Examples
    --------
    >>> read_completion({"choices": [{"message": {"content": "Yes."}}], "usage": {"prompt_tokens": 3}}).text
    'Yes.'
    """
    choice = _first_choice(content)
    message = choice.get("message") or {}
    text = message.get("content") or tool_calls_as_text(message.get("tool_calls"))
    return Completion(str(text), read_usage(content), choice.get("finish_reason"))


def read_echo(content: Any, prompt: str, answer: str) -> TokenLogProbs:
    """Return the log probabilities of the tokens of an answer that was echoed after a prompt.

    A token that belongs to the prompt and to the answer counts as one of the answer.
    """
    logprobs = _first_choice(content).get("logprobs") or {}
    tokens, numbers = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(numbers, list) or len(tokens) != len(numbers):
        raise ClientError(
            "The endpoint did not return log probabilities of the prompt: it may not support 'echo' with 'logprobs'. "
            "Use another endpoint, or a score of new answers such as Similarity()."
        )
    starts = logprobs.get("text_offset")
    if not isinstance(starts, list) or len(starts) != len(tokens):
        starts = [0, *accumulate(map(len, tokens))][:-1]
    start, stop = len(prompt), len(prompt) + len(answer)
    kept = [
        (str(token), number, max(0, first - start))
        for token, number, first in zip(tokens, numbers, starts, strict=True)
        if first + len(str(token)) > start and first < stop
    ]
    return _token_log_probs(kept, read_usage(content))


def read_prompt_logprobs(content: Any, answer: str) -> TokenLogProbs:
    """Return the log probabilities of the tokens of an answer that was the end of vLLM's prompt."""
    entries = content.get("prompt_logprobs") or _first_choice(content).get("prompt_logprobs")
    if not isinstance(entries, list):
        raise ClientError("The endpoint did not return 'prompt_logprobs'. Use scoring='echo', or an endpoint of vLLM.")
    kept: list[tuple[str, Any, int]] = []
    end = len(answer)
    for entry in reversed(entries):
        if end <= 0 or not entry:
            break
        chosen = next(iter(entry.values()))  # the token of the prompt comes first
        token = str(chosen.get("decoded_token") or "")
        if not kept and not answer.endswith(token):
            continue  # a token after the answer, such as the end of a turn
        kept.append((token, chosen.get("logprob"), max(0, end - len(token))))
        end -= len(token)
    return _token_log_probs(kept[::-1], read_usage(content))


def read_embeddings(content: Any) -> list[list[float]]:
    """Return the embeddings in a response, in the order of the texts."""
    data = content.get("data") if isinstance(content, dict) else None
    if not isinstance(data, list):
        raise ClientError("The endpoint did not return embeddings.")
    return [list(each["embedding"]) for each in sorted(data, key=lambda each: each.get("index", 0))]


def read_usage(content: Any) -> Usage:
    """Return the usage in a response; one request without tokens if it has none."""
    usage = (content.get("usage") if isinstance(content, dict) else None) or {}
    return Usage(1, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))


def _first_choice(content: Any) -> dict[str, Any]:
    try:
        choice = content["choices"][0]
    except (KeyError, IndexError, TypeError):
        choice = None
    if not isinstance(choice, dict):
        text = str(content)[:200]
        message = f"The endpoint returned an answer without choices: {text}"
        raise ClientError(message, transient=True, may_be_charged=True)
    return choice


def _token_log_probs(kept: list[tuple[str, Any, int]], usage: Usage) -> TokenLogProbs:
    if not kept or not all(isinstance(number, int | float) for _, number, _ in kept):
        raise ClientError("The endpoint did not return a log probability for every token of the answer.")
    tokens, numbers, offsets = zip(*kept, strict=True)
    return TokenLogProbs(tokens, tuple(map(float, numbers)), offsets, usage)
