"""Attacks with options and names: an error of topshap, or a result that is consistent."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import topshap
from chaos.children import GIBIBYTE, run
from chaos.commands import check_printable
from chaos.games import summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST = 400
"""The largest budget."""
INVALID: list[Any] = [
    -1, 0, 1.5, "x", b"x", float("nan"), float("inf"), 10**30, True, [], {}, (), (1, 0), np.array([1, 2]), object(),
    np.float64("nan"), "\x1b[2J", -(10**400), (float("nan"), 1.0), lambda _: None, 2j,
]  # fmt: skip


def options(rng: np.random.Generator, folder: Path) -> None:
    """Run games with random options, valid and invalid."""
    run("chaos.options:run_all", folder, memory=4 * GIBIBYTE, seed=int(rng.integers(2**31)))


def names(rng: np.random.Generator, folder: Path) -> None:
    """Run games whose players have names with control characters."""
    run("chaos.options:run_names", folder, memory=4 * GIBIBYTE, seed=int(rng.integers(2**31)))


def run_all(folder: Path, seed: int) -> None:
    """Run games with random options in a child process."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        n = int(rng.integers(1, 11))
        chosen = _draw(rng, n)
        sys.stderr.write(f"n_players={n}, {chosen}\n")
        weights = np.round(rng.normal(size=n), int(rng.integers(3)))
        noise = 0.1 if rng.random() < 0.15 else 0.0
        _run(folder, chosen, weights, np.random.default_rng(seed), noise)


def _run(folder: Path, chosen: dict[str, Any], weights: Any, noise_rng: np.random.Generator, noise: float) -> None:
    n = len(weights)

    def values(coalitions: Any) -> Any:
        exact = coalitions @ weights + 0.2 * coalitions[:, 0] * coalitions[:, -1]
        return exact + noise * noise_rng.normal(size=len(exact)) if noise else exact

    if noise:
        chosen["budget"] = MOST if chosen.get("budget") is None else chosen["budget"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            if noise_rng.random() < 0.3:
                top = _race(values, n, chosen, deterministic=not noise)
            else:
                top = topshap.identify(topshap.Oracle(values, n_players=n, deterministic=not noise), **chosen)
        except topshap.TopshapError as error:
            check_printable(str(error))
            return
        check_result(top, folder)


def _race(values: Callable[[Any], Any], n: int, chosen: dict[str, Any], *, deterministic: bool) -> topshap.TopK:
    """Return the result of a race by ask and tell."""
    race = topshap.Race(n, deterministic=deterministic, **chosen)
    while not race.done:
        coalitions = race.ask()
        race.tell(values(coalitions))
    return race.result()


def _draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return random options, most of them valid."""
    valid: dict[str, list[Any]] = {
        "budget": [2, 3, 10, 50, MOST, np.int64(30)],
        "epsilon": [0.0, 0.1, 1.0, 100.0, np.float32(0.5), 5e-324],
        "delta": [0.05, 0.5, 1e-9, 0.999],
        "guarantee": ["asymptotic", "credible", "exact", "published", None],
        "value_range": [(-50.0, 50.0), (-1e9, 1e9), None, [-60, 60]],
        "stop": [None, topshap.stopping.TimeLimit(0.05), lambda race: race.evaluations > 20],
        "algorithm": ["auto", *topshap.algorithms.ALGORITHMS],
        "rank_by": ["value", "magnitude", "lowest"],
        "counting": ["distinct", "calls"],
        "player_names": [None, [f"player {i}" for i in range(n)], (hex(i) for i in range(n))],
        "random_state": [0, 1, np.random.default_rng(5), np.int64(7)],
    }
    # Every race has a seed, so that a finding can be repeated.
    chosen: dict[str, Any] = {"k": int(rng.integers(1, n + 1)), "random_state": int(rng.integers(1000))}
    for name, usual in valid.items():
        if rng.random() < 0.4:
            chosen[name] = usual[rng.integers(len(usual))]
    if rng.random() < 0.4:
        name = [*valid, "k"][rng.integers(len(valid) + 1)]
        chosen[name] = INVALID[rng.integers(len(INVALID))]
    counting = chosen.get("counting")
    if isinstance(counting, str) and counting == "calls" and chosen.get("budget") is None:
        chosen["budget"] = MOST  # without a limit such a race may be long
    return chosen


def check_result(top: topshap.TopK, folder: Path) -> None:
    """Make a finding of a result that contradicts itself, or that cannot be shown and saved."""
    players = top.players.tolist()
    assert len(set(players)) == top.k, top
    assert set(players) <= set(range(top.n_players)), top
    assert np.isfinite(top.estimates).all(), top
    spent = top.calls if top.counting == "calls" else top.evaluations
    assert top.budget is None or spent <= top.budget, top
    key = {"value": top.estimates, "lowest": -top.estimates, "magnitude": np.abs(top.estimates)}[top.rank_by]
    inside, outside = key[players], np.delete(key, players)
    slack = 1e-9 * max(1.0, float(np.abs(key).max()))
    assert (np.diff(inside) <= slack).all(), f"players are not in the order of their estimates: {top!r}"
    assert len(outside) == 0 or inside.min() >= outside.max() - slack, f"a better player is left out: {top!r}"
    check_printable(str(top))
    check_printable(top.headline)
    assert len(top.to_frame()) == top.n_players
    assert np.isnan(top.confidence) or 0.0 <= top.confidence <= 1.0, top.confidence
    top.save(folder / "top.json")
    again = topshap.load(folder / "top.json")
    assert summary(again) == summary(top), "another result after save and load"
    assert str(again) == str(top), f"{again}\n{top}"


def run_names(folder: Path, seed: int) -> None:
    """Run games with strange names in a child process."""
    rng = np.random.default_rng(seed)
    parts = ["\x1b[2J", "\x1b]0;x\x07", "\n", "\r", "\t", "\0", "\u202e", "\u2066", "\x9b31m", "a", "é", "\U0001f600"]
    parts += ["<script>alert(1)</script>", "&amp;", "$x$", "\u2028", "\ufeff", "%s", "{0}", "[bold]", " ", "\\", '"']
    for number in range(10):
        n = int(rng.integers(1, 7))
        made = ["".join(rng.choice(parts, size=int(rng.integers(1, 5)))) + str(i) for i in range(n)]
        sys.stderr.write(f"{made!r}\n")
        weights = rng.normal(size=n)
        top = topshap.identify(lambda rows, w=weights: rows @ w, n, k=1, player_names=made, random_state=0)
        assert top.player_names == tuple(made)
        check_result(top, folder)
        page = folder / f"{number}.html"
        top.to_html(page, title=made[0])
        text = page.read_text(encoding="utf-8")
        assert "\x1b" not in text, "a terminal escape in a report"
        assert "<script>alert(1)</script>" not in text, "a name is code in a report"
        _check_errors(made, n)


def _check_errors(made: list[str], n: int) -> None:
    """Check the messages that name a player."""

    def fails(coalitions: Any) -> Any:
        return np.where(coalitions.sum(axis=1) == n, np.nan, 0.0)

    try:
        topshap.identify(fails, n, k=1, player_names=made)
    except topshap.GameError as error:
        assert "\x1b" not in str(error), f"a terminal escape in a message: {error!r}"
