"""Failure rates of odd-gp@k for every goal other than the set of the highest values, on a few kinds of games each.

The goals are sets by magnitude and of the lowest values, ordered lists, pairs of players, clear gaps, and sets and
lists with epsilon = 0, where only n - 1 comparisons share delta. The kinds are near ties, ties and rare pivots. They
have 8 to 10 players, as few as possible for 1,000 runs at each delta, but enough that a part of the races stops before
all coalitions are known. Clear gaps are an exception: their near ties and ties have no gap that is wide enough, so that
every race that stops earlier fails. `topshap_bench.guarantee` describes failures and runs all kinds of games for one
goal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from topshap.core.validation import check_choice, front_door
from topshap_bench.adversarial import KINDS, K
from topshap_bench.experiment import fixed_confidence_settings, run
from topshap_bench.guarantee import DELTAS, EPSILON_OF_REAL_GAMES, OF_OTHER_GOALS, Verdict, failures
from topshap_bench.sources import adversarial
from topshap_bench.summary import circumstances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from topshap_bench.settings import Setting
    from topshap_bench.sources import Source


class Games(NamedTuple):
    """A kind of adversarial games for a goal."""

    kind: str
    n_players: int | None = None
    """The number of players, by default that of the kind."""
    epsilon: float | None = None
    """The allowed error, by default that of the kind."""


class Goal(NamedTuple):
    """A goal of a race, and the games on which its failures are counted."""

    games: tuple[Games, ...]
    rank_by: str = "value"
    ordered: bool = False
    order: int = 1
    clear: bool = False
    epsilon_of_real_games: float | None = EPSILON_OF_REAL_GAMES
    """The allowed error in real games, as a fraction of the range of all values; None if they are not tried."""

    @property
    def options(self) -> dict[str, Any]:
        """The goal in the terms of `fixed_confidence_settings`."""
        ks = [0 if self.clear else K]
        return {"ks": ks, "rank_by": self.rank_by, "ordered": self.ordered, "order": self.order}


GOALS: Mapping[str, Goal] = {
    "magnitude": Goal(
        (Games("near-tie-magnitude", epsilon=0.005), Games("tie-magnitude", 8), Games("rare-pivot", 9)),
        rank_by="magnitude",
    ),
    "lowest": Goal(
        (Games("near-tie-lowest", 8, 0.005), Games("tie-lowest", 8), Games("rare-pivot", 8)), rank_by="lowest"
    ),
    "ordered": Goal(
        (
            Games("near-tie-order", 9, 0.005),
            Games("near-tie-order", 8, 0.0),
            Games("tie-order", 8),
            Games("rare-pivot", 8, 0.01),
        ),
        ordered=True,
    ),
    "pairs": Goal(
        (Games("near-tie-pairs", 9, 0.005), Games("tie-pairs", 9, 0.01), Games("rare-pivot", 9, 0.2)),
        rank_by="magnitude",
        order=2,
        epsilon_of_real_games=0.1,
    ),
    "clear": Goal((Games("near-tie-gap", 8), Games("tie-gap", 8), Games("rare-pivot", 9)), clear=True),
    "zero": Goal((Games("near-tie", 9, 0.0), Games("rare-pivot", 8, 0.0)), epsilon_of_real_games=None),
}
"""The goals by name."""


@front_door
def goals(
    sources: Sequence[Source],
    folder: Path,
    *,
    names: Sequence[str] = tuple(GOALS),
    deltas: Sequence[float] = DELTAS,
    games: int = 50,
    runs: int = 20,
    real_runs: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Verdict:
    """Run the races; write the results ``goals.csv`` and the report ``goals.txt``.

    Parameters
    ----------
    sources
        Real games, complete tables; may be empty.
    folder
        The output folder; results in it are not computed again.
    names
        The goals, see `GOALS`.
    deltas
        The allowed failure rates.
    games, runs
        The number of games of each kind, and of runs of each game.
    real_runs
        The number of runs of each real game.
    seed, n_jobs, progress
        See `topshap_bench.run`.
    """
    settings: dict[str, list[tuple[Source, Setting]]] = {}
    for name in names:
        check_choice("names", name, GOALS)
        settings[name] = settings_of(GOALS[name], sources, deltas=deltas, games=games, runs=runs, real_runs=real_runs)
    every = [each for group in settings.values() for each in group]
    rows = run(every, folder / "goals.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    parts, kept, done = [circumstances()], True, iter(rows)
    for group in settings.values():
        text, fine = failures([next(done) for _ in dict.fromkeys(group)])
        parts.append(text)
        kept &= fine
    (folder / "goals.txt").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return Verdict(rows, "\n\n".join(parts), kept)


def settings_of(
    goal: Goal, sources: Sequence[Source], *, deltas: Sequence[float], games: int, runs: int, real_runs: int
) -> list[tuple[Source, Setting]]:
    """Return the settings of all runs for a goal."""
    options: dict[str, Any] = {"rules": OF_OTHER_GOALS[:1], "deltas": deltas, **goal.options}
    made: list[tuple[Source, Setting]] = []
    for kind, n_players, epsilon in goal.games:
        options |= {"epsilon": KINDS[kind].epsilon if epsilon is None else epsilon, "unit": KINDS[kind].unit}
        made += fixed_confidence_settings(adversarial(kind, games, n_players), runs=runs, **options)
    if goal.epsilon_of_real_games is not None:
        options |= {"epsilon": goal.epsilon_of_real_games, "unit": "range"}
        made += fixed_confidence_settings(sources, runs=real_runs, **options)
    return made
