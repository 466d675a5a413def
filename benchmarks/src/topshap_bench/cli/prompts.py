"""The command that measures prompts: planted documents, and requests at the same time."""

from __future__ import annotations

from typing import Annotated

import typer

from topshap_bench.cli.options import Jobs, given


def prompts(
    kind: Annotated[list[str] | None, typer.Option(help="copied or pairs, both by default; can be repeated.")] = None,
    distractors: Annotated[
        list[int] | None, typer.Option(min=1, help="A number of other documents: 12, 30, 100; can be repeated.")
    ] = None,
    calls: Annotated[
        list[int] | None, typer.Option(min=4, help="A number of calls: 16, 32, 64, 128; can be repeated.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Prompts of each kind and number of distractors.")] = 100,
    concurrency: Annotated[
        bool, typer.Option("--concurrency", help="Measure requests at the same time instead.")
    ] = False,
    jobs: Jobs = -1,
) -> None:
    """Count how often the documents behind an answer are found, next to ContextCite's recipe.

    With --concurrency, time topshap.attribute against a server that takes 200 ms per request.

    For example: topshap-bench prompts --kind pairs --distractors 30 --runs 20
    """
    if concurrency:
        from topshap_bench.prompts.concurrency import compare_concurrency

        typer.echo(compare_concurrency())
        return
    from topshap_bench.prompts.comparison import compare_prompts

    options = given(kinds=kind, distractors=distractors, calls=calls)
    typer.echo(compare_prompts(runs=runs, n_jobs=jobs, **options))


COMMANDS = (prompts,)
