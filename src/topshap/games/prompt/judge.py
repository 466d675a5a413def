"""Judge: a grade that a language model gives to a new answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from topshap.core.errors import ClientError
from topshap.core.validation import check_positive, front_door, refuse
from topshap.games.prompt.scores import GeneratedScore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topshap.clients.base import AsyncClient, Completion

GRADING_PROMPT = (
    "Compare a candidate answer with a reference answer. Grade from 0 to 10 how much of what the reference states is "
    "also stated by the candidate: 10 if they agree in everything, 0 if they have nothing in common. "
    "Reply with the number only.\n\nReference answer:\n{reference}\n\nCandidate answer:\n{candidate}"
)
"""The default prompt of `Judge`."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@front_door
@dataclass(frozen=True)
class Judge(GeneratedScore):
    """The grade that a language model gives to a new answer, divided by the best grade.

    Every evaluation makes two requests: one for a new answer, and one for its grade.

    Parameters
    ----------
    prompt
        The grading prompt, a text with ``{candidate}`` for the new answer and optionally ``{reference}`` for the
        original one. The reply must contain a number.
    best
        The best grade.
    params
        Parameters of the grading requests; by default a temperature of 0.

    Examples
    --------
    >>> import topshap
    >>> def respond(messages):
    ...     text = messages[-1]["content"]
    ...     if "Candidate answer" in text:
    ...         return "10" if text.endswith("It rains.") else "2"
    ...     return "It rains." if "wet" in text else "No idea."
    >>> game = topshap.games.PromptGame(
    ...     topshap.clients.MockClient(respond),
    ...     "What about it?",
    ...     documents=["All is wet.", "All is well."],
    ...     answer="It rains.",
    ...     score=Judge(),
    ...     params={"temperature": 0, "seed": 0},
    ... )
    >>> topshap.identify(game, k=1).estimates
    array([0.8, 0. ])
    """

    prompt: str = GRADING_PROMPT
    best: float = 10.0
    params: Mapping[str, Any] | None = None
    label = "grade of the answer"
    calls: ClassVar[int] = 2
    """The number of requests of an evaluation."""

    def __post_init__(self) -> None:
        if "{candidate}" not in str(self.prompt):
            refuse("prompt", self.prompt, must_be="a str that contains '{candidate}'")
        check_positive("best", self.best)

    async def compare(self, completion: Completion, answer: str, client: AsyncClient) -> float:
        """Return the grade of a new answer."""
        # One after the other, so that a placeholder within an answer stays as it is.
        before, _, after = self.prompt.partition("{candidate}")
        before, after = (part.replace("{reference}", answer) for part in (before, after))
        messages = [{"role": "user", "content": before + completion.text + after}]
        params = {"temperature": 0} if self.params is None else dict(self.params)
        reply = await client.complete(messages, **params)
        number = _NUMBER.search(reply.text)
        if number is None:
            raise ClientError(f"The judge's reply contains no number: {reply.text[:200]!r}")
        return min(1.0, max(0.0, float(number.group()) / self.best))
