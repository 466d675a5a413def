"""The command-line options that all commands with a race share."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, fields
from functools import partial, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from topshap.cli.output import ResultWriter
from topshap.core.options import OPTION_DEFAULTS, CheckedOptions
from topshap.core.stopping import Guarantee
from topshap.entrypoints import RunOptions
from topshap.show.progress import Progress
from topshap.statistics.ranking import RANK_BY, RankBy, comparison

if TYPE_CHECKING:
    from collections.abc import Callable

    _Command = TypeVar("_Command", bound=Callable[..., None])

_race = partial(typer.Option, rich_help_panel="Race")
_output = partial(typer.Option, rich_help_panel="Output")


def _how_many(text: str) -> Any:
    """Return the k of a command line as an int, or as text, which the race accepts or refuses."""
    try:
        return int(text)
    except ValueError:
        return text


K = partial(typer.Option, "-k", parser=_how_many, metavar="INTEGER|clear")
"""The option -k, with a help text."""
_FIRST = ", ".join(f"{comparison(rank_by)} ({rank_by})" for rank_by in RANK_BY)


@dataclass(frozen=True, kw_only=True)
class RaceArguments:
    """The options of a race and of its output, as given on the command line.

    To add an option to all commands, add a field here. `topshap.core.options.RaceOptions` describes the options in
    detail.
    """

    budget: Annotated[
        int | None,
        _race(help="The maximum number of evaluations; by default 50 per player, or no limit with --epsilon."),
    ] = CheckedOptions.budget
    epsilon: Annotated[
        float | None,
        _race(help="Stop when no player outside the top k is better by more than this, in units of the value."),
    ] = CheckedOptions.epsilon
    delta: Annotated[float, _race(help="The allowed probability of an error larger than --epsilon.")] = (
        CheckedOptions.delta
    )
    guarantee: Annotated[Guarantee | None, _race(help="The assumption behind that probability.")] = (
        CheckedOptions.guarantee
    )
    value_range: Annotated[tuple[float, float] | None, _race(help="The lowest and the highest possible value.")] = (
        CheckedOptions.value_range
    )
    algorithm: Annotated[str, _race(help="The algorithm; see the page 'Which algorithm?'.")] = CheckedOptions.algorithm
    order: Annotated[int, _race(min=1, max=2, help="Rank players (1) or pairs of players (2).")] = CheckedOptions.order
    rank_by: Annotated[
        RankBy | None,
        _race(help=f"The order, best first: {_FIRST}. By default value for players, magnitude for pairs."),
    ] = CheckedOptions.rank_by
    ordered: Annotated[
        bool, _race("--ordered", help="With --epsilon, stop when the order of the top k is clear as well.")
    ] = CheckedOptions.ordered
    seed: Annotated[int, _race(help="The random seed. The same seed gives the same result.")] = 0
    jobs: Annotated[
        int | None, _race(help="The number of parallel evaluations, 1 by default. The result does not depend on it.")
    ] = None
    store: Annotated[
        Path | None,
        _race(help="Keep every evaluation in this file; the same command then resumes after an interruption."),
    ] = None
    report: Annotated[Path | None, _output(help="Write a report to this .html file.")] = None
    as_json: Annotated[
        bool,
        _output("--json", help="Print the result as JSON, for topshap show. All other text goes to standard error."),
    ] = False
    progress: Annotated[
        bool | None,
        _output(help="Show progress; by default a live leaderboard if standard error is a terminal."),
    ] = None

    def options(self) -> RunOptions:
        """Return the options for `topshap.identify` and the other entry points."""
        options: Any = {name: value for name, value in vars(self).items() if name in OPTION_DEFAULTS}
        run: RunOptions = {
            "random_state": self.seed,
            "n_jobs": self.jobs,
            "store": self.store,
            "progress": self._progress(),
        }
        return {**options, **run}

    def writer(self) -> ResultWriter:
        """Return the writer for the result."""
        return ResultWriter(as_json=self.as_json, report=self.report, store=self.store)

    def _progress(self) -> Progress:
        live = sys.stderr.isatty() and find_spec("rich") is not None
        return "live" if live and self.progress is not False else self.progress is True


def takes_race_arguments(**defaults: Any) -> Callable[[_Command], _Command]:
    """Add the options of `RaceArguments` to a command, which receives them as its argument `race`.

    Parameters
    ----------
    **defaults
        Defaults of this command that differ from those of `RaceArguments`.
    """

    def with_race_arguments(command: _Command) -> _Command:
        hints = get_type_hints(RaceArguments, include_extras=True)
        shared = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(field.name, field.default),
                annotation=hints[field.name],
            )
            for field in fields(RaceArguments)
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            race = RaceArguments(**{parameter.name: given.pop(parameter.name) for parameter in shared})
            command(race=race, **given)

        signature = inspect.signature(command, eval_str=True)
        own = [parameter for name, parameter in signature.parameters.items() if name != "race"]
        run.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return with_race_arguments
