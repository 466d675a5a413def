"""The time of `topshap.attribute` against a server with a latency, by the number of requests at the same time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import topshap
from topshap_bench.prompts.launch import served
from topshap_bench.prompts.openai_api import MODEL
from topshap_bench.prompts.planted import copied
from topshap_bench.summary import as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Sequence


def compare_concurrency(
    *, concurrency: Sequence[int] = (1, 8), latency: float = 0.2, evaluations: int = 128, distractors: int = 12
) -> str:
    """Attribute the same answer with each number of requests at the same time, and return the report.

    Parameters
    ----------
    concurrency
        The numbers of requests at the same time.
    latency
        The seconds that the server takes for each.
    evaluations, distractors
        The number of evaluations, and of documents besides the planted ones.
    """
    prompt = copied(distractors)
    rows, first = [], 0.0
    with served(latency=latency, lifetime=300.0) as server:
        client = topshap.clients.HTTPClient(server.base_url, MODEL)
        for number in concurrency:
            start = time.perf_counter()
            found = topshap.attribute(
                client,
                prompt.question,
                documents=list(prompt.documents),
                answer=prompt.answer.strip(),
                k=len(prompt.planted),
                budget=evaluations,
                concurrency=number,
                random_state=0,
            )
            seconds = time.perf_counter() - start
            first = first or seconds
            right = "yes" if set(found.players.tolist()) == prompt.planted else "no"
            rows.append([number, f"{seconds:.2f}", f"{first / seconds:.2f}", found.usage.requests, right])
    head = f"topshap.attribute with {evaluations} evaluations, {1000.0 * latency:g} ms per request"
    table = as_text(["concurrency", "seconds", "times as fast", "requests", "right"], rows)
    return f"{circumstances()}\n\n{head}\n\n{table}"
