"""Algorithms of other packages: their evaluations are counted correctly, and they have no side effects."""

import time

import numpy as np
import pytest

import topshap_bench as bench
from topshap.core.coalitions import keys
from topshap.games import TableGame
from topshap_bench import external, race
from topshap_bench.instrumented import CountedGame
from topshap_bench.rivals import RIVALS

NAMES = external.available(slow=False)


class Recorded(CountedGame):
    """A game that records every access, in order."""

    def __init__(self, game):
        super().__init__(game)
        self.accesses = []

    def __call__(self, coalitions):
        self.accesses += keys(np.atleast_2d(np.asarray(coalitions)).astype(bool))
        return super().__call__(coalitions)


@pytest.mark.parametrize("name", NAMES)  # one test per name: the first call of some algorithms compiles for seconds
def test_an_external_algorithm_is_counted_stays_within_the_budget_and_is_reproducible(name, smooth_game, counted):
    game = TableGame(smooth_game(7).values + 10.0)  # v(empty) is not 0
    check_counts(name, game, counted)
    check_budget(name, game)
    before = np.random.get_state()[1].copy()
    first, second = (external.estimate(name, game, budget=120, seed=0).estimates for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(before, np.random.get_state()[1])
    assert np.corrcoef(first, game.shapley_values())[0, 1] > 0.9
    assert np.abs(first - game.shapley_values()).max() < 2.0


def check_counts(name, game, counted):
    """Check that calls and distinct coalitions are counted correctly, and that none is evaluated twice."""
    inner = counted(game)
    recorded = Recorded(inner)
    external.one_run(name, recorded, 60, 0)
    ends = {bytes(7), bytes([1] * 7)}
    distinct = set(recorded.accesses)
    repeated_ends = sum(key in ends for key in recorded.accesses) - len(distinct & ends)
    assert recorded.ledger.evaluations == len(distinct) == len(inner.asked)
    assert recorded.ledger.calls == len(recorded.accesses) - repeated_ends


def check_budget(name, game):
    """Check that the budget is not exceeded, and is used unless the estimates are exact. Permutations are not split."""
    for counting in ("distinct", "calls"):
        answer = external.estimate(name, game, budget=60, seed=1, counting=counting)
        spent = answer.evaluations if counting == "distinct" else answer.calls
        assert spent <= 60
        assert spent >= 60 - 2 * 7 or np.allclose(answer.estimates, game.shapley_values())


def test_a_run_that_fails_is_reported_with_its_message_and_not_as_a_refusal(monkeypatch, smooth_game):
    def fail(game, budget, seed):
        raise ValueError("singular")

    monkeypatch.setitem(RIVALS, "shapiq:svarm", RIVALS["shapiq:svarm"]._replace(run=fail))
    answer = external.estimate("shapiq:svarm", smooth_game(5), budget=20, seed=0)
    assert answer.estimates is None
    assert answer.failure == "ValueError: singular"
    pairs = bench.fixed_budget_settings(
        [bench.Source("tie", "0")], ["odd-gp", "shapiq:svarm"], ks=[3], budgets=[40], runs=1
    )
    rows = bench.run(pairs)
    assert [row.stopped for row in rows] == ["budget", "failed: ValueError: singular"]
    text = race.report(rows)
    assert "shapiq:svarm failed: ValueError: singular" in text
    assert "cannot run" in text


def test_the_time_is_that_of_the_attempt_that_counts(smooth_game):
    def wasteful(game, budget):
        while budget > 30 and time.process_time() < late:
            pass
        rows = np.random.default_rng(0).random((2 * budget, 7)) < 0.5
        return game(rows)[:7]

    late = time.process_time() + 0.2
    answer = external.spend(wasteful, smooth_game(7), budget=40)
    assert answer.evaluations <= 40
    assert answer.seconds < 0.1


def test_estimates_that_are_not_finite_are_a_failure(monkeypatch, smooth_game):
    nothing = RIVALS["shapiq:svarm"]._replace(run=lambda game, budget, seed: np.full(game.n_players, np.nan))
    monkeypatch.setitem(RIVALS, "shapiq:svarm", nothing)
    assert (
        external.estimate("shapiq:svarm", smooth_game(5), budget=20, seed=0).failure == "The estimates are not finite."
    )


def test_every_rival_says_why_it_has_its_settings():
    assert all(rival.why.endswith(".") for rival in RIVALS.values())
