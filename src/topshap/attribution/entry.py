"""attribute and aattribute: which parts of a prompt an answer rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from topshap.attribution.driving import run_until_complete, warned
from topshap.attribution.settings import ALL_OPTIONS, GAME_DEFAULTS, RUN_DEFAULTS, RunSettings
from topshap.attribution.zoomed import check_levels, estimate, first_level, second_level
from topshap.core.options import lists_options, refuse_unknown
from topshap.core.validation import front_door

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap.attribution.result import Attribution
    from topshap.attribution.run import PromptRun
    from topshap.core.clear_gap import HowMany


@front_door
@lists_options(ALL_OPTIONS)
def attribute(
    client: Any,
    messages: str | Sequence[Mapping[str, Any]],
    *,
    documents: Any = None,
    answer: str | None = None,
    k: HowMany = 3,
    levels: Sequence[str] = ("document",),
    **options: Any,
) -> Attribution:
    """Find the k parts of a prompt that an answer of a language model rests on.

    The players are the documents, or other parts of the prompt. The value of a coalition is the score of the prompt
    with these parts only, by default the log probability of the answer.

    Ctrl-C returns the result so far, with ``stopped="interrupted"``.

    Parameters
    ----------
    client
        A client of `topshap.clients`, an instance of ``openai.OpenAI`` or ``openai.AsyncOpenAI`` together with `model`,
        or any object with the methods of `topshap.clients.Client` or `topshap.clients.AsyncClient`.
    messages
        The chat messages, or the text of a single message of the user. The text ``{documents}`` in a message is
        replaced by the documents; without it, they come before the text of the last message of the user.
    documents
        A list of documents: strings, dicts with a ``text``, or objects with ``page_content``, ``text`` or
        ``get_content()``; or a dict from names to texts.
    answer
        The answer to attribute. By default the model is asked once, with all parts.
    k
        The number of players to find.
    levels
        ``("document", "sentence")`` finds k documents first, and then k sentences within them, with all other documents
        in every prompt. Each level has half of `budget` and `max_cost`, and the second one also what the first has
        left. Without a `budget`, each level has its default. With a `store`, the second level has a file next to it.
    **options
        Further options by keyword:

        - ``tools``, ``examples``, ``players``, ``unit``, ``score``, ``spans``, ``groups``, ``always``,
          ``separator``, ``template``, ``params``, ``model``, ``deterministic``, ``fingerprint``: As in
          `topshap.games.PromptGame`.
        - ``prices``: The prices of a million tokens, a pair (prompt, completion), or a dict from models to pairs.
          By default the cost is not known; with `max_cost`, the table of litellm is used if it is installed.
        - ``max_cost``: The most that may be spent, in the currency of the prices. A run ends like one whose budget
          is spent, before the evaluation that would exceed it if it cost as much as the most expensive request so
          far. So it is exceeded by at most the requests in flight. What earlier runs with the same store have spent
          counts.
        - ``concurrency``: The largest number of requests in flight. It is halved when the endpoint refuses requests
          (429), and then grows slowly.
        - ``requests_per_minute``, ``tokens_per_minute``: The rate limits of the endpoint, None if they are not
          known. Refusals are retried in any case, after the time that the endpoint asks for.
        - ``retries``: The number of retries of a request that failed: a timeout, a lost connection, an incomplete
          answer, a status of 500 or more.
        - ``timeout``: The time limit of a request in seconds.
        - ``store``: A file that keeps every value, the answer, and what was spent, as soon as they are known. After
          a crash, the same call continues where it stopped. It identifies the run by model, messages, documents,
          score and parameters.
        - ``progress``, ``callback``: As in `topshap.identify`. The progress bar shows tokens and cost.
        - ``dry_run``: Return a `CostEstimate` and make no request.
        - ``budget``: The number of evaluations; by default 4 per player, at least 32, at most all coalitions.
        - ``epsilon``, ``delta``, ``guarantee``, ``value_range``, ``stop``, ``algorithm``, ``order``, ``rank_by``,
          ``ordered``, ``counting``, ``player_names``, ``random_state``: The options of a race, see
          `topshap.RaceOptions`.

    Returns
    -------
    Attribution
        The top k, the answer, tokens and cost, and the results for any span of the answer. With ``dry_run=True`` a
        `CostEstimate`.

    Examples
    --------
    >>> import topshap
    >>> def log_prob(messages, answer):
    ...     return -10.0 + 8.0 * ("on the Danube" in messages[-1]["content"])
    >>> client = topshap.clients.MockClient(lambda messages: "On the Danube.", log_prob)
    >>> documents = ["Bananas grow in the tropics.", "Vienna lies on the Danube.", "Paris lies on the Seine."]
    >>> found = topshap.attribute(client, "Where is Vienna?", documents=documents, k=1, prices=(1.0, 4.0))
    >>> print(found)
    Answer: On the Danube.
    Top 1 of 3 players after 8 evaluations (exact: all coalitions are known)
       1  Vienna lies on the Danube.    8
      --
       2  Bananas grow in the tropics.  0
       3  Paris lies on the Seine.      0
    Certain: all coalitions are known. It took 8 evaluations of a budget of 8: 9 requests, 129 tokens, cost 0.000138.
    """
    run = _run_for(attribute, client, messages, documents=documents, answer=answer, k=k, options=options)
    zooms = check_levels(levels, options.get("unit"))
    if options.get("dry_run"):
        return estimate(run, zooms=zooms)  # type: ignore[return-value]  # documented
    if not zooms:
        return run_until_complete(run)
    found = replace(run_until_complete(first_level(run)), run=run)
    if found.top.stopped == "interrupted":
        return found
    inner, parents = second_level(found, run)
    return replace(found, inner=run_until_complete(inner), parents=parents)


@front_door
@lists_options(ALL_OPTIONS)
async def aattribute(
    client: Any,
    messages: str | Sequence[Mapping[str, Any]],
    *,
    documents: Any = None,
    answer: str | None = None,
    k: HowMany = 3,
    levels: Sequence[str] = ("document",),
    **options: Any,
) -> Attribution:
    """Find the k parts of a prompt that an answer of a language model rests on; `attribute` in an event loop.

    If its task is cancelled, it raises the CancelledError; all values of finished requests are in the `store`.

    Parameters
    ----------
    client, messages, documents, answer, k, levels, **options
        As in `attribute`.

    Returns
    -------
    Attribution
        As of `attribute`.

    Examples
    --------
    >>> import asyncio
    >>> import topshap
    >>> client = topshap.clients.MockClient(log_prob=lambda messages, answer: -5.0 + ("rain" in str(messages)))
    >>> documents = ["The rain falls.", "The sun sets."]
    >>> found = asyncio.run(topshap.aattribute(client, "Is it wet?", documents=documents, answer="Yes.", k=1))
    >>> found.names
    ('The rain falls.',)
    """
    run = _run_for(aattribute, client, messages, documents=documents, answer=answer, k=k, options=options)
    zooms = check_levels(levels, options.get("unit"))
    if options.get("dry_run"):
        return estimate(run, zooms=zooms)  # type: ignore[return-value]  # documented
    if not zooms:
        return warned(await run.play())
    found = replace(warned(await first_level(run).play()), run=run)
    inner, parents = second_level(found, run)
    return replace(found, inner=warned(await inner.play()), parents=parents)


def _run_for(
    door: Callable[..., Any],
    client: Any,
    messages: Any,
    *,
    documents: Any,
    answer: str | None,
    k: Any,
    options: dict[str, Any],
) -> PromptRun:
    """Return the run with its options divided into those of the game, of the run and of the race."""
    from topshap.attribution.run import PromptRun  # noqa: PLC0415 - it needs asyncio

    refuse_unknown(options, door)
    game = {name: value for name, value in options.items() if name in GAME_DEFAULTS}
    settings = RunSettings(**{name: value for name, value in options.items() if name in RUN_DEFAULTS})
    race = {name: value for name, value in options.items() if name not in GAME_DEFAULTS | RUN_DEFAULTS}
    game["documents"] = documents
    return PromptRun(client, messages, answer=answer, k=k, game_options=game, race_options=race, settings=settings)
