"""How often the documents behind an answer are found, by topshap and by ContextCite's recipe.

The answer is copied from known documents among distractors, or rests on pairs of documents that are only useful
together. Both methods spend the same number of calls of a small language model, which is evaluated in this process. The
calls of topshap include those with all and with no documents. A run succeeds if it finds exactly the planted documents.

No constant of topshap was chosen on these prompts.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap_bench.parallel import run_all
from topshap_bench.prompts.context_cite import context_cite
from topshap_bench.prompts.language_model import LanguageModel, keys_of
from topshap_bench.prompts.planted import copied, in_pairs
from topshap_bench.summary import Share, as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap.core.typing import Coalitions, Players, Values
    from topshap_bench.prompts.planted import Prompt

KINDS: Mapping[str, Callable[..., Prompt]] = {"copied": copied, "pairs": in_pairs}
"""The kinds of prompts."""
DISTRACTORS, CALLS = (12, 30, 100), (16, 32, 64, 128)
GOAL = 0.95
"""The share of runs that must succeed."""
OURS, THEIRS = "topshap", "ContextCite"


class Setting(NamedTuple):
    """One prompt."""

    kind: str
    distractors: int
    run: int
    calls: tuple[int, ...]


class PromptGame:
    """The log probability of the answer of a prompt, by a language model in this process; values are kept."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt, self.n_players = prompt, len(prompt.documents)
        self._model, self._known = LanguageModel(), dict[bytes, float]()

    def __call__(self, coalitions: Coalitions) -> Values:
        """Return the log probability of the answer for every coalition."""
        return np.array([self._value(coalition) for coalition in coalitions])

    def _value(self, coalition: Coalitions) -> float:
        key = coalition.tobytes()
        if key not in self._known:
            self._known[key] = self._model.log_prob(self.prompt.text_of(coalition.tolist()), self.prompt.answer)
        return self._known[key]


def compare_prompts(
    *,
    kinds: Sequence[str] = tuple(KINDS),
    distractors: Sequence[int] = DISTRACTORS,
    calls: Sequence[int] = CALLS,
    runs: int = 100,
    n_jobs: int | None = None,
) -> str:
    """Run both methods on all prompts, and return the report.

    Parameters
    ----------
    kinds
        Names of `KINDS`.
    distractors, calls
        The numbers of other documents, and of calls.
    runs
        The number of prompts of each kind and number of distractors.
    n_jobs
        The number of workers.
    """
    settings = [Setting(*setting, tuple(calls)) for setting in product(kinds, distractors, range(runs))]
    results = run_all(run_setting, settings, n_jobs)
    return "\n\n".join([circumstances(), report(results)])


def run_setting(setting: Setting) -> dict[tuple[str, int], bool]:
    """Return for each method and number of calls whether it finds the planted documents."""
    prompt = KINDS[setting.kind](setting.distractors, seed=setting.run)
    game = PromptGame(prompt)
    k, tokens = len(prompt.planted), len(keys_of(prompt.answer))
    found: dict[tuple[str, int], bool] = {}
    for calls in setting.calls:
        masked = context_cite(game, game.n_players, k, calls=calls, tokens=tokens, seed=setting.run)
        found[THEIRS, calls] = _is_right(masked, prompt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            top = topshap.identify(game, k=k, budget=calls, random_state=setting.run)
        found[OURS, calls] = _is_right(top.players, prompt)
    return found


def _is_right(players: Players, prompt: Prompt) -> bool:
    return set(players.tolist()) == prompt.planted


def report(results: Mapping[Setting, Mapping[tuple[str, int], bool]]) -> str:
    """Return the shares of runs that found the planted documents, and the calls that each method needs."""
    calls = next(iter(results)).calls
    shares, needs = [], []
    for kind, distractors in dict.fromkeys((setting.kind, setting.distractors) for setting in results):
        runs = [found for setting, found in results.items() if setting[:2] == (kind, distractors)]
        counts = {key: Share(sum(found[key] for found in runs), len(runs)) for key in runs[0]}
        for method in (OURS, THEIRS):
            row = [counts[method, number] for number in calls]
            shares.append([kind, distractors, method, *(f"{share.events / share.runs:.2f}" for share in row)])
        needed = [needed_calls(counts, method, calls) for method in (OURS, THEIRS)]
        needs.append([kind, distractors, *(f"> {calls[-1]}" if number is None else number for number in needed)])
    legend = f"the share of {len(runs)} runs that found exactly the planted documents, by number of calls"
    goal = f"the smallest of these numbers of calls with a share of at least {GOAL}"
    head = ["prompts", "distractors", "method", *map(str, calls)]
    tables = as_text(head, shares, left=3), as_text(["prompts", "distractors", OURS, THEIRS], needs, left=2)
    return "\n\n".join([legend, tables[0], goal, tables[1]])


def needed_calls(counts: Mapping[tuple[str, int], Share], method: str, calls: Sequence[int]) -> int | None:
    """Return the smallest number of calls from which on a method reaches the goal, None if it never does."""
    needed = None
    for number in reversed(calls):
        share = counts[method, number]
        if share.events < GOAL * share.runs:
            break
        needed = number
    return needed
