"""``topshap prompt``: which parts of a prompt an answer rests on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

import topshap
from topshap.cli.arguments import K, RaceArguments, takes_race_arguments
from topshap.core.errors import ParameterError
from topshap.core.validation import did_you_mean

FIELDS = (
    "base_url",
    "model",
    "messages",
    "documents",
    "answer",
    "tools",
    "examples",
    "players",
    "unit",
    "spans",
    "groups",
    "always",
    "separator",
    "template",
    "params",
    "scoring",
    "score",
    "prices",
)
"""The fields of a request file."""
SCORES = {
    "log-prob": topshap.games.AnswerLogProb(),
    "log-prob-per-token": topshap.games.AnswerLogProb(per_token=True),
    "similarity": topshap.games.Similarity(),
    "judge": topshap.games.Judge(),
    "exact-match": topshap.games.ExactMatch(),
}
"""The scores by their names in a request file."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("prompt")(prompt)


@takes_race_arguments()
def prompt(
    request: Annotated[Path, typer.Argument(help="A JSON file with the request; see below.")],
    *,
    k: Annotated[Any, K(help="The number of parts to find; 'clear' for the first clear gap, with --epsilon.")] = 3,
    base_url: Annotated[
        str | None, typer.Option(help="The address of the endpoint, such as http://localhost:8000/v1.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The name of the model.")] = None,
    api_key_variable: Annotated[
        str, typer.Option(help="The environment variable with the API key.")
    ] = "OPENAI_API_KEY",
    max_cost: Annotated[
        float | None, typer.Option(help="The most that may be spent, in the currency of the prices.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="The largest number of requests in flight.")] = 8,
    requests_per_minute: Annotated[float | None, typer.Option(help="A rate limit of the endpoint.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(help="A rate limit of the endpoint.")] = None,
    retries: Annotated[int, typer.Option(help="The number of retries of a failed request.")] = 5,
    timeout: Annotated[float, typer.Option(help="The time limit of a request in seconds.")] = 120.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what the run may cost, and make no request.")
    ] = False,
    race: RaceArguments,
) -> None:
    """Find the k parts of a prompt that an answer of a language model rests on.

    The file has the fields "messages" and usually "documents", and optionally "answer", "base_url", "model", "tools",
    "examples", "players", "unit", "spans", "groups", "always", "separator", "template", "params", "scoring", "prices",
    as in topshap.attribute, and "score": log-prob, log-prob-per-token, similarity, judge or exact-match. Without an
    answer, the model is asked for it.

    For example:

    topshap prompt request.json -k 3 --dry-run

    topshap prompt request.json -k 3 --store run.db --max-cost 0.5 --report answer.html
    """
    content = _read(request)
    options: dict[str, Any] = dict(race.options())
    if options.pop("n_jobs") is not None:
        raise ParameterError("Use --concurrency for the number of requests in flight, not --jobs.")
    client = topshap.clients.HTTPClient(
        _needed(content, "base_url", base_url),
        _needed(content, "model", model),
        api_key=os.environ.get(api_key_variable, ""),
        timeout=timeout,
        scoring=content.pop("scoring", "echo"),
    )
    options |= {"max_cost": max_cost, "concurrency": concurrency, "retries": retries, "timeout": timeout}
    options |= {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
    messages = _needed(content, "messages", None)
    writer = race.writer()
    if dry_run:
        options |= {"progress": False, "store": None}
        typer.echo(str(topshap.attribute(client, messages, k=k, dry_run=True, **content, **options)))
        return
    found: Any = writer.run(lambda: topshap.attribute(client, messages, k=k, **content, **options))  # type: ignore[arg-type, return-value]
    writer.say(f"Answer: {found.answer}")
    top = found.top if found.spans is None else found.spans
    writer.write(top, title=f"What the answer rests on: {request.name}", game=found.answer)


def _read(path: Path) -> dict[str, Any]:
    """Return the fields of a request file, with the score as an object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise ParameterError(f"{str(path)!r} is not a JSON file: {error}") from error
    if not isinstance(content, dict):
        raise ParameterError(f"{str(path)!r} must contain a JSON object with the field 'messages'.")
    for name in content:
        if name not in FIELDS:
            raise ParameterError(f"{str(path)!r} has the unknown field {name!r}.{did_you_mean(name, FIELDS)}")
    if "score" in content:
        score = content["score"]
        if score not in SCORES:
            known = ", ".join(SCORES)
            raise ParameterError(f"The field 'score' of {str(path)!r} must be one of {known}. Got {score!r} instead.")
        content["score"] = SCORES[score]
    if isinstance(content.get("spans"), list):
        content["spans"] = [tuple(span) if isinstance(span, list) else span for span in content["spans"]]
    return content


def _needed(content: dict[str, Any], name: str, given: Any) -> Any:
    """Return a field of the file, or what the command line has instead."""
    in_file = content.pop(name, None)
    value = in_file if given is None else given
    if value is None:
        where = "" if name == "messages" else f", or the option --{name.replace('_', '-')}"
        raise ParameterError(f"The request file needs the field {name!r}{where}.")
    return value
