"""Runs that end within a batch: no evaluated value is lost, and complete runs are not affected."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pytest

import topshap
from topshap import Oracle
from topshap.algorithms import ALGORITHMS
from topshap.core import looks
from topshap.core.errors import GameError
from topshap.core.race import Race
from topshap.core.stopping import Budget, TimeLimit, When
from topshap.evaluation import pace
from topshap.games import per_coalition

N = 12
WEIGHTS = np.arange(N, dtype=float)


def additive(rows):
    return rows @ WEIGHTS


def never(race):
    return False


class Paid:
    """A function of one coalition that counts its calls and is interrupted after some of them."""

    def __init__(self, interrupt_after=None):
        self.calls = 0
        self.interrupt_after = interrupt_after

    def __call__(self, coalition):
        if self.calls == self.interrupt_after:
            raise KeyboardInterrupt
        self.calls += 1
        return float(coalition @ WEIGHTS)


@pytest.fixture
def look_always(monkeypatch):
    """Check the limits of a run after every result."""
    monkeypatch.setattr(looks, "SECONDS_BETWEEN", 0.0)


@pytest.fixture
def small_parts(monkeypatch):
    """Split batches into parts of 7 coalitions."""
    monkeypatch.setattr("topshap.evaluation.session.FIRST_ROWS", 7)
    monkeypatch.setattr("topshap.driving.FIRST_ROWS", 7)
    monkeypatch.setattr("topshap.evaluation.session.next_rows", lambda *_: 7)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("paid", [2, 3, 8, 40, 103])
def test_an_interrupted_run_counts_and_uses_every_evaluated_value(algorithm, paid):
    game = Paid(interrupt_after=paid)
    top = topshap.identify(per_coalition(game, n_players=N), k=3, budget=400, algorithm=algorithm, random_state=0)
    assert (top.stopped, top.evaluations) == ("interrupted", paid)
    assert top.learned or paid < 8
    assert np.isfinite(top.estimates).all()


def test_an_interrupted_run_estimates_from_all_evaluated_values():
    game = Paid(interrupt_after=103)
    top = topshap.identify(per_coalition(game, n_players=N), k=3, budget=400, random_state=0)
    assert top.algorithm == "odd-gp"
    assert set(top.players.tolist()) == {9, 10, 11}


def test_an_interrupted_enumeration_estimates_from_the_coalitions_it_knows():
    game = Paid(interrupt_after=40)
    top = topshap.identify(per_coalition(game, n_players=N), k=3, budget=2**N, random_state=0)
    assert (top.algorithm, top.stopped, top.evaluations) == ("enumeration", "interrupted", 40)
    np.testing.assert_allclose(top.estimates, WEIGHTS, atol=1e-9)
    assert np.isnan(top.std_errors).all()


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("algorithm", ["cmcs", "kernelshap", "approshapley", "odd-gp"])
def test_an_interrupted_run_has_the_standing_of_a_race_with_the_same_values(algorithm, noise):
    options = {"k": 3, "budget": 300, "algorithm": algorithm, "counting": "calls", "random_state": 3}
    game = Oracle(per_coalition(Paid(interrupt_after=77), n_players=N), deterministic=not noise)
    top = topshap.identify(game, **options)
    race = Race(N, deterministic=not noise, **options)
    while race.evaluations < 77:
        race.tell_part(additive(race.pending[: 77 - race.evaluations]))
    race.end()
    assert (top.evaluations, top.calls) == (race.evaluations, race.calls) == (77, race.calls)
    assert top.estimates.tobytes() == race.result().estimates.tobytes()


def test_a_result_that_has_learned_nothing_names_no_players():
    top = topshap.identify(per_coalition(Paid(interrupt_after=2), n_players=N), k=3, budget=400, random_state=0)
    assert not top.learned
    assert len(top.players) == 3
    assert "nothing distinguishes the players yet" in top.headline
    assert str(top) == f"{top.headline}\nNo ranking: nothing distinguishes the players yet.\n{top.promise}"


def test_an_interrupt_before_the_empty_and_grand_values_are_known_is_raised():
    for paid in (0, 1):
        with pytest.raises(KeyboardInterrupt):
            topshap.identify(per_coalition(Paid(interrupt_after=paid), n_players=N), k=3)


def test_on_interrupt_raise_raises_the_interrupt():
    with pytest.raises(KeyboardInterrupt):
        topshap.identify(per_coalition(Paid(interrupt_after=50), n_players=N), k=3, on_interrupt="raise")


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to a process")
def test_a_real_ctrl_c_in_a_process_returns_the_current_result(tmp_path):
    script = textwrap.dedent(
        """
        import os, signal, topshap
        calls = 0
        def worth(coalition):
            global calls
            if calls == 50:
                os.kill(os.getpid(), signal.SIGINT)
            calls += 1
            return float(coalition[0])
        top = topshap.identify(topshap.games.per_coalition(worth, n_players=12), k=3, budget=400, random_state=0)
        print(top.stopped, calls - top.evaluations <= 1, top.evaluations >= 50, top.learned)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.split() == ["interrupted", "True", "True", "True"]


def test_values_from_several_calls_are_counted():
    def game(rows):
        if len(seen) == 5:
            signal.raise_signal(signal.SIGINT)
        seen.append(len(rows))
        return additive(rows)

    seen = []
    top = topshap.identify(Oracle(game, n_players=N, batch_size=10), k=3, budget=400, random_state=0)
    assert (top.stopped, top.evaluations) == ("interrupted", sum(seen))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.usefixtures("small_parts", "look_always")
def test_the_result_does_not_depend_on_how_batches_are_split(algorithm, monkeypatch):
    options = {"n_players": N, "k": 3, "budget": 300, "algorithm": algorithm, "random_state": 0}
    sizes = []

    def game(rows):
        sizes.append(len(rows))
        return additive(rows)

    divided = topshap.identify(game, **options, callback=lambda race: None, stop=TimeLimit(1e6))
    assert max(sizes) <= 7
    one_by_one = topshap.identify(Oracle(game, batch_size=1), **options, stop=TimeLimit(1e6))
    monkeypatch.setattr("topshap.evaluation.session.FIRST_ROWS", 10**6)
    whole = topshap.identify(game, **options, stop=TimeLimit(1e6))
    assert max(sizes) > 7 or algorithm in ("bus", "gap-e", "sar", "independent")
    for other in (one_by_one, whole):
        assert divided.estimates.tobytes() == other.estimates.tobytes()
        assert (divided.evaluations, divided.calls, divided.stopped) == (other.evaluations, other.calls, other.stopped)


HOW = [{}, {"batch_size": 1}, {"timeout": 60.0}, {"n_jobs": 2}]
HUNDREDS = {"n_players": 300, "k": 3, "budget": 15_000, "random_state": 0}
"""The first batch of such a run, without its first two coalitions, takes most of the budget."""


@pytest.mark.parametrize("how", HOW)
@pytest.mark.usefixtures("look_always")
def test_a_callback_ends_a_run_within_a_batch(how):
    paid = []

    def game(rows):
        paid.append(len(rows))
        return rows @ np.ones(300)

    with joblib.parallel_config(backend="threading"):
        top = topshap.identify(Oracle(game, **how), **HUNDREDS, callback=lambda race: race.evaluations > 90)
    assert top.stopped == "interrupted"
    # A part has as many coalitions as fit into the time, judging by the first two.
    assert 90 < top.evaluations == sum(paid) <= 2 + 2 * pace.GROWTH


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("stop", [TimeLimit(3.0), When(never) | TimeLimit(3.0), TimeLimit(3.0) & Budget(50)], ids=repr)
@pytest.mark.usefixtures("look_always")
def test_a_time_limit_ends_a_run_within_a_batch(how, stop, monkeypatch):
    now, paid = [0.0], []
    monkeypatch.setattr("topshap.core.race_state.RaceState.seconds", property(lambda race: now[0]))
    monkeypatch.setattr("topshap.driving.monotonic", lambda: now[0])

    def game(rows):
        paid.append(len(rows))
        now[0] += 0.1 * len(rows)
        return rows @ np.ones(300)

    with joblib.parallel_config(backend="threading"):
        top = topshap.identify(Oracle(game, **how), **HUNDREDS, stop=stop)
    assert top.stopped == "time"
    assert top.evaluations == sum(paid) <= 102


def test_other_criteria_wait_for_the_end_of_the_batch(look_always, small_parts):
    options = {"n_players": N, "k": 3, "budget": 400, "algorithm": "kernelshap", "random_state": 0}
    top = topshap.identify(additive, **options, stop=When(lambda race: race.evaluations >= 50) | TimeLimit(1e6))
    assert top.evaluations == 400


def test_an_async_run_ends_within_a_batch(look_always):
    paid = []

    async def worth(coalition):
        await asyncio.sleep(0)
        paid.append(1)
        return float(coalition @ WEIGHTS)

    game = per_coalition(worth, n_players=N)
    options = {"k": 3, "budget": 400, "random_state": 0, "concurrency": 4}
    top = asyncio.run(topshap.aidentify(game, **options, callback=lambda race: race.evaluations >= 60))
    assert top.stopped == "interrupted"
    assert 60 <= top.evaluations <= len(paid) <= 60 + 4
    assert top.learned


def test_the_number_of_values_in_a_part_is_checked(small_parts):
    for wrong in (lambda rows: np.ones(3), lambda rows: np.ones(len(rows) + 1)):
        with pytest.raises(GameError):
            topshap.identify(lambda rows, wrong=wrong: additive(rows) if len(rows) == 2 else wrong(rows), N, k=3)


def test_the_size_of_parts_follows_the_time_they_take():
    assert pace.next_rows(100, measured=100, seconds=60.0) == 100
    assert pace.next_rows(100, measured=100, seconds=0.05) == 1000
    assert pace.next_rows(100, measured=100, seconds=0.0) == 100 * pace.GROWTH
    assert pace.next_rows(50_000, measured=150, seconds=1e-6) == 50_000


class Noisy:
    """A game whose values drift from call to call, and that counts the coalitions it evaluates."""

    def __init__(self, drift):
        self.drift, self.asked = drift, 0

    def __call__(self, rows):
        self.asked += len(rows)
        return additive(rows) + self.drift * self.asked


@pytest.mark.parametrize("options", [{}, {"budget": 2**N}, {"store": True}])
def test_the_noise_check_reports_both_values_of_a_noisy_game(options, tmp_path):
    options = {**options, "store": topshap.Store(tmp_path / "s.db", "noisy")} if "store" in options else options
    with pytest.warns(
        topshap.NoisyGameWarning, match=r"the coalition \{.*\} has the value .* again, .*deterministic=False"
    ):
        topshap.identify(Noisy(1e-3), N, 3, check_deterministic=True, random_state=0, **options)


@pytest.mark.parametrize("drift", [0.0, 1e-16])
def test_the_check_repeats_three_coalitions_that_are_not_counted(drift, recwarn):
    game = Noisy(drift)
    top = topshap.identify(game, N, 3, budget=200, check_deterministic=True, random_state=0)
    assert top.evaluations == game.asked - 3 == 200
    assert not [w for w in recwarn if w.category is topshap.NoisyGameWarning]


@pytest.mark.parametrize("options", [{}, {"check_deterministic": True, "deterministic": False}])
def test_no_coalition_is_repeated_without_the_check_or_for_declared_noise(options, recwarn):
    game = Noisy(1e-3)
    top = topshap.identify(Oracle(game, **options), N, 3, budget=200, random_state=0)
    assert top.evaluations == game.asked
    assert not [w for w in recwarn if w.category is topshap.NoisyGameWarning]


def test_an_async_game_is_checked_too():
    async def worth(coalition):
        calls.append(1)
        return float(len(calls))

    calls = []
    game = per_coalition(worth, n_players=N)
    with pytest.warns(topshap.NoisyGameWarning):
        top = asyncio.run(topshap.aidentify(game, k=3, budget=100, check_deterministic=True, random_state=0))
    assert len(calls) == top.evaluations + 3
