"""Answers in the format of OpenAI's API, and of vLLM's log probabilities of prompts, by a `LanguageModel`."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap_bench.prompts.language_model import tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topshap_bench.prompts.language_model import LanguageModel

MODEL = "copy-model"
DIMENSION = 64
"""The length of embeddings."""
Body = dict[str, Any]


class BadRequestError(Exception):
    """A request that the API refuses."""


def models() -> Body:
    """Answer ``/v1/models``."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "topshap-bench"}]}


def completions(model: LanguageModel, body: Mapping[str, Any]) -> Body:
    """Answer ``/v1/completions``: with ``echo`` and ``logprobs``, the log probabilities of the prompt as well.

    Examples
    --------
    >>> from topshap_bench.prompts.language_model import LanguageModel
    >>> request = {"prompt": "Ada sings.", "max_tokens": 0, "echo": True, "logprobs": 1}
    >>> answer = completions(LanguageModel(), request)
    >>> answer["choices"][0]["logprobs"]["tokens"], answer["usage"]["total_tokens"]
    (['Ada', ' sings', '.'], 3)
    """
    prompts = body.get("prompt", "")
    prompts = [prompts] if isinstance(prompts, str) else prompts
    if not prompts or not all(isinstance(prompt, str) for prompt in prompts):
        raise BadRequestError("'prompt' must be a string or a list of strings")
    made = [_generated(model, prompt, body) for prompt in prompts]
    both = zip(prompts, made, strict=True)
    choices = [_choice(model, prompt, text, body) | {"index": index} for index, (prompt, text) in enumerate(both)]
    return _answer("text_completion", choices, prompts, made)


def chat_completions(model: LanguageModel, body: Mapping[str, Any]) -> Body:
    r"""Answer ``/v1/chat/completions``: the sentence of the messages that shares most words with the last one.

    Examples
    --------
    >>> from topshap_bench.prompts.language_model import LanguageModel
    >>> messages = [{"role": "user", "content": "Ada keeps bees. Max sings.\nWhat does Max do?"}]
    >>> chat_completions(LanguageModel(), {"messages": messages})["choices"][0]["message"]["content"]
    'Max sings.'
    """
    messages = body.get("messages")
    if not messages or not all(isinstance(message, dict) and "role" in message for message in messages):
        raise BadRequestError("'messages' must be a list of messages with a role")
    prompt = chat_prompt(messages, go_on=bool(body.get("continue_final_message")))
    text = reply(messages, float(body.get("temperature") or 0.0), int(body.get("seed") or 0))
    text = "".join(token.text for token in tokenize(text)[: _max_tokens(body, 64)])
    choice: Body = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if body.get("logprobs"):
        tokens, log_probs = _scored(model, prompt, " " + text)
        choice["logprobs"] = {
            "content": [
                {"token": token, "logprob": value, "bytes": list(token.encode()), "top_logprobs": []}
                for token, value in zip(tokens, log_probs, strict=True)
            ]
        }
    answer = _answer("chat.completion", [choice], [prompt], [text])
    if body.get("prompt_logprobs") is not None:
        answer["prompt_logprobs"] = _prompt_log_probs(model, prompt)
    return answer


def embeddings(body: Mapping[str, Any]) -> Body:
    """Answer ``/v1/embeddings``: normalised counts of hashed words."""
    texts = body.get("input", "")
    texts = [texts] if isinstance(texts, str) else texts
    data = [{"object": "embedding", "index": i, "embedding": _embedding(text)} for i, text in enumerate(texts)]
    tokens = sum(len(tokenize(text)) for text in texts)
    return {"object": "list", "model": MODEL, "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def chat_prompt(messages: Sequence[Mapping[str, Any]], *, go_on: bool = False) -> str:
    """Return the text of chat messages that the model continues: a new message, or the last one."""
    lines = [f"{message['role']}: {message.get('content') or ''}" for message in messages]
    return "\n".join(lines if go_on else [*lines, "assistant:"])


def reply(messages: Sequence[Mapping[str, Any]], temperature: float = 0.0, seed: int = 0) -> str:
    """Return the sentence before the question that shares most words with it; at a temperature, one of the best three.

    The question is the last sentence of the last message.
    """
    text = "\n".join(str(message.get("content") or "") for message in messages)
    *sentences, question = re.findall(r"[^.?!\n]+[.?!]?", text) or [""]
    wanted = _words(question)
    ranked = sorted((s.strip() for s in sentences if s.strip()), key=lambda s: -len(wanted & _words(s)))
    ranked = [sentence for sentence in ranked if wanted & _words(sentence)]
    if not ranked:
        return "I do not know."
    rng = np.random.default_rng([seed, zlib.crc32(text.encode())])
    return ranked[int(rng.integers(min(3, len(ranked))))] if temperature > 0.0 else ranked[0]


def _generated(model: LanguageModel, prompt: str, body: Mapping[str, Any]) -> str:
    most, temperature = _max_tokens(body, 16), float(body.get("temperature") or 0.0)
    return model.generate(prompt, max_tokens=most, temperature=temperature, seed=int(body.get("seed") or 0))


def _choice(model: LanguageModel, prompt: str, text: str, body: Mapping[str, Any]) -> Body:
    echo, top = bool(body.get("echo")), body.get("logprobs")
    choice: Body = {"text": prompt + text if echo else text, "finish_reason": "length", "logprobs": None}
    if top is not None:
        tokens, log_probs = _scored(model, "", prompt + text) if echo else _scored(model, prompt, text)
        start = 0 if echo else len(prompt)
        values: list[float | None] = [*log_probs]
        if echo and values:
            values[0] = None  # nothing precedes the first token
        choice["logprobs"] = {
            "tokens": tokens,
            "token_logprobs": values,
            "top_logprobs": _top(tokens, values) if top else None,
            "text_offset": [start + sum(map(len, tokens[:position])) for position in range(len(tokens))],
        }
    if body.get("prompt_logprobs") is not None:
        choice["prompt_logprobs"] = _prompt_log_probs(model, prompt)
    return choice


def _top(tokens: list[str], values: list[float | None]) -> list[dict[str, float] | None]:
    return [None if value is None else {token: value} for token, value in zip(tokens, values, strict=True)]


def _prompt_log_probs(model: LanguageModel, prompt: str) -> list[Body | None]:
    """Return the log probabilities of a prompt as vLLM does: a dict from token ids for each token but the first."""
    entries: list[Body | None] = [
        {str(zlib.crc32(token.encode())): {"logprob": value, "rank": 1, "decoded_token": token}}
        for token, value in zip(*_scored(model, "", prompt), strict=True)
    ]
    return [None, *entries[1:]] if entries else []


def _scored(model: LanguageModel, prompt: str, text: str) -> tuple[list[str], list[float]]:
    return [token.text for token in tokenize(text)], model.token_log_probs(prompt + text, len(prompt))


def _answer(kind: str, choices: list[Body], prompts: Sequence[str], made: Sequence[str]) -> Body:
    prompt_tokens, completion_tokens = (sum(len(tokenize(text)) for text in texts) for texts in (prompts, made))
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }
    return {"id": "answer", "object": kind, "created": 0, "model": MODEL, "choices": choices, "usage": usage}


def _max_tokens(body: Mapping[str, Any], default: int) -> int:
    most = body.get("max_tokens", body.get("max_completion_tokens"))
    return default if most is None else int(most)


def _embedding(text: str) -> list[float]:
    counts = np.bincount([zlib.crc32(word.encode()) % DIMENSION for word in _words(text)], minlength=DIMENSION)
    return (counts / max(1.0, float(np.linalg.norm(counts)))).tolist()


def _words(text: str) -> set[str]:
    """Return the words of a text that are longer than three letters or start with a capital or digit, in lower case."""
    return {word.lower() for word in re.findall(r"\w+", text) if len(word) > 3 or not word[0].islower()}
