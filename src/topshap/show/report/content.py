"""The content of a report: the data that its script draws, and the facts and explanations in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.printable import printable
from topshap.show.board import LEVEL, has_learned, probability_ahead
from topshap.show.labels import around_border, labels_of, name_of, short_names, shorten, shown_ranks, value_text
from topshap.show.nouns import candidate, quantity
from topshap.show.numbers import percent
from topshap.show.race_plot import borders, known_history, value_limits
from topshap.show.wording import describe_tie, question, shown_of, why_it_ended
from topshap.statistics.normal_intervals import two_sided_quantile
from topshap.statistics.ranking import rank_key
from topshap.statistics.ties import OF_ERROR, ROUNDING, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.result import TopK
    from topshap.core.typing import Players, Values

LISTED = 1000
"""The maximum number of players in the table, so that a report stays small."""
NAME_BYTES = 60_000
"""The maximum size of their names in total; longer names are cut."""
LISTED_VALUE = 30
"""The maximum length of a value in the table."""
RACERS, MOMENTS = 12, 60
"""The maximum number of players in the race, and of moments of it."""
PAIRED = 12
"""The maximum number of players in the table of pairs."""


def content(top: TopK, versions: dict[str, str], *, title: str | None, game: str | None) -> dict[str, Any]:
    """Return the data as plain lists and numbers with six significant digits; unknown numbers are None."""
    ranks = np.arange(min(top.n_candidates, LISTED))
    players = top.ranking[ranks] if has_learned(top) else ranks  # an arbitrary ranking is not shown
    names, cut = _names(top, players)
    return {
        "format": "topshap.report",
        "version": 1,
        "title": title,
        "run": _run(top, versions, game),
        "players": {
            "index": players.tolist(),
            "name": names,
            "names_are_cut": cut,
            "value": _values(top, players),
            "estimate": _numbers(top.estimates[players]),
            "std_error": _numbers(top.std_errors[players]),
            "p_top_k": _numbers(top.inclusion[players], digits=4),
        },
        "race": _race(top),
        "pairwise": _pairwise(top),
    }


def facts(top: TopK, run: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the settings and the cost of the run, as terms and descriptions."""
    if run["game"] is not None:
        yield "Game", run["game"]
    vary = "" if top.deterministic else "; values vary from call to call"
    if top.output_name is not None:
        yield "Output", top.output_name
    yield "Values", f"{top.empty:.6g} for no players, {top.grand:.6g} for all players{vary}"
    if top.value_range is not None:
        yield "Range of values", f"{top.value_range[0]:g} to {top.value_range[1]:g}, checked"
    yield "Task", question(top)
    yield "Algorithm", printable(top.algorithm)
    yield "Seed", "not given as a number" if top.random_state is None else str(top.random_state)
    yield "Budget", "no limit" if top.budget is None else f"{top.budget:,} {_unit(top)}"
    yield "Spent", f"{top.evaluations:,} evaluations, {top.calls:,} calls"
    if top.epsilon is not None:
        yield "Tolerance", f"epsilon = {top.epsilon:g}, delta = {top.delta:g}, guarantee: {top.guarantee}"
    yield "Why it stopped", why_it_ended(top)
    if top.rule is not None:
        yield "Custom stopping rule", printable(top.rule)
    yield "Versions", ", ".join(f"{name} {version}" for name, version in run["versions"].items())


def race_note(top: TopK, race: dict[str, Any] | None) -> str:
    """Return the description of the race, with how many of the players are shown."""
    shown = "" if race is None else f" The plot and the list below it show {shown_of(len(race['ranks']), top)}."
    return (
        "Estimates after each number of evaluations. The bands are the 95% intervals of the last "
        f"{candidate(top)} inside the top {top.k} and the first one outside. The slider shows the ranking "
        f"at any point of the race.{shown}"
    )


def what_it_means(top: TopK) -> Iterable[str]:
    """Yield paragraphs that explain what the numbers mean."""
    if top.stopped == "exact":
        yield f"Every coalition was evaluated: these are the exact {quantity(top)}s, up to rounding."
    elif not has_learned(top):
        yield (
            "All estimates are equal and no standard error is known: these evaluations do not distinguish the "
            "players. Use a larger budget."
        )
    else:
        together = "independently of each other" if top.covariance is None else "with the estimated covariance"
        yield (
            "Intervals and probabilities are estimated from the same evaluations. They assume that the estimates are "
            f"normally distributed around the true values, {together}; this assumption gets better with more "
            f"evaluations. A {LEVEL:.0%} interval is for one {candidate(top)} at a time: among many, some true "
            "values lie outside their intervals."
        )
    if tie := describe_tie(top):
        yield f"{tie[0].upper()}{tie[1:]}. The choice between them is arbitrary."
    yield (
        "These statements are about the game that was evaluated and the coalitions that were sampled. They do not "
        "tell whether the game answers the right question, or whether the model is right."
    )


def pairwise_table(top: TopK) -> str:
    """Return the probabilities of pairs of players around the border as an HTML table."""
    ranks = around_border(top.n_candidates, top.k, PAIRED)
    players = top.ranking[ranks]
    names = [escape(name) for name in short_names(top, players, 24)]
    labels = [escape(label) for label in labels_of(top, players, 24)]
    ahead = probability_ahead(top, players)
    head = "".join(
        f'<th scope="col"{_class(_edge(rank, top))}><span><bdi>{name}</bdi></span></th>'
        for rank, name in zip(ranks, names, strict=True)
    )
    rows = [
        f'<tr{_class(_edge(rank, top))}><th scope="row"><bdi>{label}</bdi></th>'
        + "".join(_cell(float(p), rank == other, _edge(other, top), top) for other, p in zip(ranks, row, strict=True))
        + "</tr>"
        for rank, label, row in zip(ranks, labels, ahead, strict=True)
    ]
    return f'<table class="pairs"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def pairwise_styles() -> str:
    """Return the style sheet with the shade of each probability, in percent."""
    return "".join(f".pairs .p{p} {{ --p: {p / 100:g}; }}\n" for p in range(101))


def _cell(p: float, same: bool, edge: str, top: TopK) -> str:
    if same:
        return f"<td{_class('p50', edge)}></td>"
    text = f"{100 * p:.0f}" if top.stopped == "exact" else escape(percent(p).removesuffix("%"))
    return f"<td{_class(f'p{100 * p:.0f}', 'dark' if p > 0.7 else '', edge)}>{text}</td>"


def _edge(rank: int, top: TopK) -> str:
    """Return the class of the last row or column inside the top k; empty for all others."""
    return "edge" if rank == top.k - 1 < top.n_candidates - 1 else ""


def _class(*names: str) -> str:
    """Return the attribute of an element with these classes; empty if there are none."""
    return f' class="{" ".join(filter(None, names))}"' if any(names) else ""


def _run(top: TopK, versions: dict[str, str], game: str | None) -> dict[str, Any]:
    asked_for = ("algorithm", "rank_by", "random_state", "budget", "epsilon", "delta", "guarantee", "counting", "rule")
    scale = float(np.abs(top.estimates).max())
    found = ("evaluations", "calls", "stopped", "promise", "deterministic", "empty", "grand", "output_name")
    return {
        "game": game,
        "order": top.order,
        "n_players": top.n_players,
        "n_candidates": top.n_candidates,
        "k": top.k,
        "confidence": None if np.isnan(top.confidence) else top.confidence,
        "value_range": None if top.value_range is None else list(top.value_range),
        **{name: getattr(top, name) for name in asked_for + found},
        "learned": has_learned(top),
        "negligible": {"rounding": ROUNDING * scale, "small": SMALL * scale, "of_error": OF_ERROR},
        "interval_level": LEVEL,
        "interval_width": two_sided_quantile(1.0 - LEVEL),
        "versions": versions,
    }


def _race(top: TopK) -> dict[str, Any] | None:
    """Return the race of the players that are shown, one list per player; None if its history is too short."""
    if top.history is None:
        return None
    history = known_history(top)
    if len(history.evaluations) < 2:
        return None
    ranks = shown_ranks(top.n_candidates, top.k, RACERS)
    players = top.ranking[ranks]
    moments = np.unique(np.linspace(0, len(history.evaluations) - 1, MOMENTS).round().astype(int))
    estimates, std_errors = history.estimates[moments][:, players], history.std_errors[moments][:, players]
    half_widths = two_sided_quantile(1.0 - LEVEL) * std_errors
    return {
        "ranks": ranks.tolist(),
        "labels": labels_of(top, players, 22),
        "labels_narrow": short_names(top, players, 12 if top.order == 1 else 18),
        "evaluations": history.evaluations[moments].tolist(),
        "estimates": [_numbers(column, digits=4) for column in estimates.T],
        "std_errors": [_numbers(column, digits=3) for column in std_errors.T],
        "orders": [_order(row, top) for row in estimates],
        "limits": list(value_limits(estimates, half_widths)),
        "borders": borders(top),
    }


def _order(estimates: Values, top: TopK) -> list[int]:
    """Return the positions of the players that are shown, best first, at one moment."""
    keys = rank_key(estimates, top.rank_by)
    return np.argsort(-keys, kind="stable").tolist()


def _pairwise(top: TopK) -> dict[str, Any]:
    ranks = around_border(top.n_candidates, top.k, PAIRED)
    players = top.ranking[ranks]
    ahead = probability_ahead(top, players)
    return {"ranks": ranks.tolist(), "row_ahead_of_column": [_numbers(row, digits=3) for row in ahead]}


def _names(top: TopK, players: Players) -> tuple[list[str], bool]:
    """Return the players' names, all cut to the same length if they take too much space, and whether they are cut."""
    names = [name_of(top, i) for i in players]
    length = max(len(name) for name in names)
    size = sum(len(name.encode("utf-8", "replace")) for name in names)
    if size <= NAME_BYTES:
        return names, False
    return [shorten(name, max(8, min(length, NAME_BYTES // (4 * len(names))))) for name in names], True


def _values(top: TopK, players: Players) -> list[str] | None:
    """Return the players' values as text; None if no value is known."""
    if top.player_values is None or top.order == 2:
        return None
    return [value_text(top.player_values[i], LISTED_VALUE) for i in players]


def _numbers(values: Any, digits: int = 6) -> list[float | None]:
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values]


def _unit(top: TopK) -> str:
    return "calls, including repeated coalitions" if top.counting == "calls" else "evaluations of distinct coalitions"
