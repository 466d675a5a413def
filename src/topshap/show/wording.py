"""What a result promises, under which assumptions, and what it took: in words, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.ranking import IN_WORDS

if TYPE_CHECKING:
    from topshap.core.result import TopK


def in_words(top: TopK) -> str:
    """Return one line that says what may be relied on, no more than that, and what was spent."""
    if top.stopped == "exact":
        claim = "Certain: all coalitions are known."
    elif top.k == top.n_players:
        claim = "Certain: everyone is in the set."
    elif top.stopped == "confident":
        claim = _confident(top)
    else:
        claim = f"Nothing is promised: {why_it_ended(top)}{_missed(top)}."
    return f"{claim} {_price(top)}"


def why_it_ended(top: TopK) -> str:
    """Return why the race ended, in a few words."""
    return {
        "exact": "all coalitions are known",
        "budget": "the budget was spent",
        "confident": f"stopped by itself at epsilon={top.epsilon}, delta={top.delta}",
        "time": "the time was up",
        "rule": f"{top.rule} was met",
        "finished": "the algorithm had nothing more to ask",
        "interrupted": "the race is not over",
    }[top.stopped]


def _confident(top: TopK) -> str:
    """Return what a race that stopped by itself says about the set, and what that rests on."""
    delta = top.delta or 0.0
    nobody = f"nobody left out is ahead of anyone in the set by more than {top.epsilon:g}"
    percent = f"{100.0 * (1.0 - delta):.12g}%"
    sure = f"probability at least {f'1 - {delta:g}' if percent == '100%' else percent}, {nobody}"
    if top.guarantee == "credible":
        return f"With posterior {sure}: no guarantee, as estimates count as normal and looks as free."
    if top.guarantee == "asymptotic":
        return f"With {sure}: asymptotically, with every pair and every look paid for."
    if top.guarantee != "exact":
        met = f"The published rule was met at epsilon={top.epsilon:g}, delta={delta:g}"
        return f"{met}: no guarantee at level delta, as it looks after every round without paying for it."
    if top.value_range is None:
        return f"Certain: {nobody}, since every coalition that matters is known."
    low, high = top.value_range
    return f"With {sure}: for any game with values in [{low:g}, {high:g}], however few the samples."


def _missed(top: TopK) -> str:
    if top.epsilon is None or top.stopped == "interrupted":
        return ""
    return f" before epsilon={top.epsilon:g} was reached at delta={top.delta:g}"


def _price(top: TopK) -> str:
    of = "" if top.budget is None else f" of a budget of {top.budget:,}"
    if top.counting == "calls":
        return f"It took {top.calls:,} calls{of}, {top.evaluations:,} evaluations."
    return f"It took {top.evaluations:,} evaluations{of}."


def headline(top: TopK) -> str:
    """Return what was found in one line: how many players, after how many evaluations, and how sure it is."""
    exact = top.stopped == "exact"
    why = ("exact: " if exact else "") + why_it_ended(top)
    sure = "" if exact else f", {_percent(top.confidence)} sure of the set"
    noisy = "" if top.deterministic else ", values vary"
    found = f"Top {top.k} of {top.n_players} players{IN_WORDS[top.rank_by]} after {top.evaluations} evaluations"
    return f"{found} ({why}{sure}{noisy})"


def _percent(confidence: float) -> str:
    if np.isnan(confidence):
        return "not yet"
    return "more than 99%" if confidence > 0.99 else f"{confidence:.0%}"
