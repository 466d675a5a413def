"""Shared parts of the tests: a hypothesis profile, random games, a game that records its calls, a browser.

The helpers are fixtures that return functions, so that a test module needs no import from another test file. They
hold no state of their own, so all examples of a property may use the same one.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import settings

from topshap.algorithms import Problem
from topshap.core.algorithm import Algorithm, Round
from topshap.core.coalitions import from_ids, keys
from topshap.core.ledger import Ledger
from topshap.core.pairs import PairEstimates, all_pairs, n_candidates
from topshap.core.rounds import RoundReader
from topshap.entrypoints import identify
from topshap.games import TableGame
from topshap.statistics.partial_covariance import PartialCovariance
from topshap.statistics.ranking import rank_key

settings.register_profile("topshap", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("topshap")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells ignore SIGINT for background processes
    signal.signal(signal.SIGINT, signal.default_int_handler)


CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


class CountedGame:
    """A game that records every coalition it evaluates, in order."""

    def __init__(self, game):
        self.game = game
        self.n_players = game.n_players
        self.asked = []
        self.batches = []

    def __call__(self, coalitions):
        self.asked.extend(keys(coalitions))
        self.batches.append(coalitions.copy())
        return self.game(coalitions)


@pytest.fixture(scope="session")
def random_game():
    """Return a function that makes a game whose 2**n values are independent normal numbers."""

    def make(n, seed=0, *, scale=1.0, baseline=0.0):
        return TableGame(baseline + scale * np.random.default_rng(seed).normal(size=2**n))

    return make


@pytest.fixture(scope="session")
def smooth_game():
    """Return a function that makes a game of weights and pairwise interactions, which most real games resemble."""

    def make(n, seed=0):
        rng = np.random.default_rng(seed)
        coalitions = from_ids(np.arange(2**n), n).astype(float)
        interactions = np.triu(rng.normal(size=(n, n)), k=1)
        return TableGame(coalitions @ rng.normal(size=n) + ((coalitions @ interactions) * coalitions).sum(axis=1))

    return make


@pytest.fixture(scope="session")
def counted():
    """Return a function that wraps a game in one that records its calls."""
    return CountedGame


class PlayedRounds:
    """An algorithm's rounds without a race: its batches and the values it has received."""

    def __init__(self, algorithm, game, *, k, seed, delta, budget):
        n = game.n_players
        rng = np.random.default_rng(seed)
        empty, grand = game(np.array([[False] * n, [True] * n]))
        self.game = game
        self.problem = Problem(
            n, k, rng, rng.permutation(n), float(empty), float(grand), ledger=Ledger(n, budget), delta=delta
        )
        self.standing = algorithm.standing(self.problem)
        self._reader = RoundReader(algorithm.rounds(self.problem, self.standing), one_at_a_time=delta is not None)
        self.batch = self._reader.read()
        self.rows, self.values = [], []

    def answer(self, at_most=None):
        """Evaluate the batch, or its first rows as if the budget ended there; return whether there is a next batch."""
        asked = self.batch[:at_most]
        missing = len(self.batch) - len(asked)
        values = self.game(asked)
        self.rows.append(asked.copy())
        self.values.append(values)
        if missing > 0:
            self._reader.take_prefix(values, missing, self.standing, may_resume=False)
            return False
        self._reader.take(values)
        self.batch = self._reader.read()
        return self.batch is not None

    def accesses(self):
        """Return all evaluated coalitions, in order, and their values."""
        return np.concatenate(self.rows), np.concatenate(self.values)


@pytest.fixture(scope="session")
def play():
    """Return a function that starts an algorithm on a game, so that a test can evaluate its batches one by one."""

    def start(algorithm, game, *, k=1, seed=0, delta=None, budget=None):
        return PlayedRounds(algorithm, game, k=k, seed=seed, delta=delta, budget=budget)

    return start


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """Return the driver of a real browser that records messages and requests; ``make browser`` installs both."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*CHROMIUM_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


class ResultsAsArrays(Sequence):
    """A sequence of results that are built from arrays when they are asked for, as of rows that share a race."""

    def __init__(self, top, arrays, confidence, player_values=None):
        self.top, self.confidence, self.player_values = top, confidence, player_values
        self.evaluations, self.built = top.evaluations, 0
        self.players, self.estimates, self.std_errors = arrays["players"], arrays["estimates"], arrays["std_errors"]
        self.empty, self.grand = arrays["empty"], arrays["grand"]

    def __len__(self):
        return len(self.grand)

    def __getitem__(self, row):
        self.built += 1
        numbers = {"empty": float(self.empty[row]), "grand": float(self.grand[row])}
        arrays = {name: getattr(self, name)[row].copy() for name in ("players", "estimates", "std_errors")}
        return replace(self.top, **arrays, **numbers)


@pytest.fixture(scope="session")
def results_as_arrays():
    """Return a function that makes lazy results of many made-up rows, for one output or several."""

    def make(n_rows=20, n=6, k=2, *, seed=0, names=None, rank_by="value", values=None):
        rng = np.random.default_rng(seed)
        estimates = rng.normal(size=(n_rows, n)) * np.geomspace(1.0, 0.01, n)
        std_errors = 0.1 * np.abs(rng.normal(size=(n_rows, n)))
        players = np.argsort(-rank_key(estimates, rank_by), axis=1, kind="stable")[:, :k]
        empty = np.full(n_rows, 0.25)
        arrays = {"players": players, "estimates": estimates, "std_errors": std_errors, "empty": empty}
        game = TableGame(np.zeros(2))
        top = identify(game, k=1, player_names=["only"])
        names = tuple(f"player {i}" for i in range(n)) if names is None else tuple(names)
        blank = {"players": players[0], "estimates": estimates[0], "std_errors": std_errors[0], "covariance": None}
        top = replace(top, **blank, player_names=names, evaluations=50, stopped="budget", history=None, rank_by=rank_by)
        confidence = rng.uniform(size=n_rows)
        return ResultsAsArrays(top, arrays | {"grand": empty + estimates.sum(axis=1)}, confidence, values)

    return make


class PairsAlgorithm(Algorithm):
    """Estimates all pairs after every coalition, from its value: a stand-in for an algorithm of order 2."""

    name = "pairs"
    orders = (1, 2)

    def __init__(self, left_out=None):
        self.left_out, self.computed = left_out, 0

    def standing(self, problem):
        return problem.fitted_standing()

    def interactions(self, pairs):
        self.computed += 1
        return PairEstimates(pairs, np.ones(len(pairs)))

    def rounds(self, problem, standing):
        def estimate(values):
            if len(values) == 0:
                return
            total = float(np.sum(values))
            pairs = total * np.arange(1.0, n_candidates(problem.n, 2) + 1)
            if problem.order == 1:
                standing.set(np.arange(1.0, problem.n + 1), np.eye(problem.n))
                standing.interactions = partial(self.interactions, pairs)
                return
            errors = np.full(len(pairs), abs(total))
            if self.left_out is not None:
                standing.left_out = np.array(self.left_out)
                without = np.isin(all_pairs(problem.n), self.left_out).any(axis=1)
                errors[without], pairs[without] = np.nan, 0.0
            watched = np.flatnonzero(~np.isnan(errors))[:2]
            some = PartialCovariance(watched, total**2 * np.array([[1.0, 0.9], [0.9, 1.0]]))
            standing.set(pairs, some, std_errors=errors)

        for player in range(problem.n):
            yield Round(np.arange(problem.n)[None] == player, estimate)


@pytest.fixture(scope="session")
def pairs_algorithm():
    """Return an algorithm that ranks pairs, and whose results for players have interactions."""
    return PairsAlgorithm
