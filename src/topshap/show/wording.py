"""Results in words: titles and headlines, why a race ended, and the guarantee of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.importance_result import TopImportance
from topshap.core.printable import printable
from topshap.core.results import TopKs
from topshap.show.board import LEVEL, has_learned, tied_at_border
from topshap.show.labels import short_names
from topshap.show.nouns import candidate, everyone, quantity
from topshap.statistics.normal_intervals import two_sided_quantile
from topshap.statistics.ranking import comparison, order_phrase, rank_key
from topshap.statistics.ties import ROUNDING, errors_of_difference

if TYPE_CHECKING:
    from topshap.core.race import Race
    from topshap.core.result import TopK
    from topshap.core.typing import Players


NOTHING_LEARNED = "nothing distinguishes the players yet"
"""The statement in place of a ranking while all estimates are equal and no standard error is known."""
NOT_OVER = "the race is not over"
"""The ending of a race that was interrupted."""
_RARE_CONTRIBUTIONS = (
    "Contributions may be rare and large: players may contribute only in a few patterns of others, most of which were "
    "not evaluated, and intervals and confidence may be too optimistic. A larger budget shows more of them"
)
_GOES_ON = {1: "swap@k", 2: "odd-gp@k"}
"""The algorithm that goes on until rare contributions are unlikely to matter: for players, and for pairs of them."""
_CLOSE = 0.02
"""Values are close if the interval of their difference is narrower than this fraction of the largest estimate."""
_NAMED = 4
"""The maximum number of players that are listed by name in a sentence."""


def title(found: TopK | Race) -> str:
    """Return the short title of a result or race.

    Examples
    --------
    >>> import topshap
    >>> title(topshap.Race(n_players=2000, k=4)), title(topshap.Race(n_players=8, k=3, rank_by="magnitude"))
    ('Top 4 of 2,000', 'Top 3 of 8 by magnitude')
    """
    pairs = "" if found.order == 1 else " pairs"
    return f"Top {found.k} of {found.n_candidates:,}{pairs}{order_phrase(found.rank_by)}"


def _in_order(top: TopK) -> str:
    return " in order" if top.ordered else ""


def question(top: TopK) -> str:
    """Return the question that was answered, as part of a sentence."""
    return f"the top {top.k} of {everyone(top)}{order_phrase(top.rank_by)}{_in_order(top)}"


def race_title(top: TopK, shown: int) -> str:
    """Return the title of the plot of a race that shows some of the players."""
    some = "" if shown == top.n_candidates else f" ({shown_of(shown, top)} shown)"
    pairs = "" if top.order == 1 else " pairs"
    return f"The race for the top {top.k}{pairs}{order_phrase(top.rank_by)}{some}"


def shown_of(shown: int, top: TopK) -> str:
    """Return the number of players that are shown, such as "12 of 1,000 players"."""
    number = f"{top.n_candidates:,} {candidate(top)}s"
    return f"all {number}" if shown == top.n_candidates else f"{shown} of {number}"


def pairwise_note(top: TopK, shown: int) -> str:
    """Return the description of the pairwise probabilities of some of the players."""
    return (
        f"The estimated probability, in percent, that the {candidate(top)} in the row has {comparison(top.rank_by)} "
        f"than the {candidate(top)} in the column, for {shown_of(shown, top)} around the border (dashed lines)."
    )


def board_note(top: TopK) -> str:
    """Return the explanation of the leaderboard's bars and lines; empty where nothing distinguishes the players.

    Examples
    --------
    >>> import topshap
    >>> board_note(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2))
    'Bars are Shapley values. The dashed line is the border of the top 2.'
    """
    exact = top.stopped == "exact"
    if not has_learned(top):
        return ""
    bars = f"{'' if exact else 'estimated '}{quantity(top)}s"
    intervals = not exact and np.isfinite(top.std_errors).any()
    lines = "; thin lines are 95% intervals (1.96 standard errors)" if intervals else ""
    border = f" The dashed line is the border of the top {top.k}." if top.k < top.n_candidates else ""
    return f"Bars are {bars}{lines}.{border}"


def headline(top: TopK) -> str:
    """Return the result in one line: how many players, after how many evaluations, and how certain it is."""
    exact = top.stopped == "exact"
    why = ("exact: " if exact else "") + why_it_ended(top)
    sure = describe_tie(top) or ("" if exact else _sure(top))
    sure = f", {sure}" if sure else ""
    noisy = "" if top.deterministic else ", values vary"
    whom = f"{top.n_players} players" if top.order == 1 else everyone(top)
    how = f"{order_phrase(top.rank_by)}{_in_order(top)}{_of_importance(top)}"
    found = f"Top {top.k} of {whom}{how} after {top.evaluations} evaluations"
    return f"{found} ({why}{sure}{noisy})"


def describe_promise(top: TopK) -> str:
    """Return one line that says what is guaranteed, under which assumptions, and what was spent."""
    if top.stopped == "exact":
        claim = f"Certain: all coalitions are known.{_no_clear_gap(top)}"
    elif top.k == top.n_candidates and not top.ordered:
        claim = f"Certain: all {candidate(top)}s are in the set."
    elif top.stopped == "confident":
        claim = _describe_guarantee(top)
    else:
        claim = _no_guarantee(top)
    return f"{claim}{describe_left_out(top)}{_describe_rows(top)} {_cost(top)}"


def describe_left_out(top: TopK) -> str:
    """Return which pairs were not estimated, as a sentence; empty if all were."""
    left_out = getattr(top, "left_out", None)
    if left_out is None:
        return ""
    played = top.n_players - len(left_out)
    return f" Only pairs among {played:,} of {top.n_players:,} players were estimated; left_out lists the others."


def _of_importance(top: TopK) -> str:
    """Return the kind of importance that players are ranked by, as a phrase; empty for Shapley values."""
    return f" by {'loss' if top.by == 'loss' else 'mean magnitude'}" if isinstance(top, TopImportance) else ""


def _describe_rows(top: TopK) -> str:
    """Return which rows were evaluated and which rows the result is about, as a sentence; empty without rows."""
    if not isinstance(top, TopImportance):
        return ""
    evaluated = f"{top.n_rows:,} of {top.n_table_rows:,}" if top.n_rows < top.n_table_rows else f"All {top.n_rows:,}"
    about = "these rows" if top.n_rows == top.n_table_rows else "all rows of the table"
    about = "an infinite population of such rows" if top.population == "infinite" else about
    return f" {evaluated} rows were evaluated; the result is about {about}."


def why_it_ended(top: TopK) -> str:
    """Return why the race ended, in a few words."""
    return {
        "exact": "all coalitions are known",
        "budget": "the budget was spent",
        "confident": f"{_confident(top)} at epsilon={top.epsilon}, delta={top.delta}",
        "time": "the time was up",
        "rule": f"{'a stopping rule' if top.rule is None else printable(top.rule)} was met",
        "finished": "the algorithm had nothing more to ask",
        "cost": "max_cost was reached",
        "interrupted": NOT_OVER,
    }[top.stopped]


def how_it_ended(race: Race) -> str:
    """Return why a race ended, or that it is not over, in a few words.

    Examples
    --------
    >>> import topshap
    >>> how_it_ended(topshap.Race(n_players=8, k=3))
    'the race is not over'
    """
    return why_it_ended(race.result()) if race.done else NOT_OVER


def describe_tie(top: TopK) -> str:
    """Return which players tie at the border, in words; empty if there are none.

    If the 95% intervals of their differences are narrow, the words give the half-width: any choice is right up to it.

    Examples
    --------
    >>> import topshap
    >>> describe_tie(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 0.0, 1.0]), k=2, random_state=0))
    'players 1 and 3 tie at the border'
    """
    tied = tied_at_border(top)
    if len(tied) == 0:
        return ""
    if len(tied) == top.n_candidates:
        who = f"all {top.n_candidates:,} {candidate(top)}s"
    elif len(tied) > _NAMED:
        who = f"{len(tied):,} {candidate(top)}s"
    else:
        *others, last = (short_names(top, [i])[0] for i in sorted(tied.tolist()))
        who = f"{f'{candidate(top)}s ' if top.player_names is None else ''}{', '.join(others)} and {last}"
    error, scale = _error_of_tie(top, tied), float(np.abs(top.estimates).max())
    if top.stopped == "exact" or error <= ROUNDING * scale:
        return f"{who} tie at the border"
    width = two_sided_quantile(1.0 - LEVEL) * error
    close = f", to within {width:.2g}" if width <= _CLOSE * scale else ""
    return f"the estimates of {who} tie at the border{close}"


def _error_of_tie(top: TopK, tied: Players) -> float:
    """Return the largest standard error of a difference between the last player inside and those tied with it."""
    errors = errors_of_difference(top.players[-1], top.estimates, top.std_errors, top.covariance, top.rank_by)
    return float(errors[tied[tied != top.players[-1]]].max())


def _sure(top: TopK) -> str:
    """Return how sure the set is, in words."""
    if not has_learned(top) and top.k < top.n_candidates:
        return NOTHING_LEARNED
    if np.isnan(top.confidence):
        return "confidence not known yet"
    provided = ", if no contribution is rare" if top.rare_contributions else ""
    return f"{'more than 99%' if top.confidence > 0.99 else f'{top.confidence:.0%}'} sure of the set{provided}"


def _no_guarantee(top: TopK) -> str:
    """Return that there is no guarantee, why, and what the confidence assumes."""
    why = f"{why_it_ended(top)}{_missed(top)}"
    if np.isnan(top.confidence):
        return f"No guarantee: {why}."
    why = "after a fixed budget," if top.stopped == "budget" and top.epsilon is None else f"{why};"
    rare = f" {describe_rare_contributions(top)}" if top.rare_contributions else ""
    return f"No guarantee: {why} intervals and confidence are estimates that assume normal errors.{rare}"


def describe_rare_contributions(top: TopK | TopKs) -> str:
    """Return the meaning of `TopK.rare_contributions`, and what to do."""
    if isinstance(top, TopKs):  # no algorithm for several outputs has a guarantee
        return f"{_RARE_CONTRIBUTIONS}."
    goes_on = f"with an epsilon and algorithm={_GOES_ON[top.order]!r}, a run goes on until they are unlikely to matter"
    return f"{_RARE_CONTRIBUTIONS}; {goes_on}."


def _describe_guarantee(top: TopK) -> str:
    """Return the guarantee of a race that stopped by itself, and the assumptions it rests on."""
    delta = top.delta or 0.0
    claim = _claim(top)
    percent = f"{100.0 * (1.0 - delta):.12g}%"
    sure = f"probability at least {f'1 - {delta:g}' if percent == '100%' else percent}, {claim}"
    if top.guarantee == "credible":
        return (
            f"With posterior {sure}. Not a guarantee: it assumes normal estimates and does not correct for repeated "
            "looks."
        )
    if top.guarantee == "asymptotic" and isinstance(top, TopImportance):
        return (
            f"With {sure}. This assumes enough rows for normal estimates, and that the rows and coalitions that were "
            "not evaluated are like those that were; it is corrected for all pairs of players and for repeated looks."
        )
    if top.guarantee == "asymptotic":
        return (
            f"With {sure}. This assumes that the coalitions that were not evaluated are like those that were; it is "
            f"corrected for {'all pairs of players' if top.order == 1 else 'all comparisons'} and for repeated looks."
        )
    if top.guarantee != "exact":
        met = f"The published rule was met at epsilon={top.epsilon:g}, delta={delta:g}."
        return f"{met} Not a guarantee at level delta: it does not correct for repeated looks."
    if top.value_range is None:
        return f"Certain: {claim}, since every coalition that matters is known."
    low, high = top.value_range
    return f"With {sure}: for any game with values in [{low:g}, {high:g}] and any number of samples."


def _claim(top: TopK) -> str:
    """Return the statement that a race which stopped by itself makes about its result."""
    by = f"by more than {top.epsilon:g}{' in magnitude' if top.rank_by == 'magnitude' else ''}"
    one = candidate(top)
    if top.clear_gap:
        least = f" by at least {top.epsilon:g}" if top.epsilon else ""
        return f"every {one} in the set is ahead of every {one} left out{least}"
    if not top.ordered:
        return f"no {one} left out is ahead of a {one} in the set {by}"
    return f"the top {top.k} are in this order: no {one} is ahead of one listed before it {by}"


def _missed(top: TopK) -> str:
    if top.epsilon is None or top.stopped == "interrupted":
        return ""
    if top.clear_gap:
        return f" before a gap of at least epsilon={top.epsilon:g} was clear at delta={top.delta:g}"
    return f" before epsilon={top.epsilon:g} was reached at delta={top.delta:g}"


def _confident(top: TopK) -> str:
    return "stopped by itself, after a clear gap" if top.clear_gap else "stopped by itself"


def _no_clear_gap(top: TopK) -> str:
    """Return that no gap of an exact result is clear, in words; empty if there is one, or if k was given."""
    if not top.clear_gap or top.k == top.n_players:
        return ""
    last, first = rank_key(top.estimates[top.ranking[[top.k - 1, top.k]]], top.rank_by).tolist()
    if last - first >= max(top.epsilon or 0.0, ROUNDING * float(np.abs(top.estimates).max())):
        return ""
    return f" No gap is as wide as epsilon={top.epsilon:g}; this is the widest."


def _cost(top: TopK) -> str:
    of = "" if top.budget is None else f" of a budget of {top.budget:,}"
    if top.counting == "calls":
        return f"It took {top.calls:,} calls{of}, {top.evaluations:,} evaluations{_paid(top)}."
    return f"It took {top.evaluations:,} evaluations{of}{_paid(top)}."


def _paid(top: TopK) -> str:
    """Return the requests, tokens and cost of the evaluations; empty if they were not calls of a language model."""
    return "" if top.usage is None else f": {top.usage}"
