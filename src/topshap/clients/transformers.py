"""A local causal language model of Hugging Face transformers, with batched scoring and a cached prefix."""

from __future__ import annotations

import copy
import inspect
import threading
from typing import TYPE_CHECKING, Any

from topshap.clients.base import Completion, Message, TokenLogProbs
from topshap.clients.wire import plain_template
from topshap.core.extras import import_extra
from topshap.core.fingerprints import fingerprint_of
from topshap.core.usage import Usage
from topshap.core.validation import check_int, front_door

if TYPE_CHECKING:
    from collections.abc import Sequence


@front_door
class TransformersClient:
    """A client of a local causal language model of transformers. Needs the extra ``topshap[transformers]``.

    Prompts are scored in batches. The start that all prompts of a run have in common is computed once, and its keys
    and values are kept.

    Parameters
    ----------
    model
        A causal language model, such as ``AutoModelForCausalLM.from_pretrained(name)``, on any device.
    tokenizer
        Its tokenizer. Without a chat template, prompts are made by `topshap.clients.plain_template`.
    batch_size
        The number of prompts that are scored together.
    max_tokens
        The default limit of the length of an answer, in tokens.

    Attributes
    ----------
    cached_tokens : int
        The number of tokens whose keys and values are kept.

    Examples
    --------
    >>> from transformers import AutoModelForCausalLM, AutoTokenizer  # doctest: +SKIP
    >>> name = "Qwen/Qwen2.5-0.5B-Instruct"  # doctest: +SKIP
    >>> client = TransformersClient(
    ...     AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    ... )  # doctest: +SKIP
    >>> client.score([{"role": "user", "content": "Which river?"}], "The Danube.").total < 0.0  # doctest: +SKIP
    True
    """

    def __init__(self, model: Any, tokenizer: Any, *, batch_size: int = 8, max_tokens: int = 256) -> None:
        self._torch = import_extra("torch", extra="transformers", needed_by="TransformersClient")
        self._model, self._tokenizer = model.eval(), tokenizer
        self.batch_size = check_int("batch_size", batch_size, low=1)
        self.max_tokens = check_int("max_tokens", max_tokens, low=1)
        self.model = str(getattr(model.config, "_name_or_path", "") or type(model).__name__)
        self._lock = threading.Lock()
        self._prefix: list[int] | None = None
        self._cache: Any = None
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    @property
    def fingerprint(self) -> str | None:
        """The identifier of the model: its name and size, or its weights if it has no name."""
        named = getattr(self._model.config, "_name_or_path", "")
        size = int(self._model.num_parameters())
        weights = None if named else list(self._model.state_dict().values())
        return fingerprint_of("TransformersClient", name=named, size=size, weights=weights)

    @property
    def cached_tokens(self) -> int:
        """The number of tokens whose keys and values are kept."""
        return len(self._prefix or ())

    def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages.

        Of the parameters of OpenAI, `max_tokens`, `temperature`, `top_p` and `seed` are used; `temperature` is 0 by
        default.
        """
        torch = self._torch
        ids = self._prompt_ids(messages)
        temperature = float(params.get("temperature") or 0.0)
        sampling = {"do_sample": True, "temperature": temperature, "top_p": float(params.get("top_p") or 1.0)}
        with self._lock, torch.no_grad():
            if params.get("seed") is not None and temperature > 0.0:
                torch.manual_seed(int(params["seed"]))
            inputs = torch.tensor([ids], device=self._model.device)
            out = self._model.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                max_new_tokens=int(params.get("max_tokens") or self.max_tokens),
                pad_token_id=self._padding,
                **(sampling if temperature > 0.0 else {"do_sample": False}),
            )
        new = out[0, len(ids) :].tolist()
        text = self._tokenizer.decode(new, skip_special_tokens=True)
        return Completion(text, Usage(1, len(ids), len(new)), "stop")

    def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of an answer."""
        return self.score_batch([messages], answer)[0]

    def score_batch(self, prompts: Sequence[list[Message]], answer: str) -> list[TokenLogProbs]:
        """Return the log probabilities of the tokens of an answer for several prompts, in one pass."""
        answer_ids, offsets = self._answer_ids(answer)
        ids = [self._prompt_ids(messages) for messages in prompts]
        with self._lock, self._torch.no_grad():
            log_probs = self._log_probs(ids, answer_ids)
        tokens = tuple(answer[start:stop] for start, stop in offsets)
        starts = tuple(start for start, _ in offsets)
        usages = [Usage(1, len(prompt) + len(answer_ids)) for prompt in ids]
        return [TokenLogProbs(tokens, tuple(row), starts, usage) for row, usage in zip(log_probs, usages, strict=True)]

    @property
    def _padding(self) -> int:
        padding = self._tokenizer.pad_token_id
        return int(padding if padding is not None else self._tokenizer.eos_token_id or 0)

    def _prompt_ids(self, messages: list[Message]) -> list[int]:
        if getattr(self._tokenizer, "chat_template", None):
            text = self._tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        return list(self._tokenizer(plain_template(messages))["input_ids"])

    def _answer_ids(self, answer: str) -> tuple[list[int], list[tuple[int, int]]]:
        found = self._tokenizer(answer, add_special_tokens=False, return_offsets_mapping=True)
        return list(found["input_ids"]), [(int(a), int(b)) for a, b in found["offset_mapping"]]

    def _log_probs(self, prompts: list[list[int]], answer: list[int]) -> list[list[float]]:
        """Return the log probability of each token of the answer after each prompt.

        The rest of each prompt after the common start is padded on the left, so that all answers end together.
        """
        torch, device = self._torch, self._model.device
        start = self._keep_common_start(prompts)
        rests = [prompt[start:] + answer for prompt in prompts]
        width = max(map(len, rests))
        padded = [[self._padding] * (width - len(rest)) + rest for rest in rests]
        there = torch.tensor([[0] * (width - len(rest)) + [1] * len(rest) for rest in rests], device=device)
        prefix = torch.ones((len(rests), start), dtype=there.dtype, device=device)
        options: dict[str, Any] = {}
        if start > 0:
            cache = copy.deepcopy(self._cache)
            cache.batch_repeat_interleave(len(rests))
            options["past_key_values"] = cache
        if self._keeps_logits:
            options["logits_to_keep"] = len(answer) + 1
        logits = self._model(
            input_ids=torch.tensor(padded, device=device),
            attention_mask=torch.cat([prefix, there], dim=1),
            position_ids=(start + there.cumsum(dim=1) - 1).clamp(min=0),
            **options,
        ).logits
        of_answer = torch.log_softmax(logits[:, -len(answer) - 1 : -1].float(), dim=-1)
        chosen = torch.tensor(answer, device=device).expand(len(rests), -1)
        found: list[list[float]] = of_answer.gather(2, chosen[:, :, None])[:, :, 0].double().tolist()
        return found

    def _keep_common_start(self, prompts: list[list[int]]) -> int:
        """Compute the keys and values of the start that all prompts so far have in common; return its length.

        The last token of a prompt is never part of it, since it predicts the first token of the answer.
        """
        shortest = min(map(len, prompts)) - 1
        common = prompts[0][:shortest] if self._prefix is None else self._prefix[:shortest]
        for prompt in prompts:
            same = next((i for i, (a, b) in enumerate(zip(common, prompt, strict=False)) if a != b), len(common))
            common = common[:same]
        if self._prefix is None and common:
            inputs = self._torch.tensor([common], device=self._model.device)
            self._cache = self._model(input_ids=inputs, use_cache=True).past_key_values
        elif self._prefix is not None and 0 < len(common) < len(self._prefix):
            self._cache.crop(len(common) - len(self._prefix))  # negative: the number of tokens to remove
        self._prefix = common
        return len(common)
