"""Calls of a game: retries, time limits, and the search for the coalition that fails."""

import logging
import pickle
import random
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.coalitions import from_ids, to_ids
from topshap.core.errors import EvaluationError, GameError, ParameterError
from topshap.evaluation.bisection import evaluate
from topshap.evaluation.call import MAX_HANGS, CallPolicy, error_for, with_retries, with_timeout
from topshap.evaluation.pickling import picklable_error

QUICK = CallPolicy(retries=3, backoff=0.0)


def ids(rows):
    return to_ids(rows).astype(float)


class Flaky:
    """A game that fails a given number of times before it returns values."""

    def __init__(self, failures):
        self.failures = failures
        self.calls = 0

    def __call__(self, rows):
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError("no answer")
        return ids(rows)


def test_a_failed_call_is_retried_up_to_the_number_of_retries(caplog):
    game = Flaky(3)
    with caplog.at_level(logging.WARNING, "topshap"):
        values, failures = evaluate(game, from_ids(np.arange(8), 3), QUICK)
    np.testing.assert_array_equal(values, np.arange(8.0))
    assert (failures, game.calls) == ([], 4)
    assert sum("no answer" in message for message in caplog.messages) == 3


def test_three_retries_are_four_attempts_without_tenacity(monkeypatch):
    monkeypatch.setitem(sys.modules, "tenacity", None)
    game = Flaky(10)
    _, ((_, error),) = evaluate(game, from_ids(np.arange(1), 3), CallPolicy(retries=3, backoff=0.0))
    assert game.calls == 4
    assert not hasattr(error, "__notes__")
    assert "in 4 attempts" in str(error_for(np.array([True]), error, QUICK))


def test_without_retries_there_is_one_attempt():
    game = Flaky(1)
    _, ((row, error),) = evaluate(game, from_ids(np.arange(1), 3), CallPolicy(retries=0))
    assert (row, type(error), game.calls) == (0, ConnectionError, 1)


def test_a_name_error_is_not_retried():
    calls = []

    def unfinished(rows):
        calls.append(len(rows))
        return undefined_name  # type: ignore[name-defined]  # noqa: F821 - that is the mistake

    _, failures = evaluate(unfinished, from_ids(np.arange(1), 3), QUICK)
    assert calls == [1]
    assert "in 1 attempt: NameError" in str(error_for(np.array([True]), failures[0].error, QUICK))


def test_waits_double_and_have_jitter(monkeypatch):
    waits = []
    monkeypatch.setattr("topshap.evaluation.call.time.sleep", waits.append)
    state = random.getstate()
    evaluate(Flaky(5), from_ids(np.arange(1), 3), CallPolicy(retries=5, backoff=1.0))
    assert random.getstate() == state
    assert [int(np.log2(wait)) for wait in waits] == [0, 1, 2, 3, 4]
    assert len({wait / 2**i for i, wait in enumerate(waits)}) == 5


def test_waits_double_up_to_a_maximum_and_jitter_at_most_doubles_them(monkeypatch):
    waits = []
    monkeypatch.setattr("topshap.evaluation.call.time.sleep", waits.append)
    policy = CallPolicy(retries=2000, backoff=1.0)
    with pytest.raises(ConnectionError):
        with_retries(lambda: Flaky(1)(None), policy, attempts=2001)
    shortest = np.minimum(60.0, 2.0 ** np.arange(2000).clip(max=100))
    assert len(waits) == 2000
    assert (waits >= shortest).all()
    assert (waits <= 2 * shortest).all()


def test_an_earlier_attempt_counts_as_the_first(monkeypatch, caplog):
    waits = []
    monkeypatch.setattr("topshap.evaluation.call.time.sleep", waits.append)
    game = Flaky(10)
    with caplog.at_level(logging.WARNING, "topshap"), pytest.raises(ConnectionError):
        with_retries(lambda: game(None), QUICK, attempts=4, failed=ConnectionError("before"))
    assert (game.calls, len(waits)) == (3, 3)
    assert caplog.messages == [
        "attempt 1 of 4 failed: ConnectionError('before')",
        "attempt 2 of 4 failed: ConnectionError('no answer')",
        "attempt 3 of 4 failed: ConnectionError('no answer')",
    ]


@given(bad=st.sets(st.integers(0, 15), max_size=5))
def test_every_failing_coalition_is_reported_and_all_others_have_values(bad):
    def game(rows):
        if bad & set(to_ids(rows).tolist()):
            raise ValueError("bad")
        return ids(rows)

    values, failures = evaluate(game, from_ids(np.arange(16), 4), CallPolicy(retries=1, backoff=0.0))
    assert {row for row, _ in failures} == bad
    expected = np.arange(16.0)
    expected[list(bad)] = np.nan
    np.testing.assert_array_equal(values, expected)


def test_a_game_that_always_fails_is_given_up_after_a_few_calls_per_coalition():
    game = Flaky(10**9)
    values, failures = evaluate(game, from_ids(np.arange(64), 6), QUICK)
    assert np.isnan(values).all()
    assert len(failures) == 64
    assert game.calls <= 4 + 4 + 2 * 64


def test_each_coalition_has_its_own_attempts_if_some_calls_fail_at_random():
    rng = np.random.default_rng(0)

    def game(rows):
        if (rng.random(len(rows)) < 0.3).any():
            raise ConnectionError
        return ids(rows)

    values, failures = evaluate(game, from_ids(np.arange(64), 6), CallPolicy(retries=20, backoff=0.0))
    assert not failures
    np.testing.assert_array_equal(values, np.arange(64.0))


def test_a_game_error_is_not_retried():
    calls = []

    def game(rows):
        calls.append(len(rows))
        raise GameError("no number")

    _, ((_, error),) = evaluate(game, from_ids(np.arange(1), 3), QUICK)
    assert isinstance(error, GameError)
    assert calls == [1]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, None, "1.0", 1 + 0j])
def test_the_valid_values_are_kept_if_one_is_invalid(wrong):
    values, ((row, error),) = evaluate(lambda rows: [1.0, wrong, 3.0], from_ids(np.arange(3), 2), QUICK)
    assert row == 1
    assert isinstance(error, GameError)
    assert "{0}" in str(error)
    np.testing.assert_array_equal(values, [1.0, np.nan, 3.0])


def test_a_masked_value_is_missing():
    def game(rows):
        return np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])

    values, ((row, _),) = evaluate(game, from_ids(np.arange(3), 2), QUICK)
    assert row == 1
    np.testing.assert_array_equal(values, [1.0, np.nan, 3.0])


def endless():
    while True:
        yield 1.0


@pytest.mark.parametrize(
    "answer", [None, 1.0, "text", [1.0], [[1.0], [2.0, 3.0], []], {0: 1.0, 1: 2.0, 2: 3.0}, np.zeros((3, 1)), endless()]
)
def test_no_values_are_kept_if_their_shape_is_wrong(answer):
    values, ((row, error),) = evaluate(lambda rows: answer, from_ids(np.arange(3), 2), QUICK)
    assert np.isnan(values).all()
    assert row == 0
    assert isinstance(error, GameError)
    assert "{} and 2 more" in str(error)


def test_negative_zero_becomes_zero():
    values, _ = evaluate(lambda rows: np.array([-0.0]), from_ids(np.arange(1), 2), QUICK)
    assert not np.signbit(values).any()


def test_a_game_may_modify_the_coalitions_it_gets_and_fail():
    calls = []

    def game(rows):
        values = ids(rows)
        rows[:] = False
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionError
        return values

    values, _ = evaluate(game, from_ids(np.arange(8), 3), QUICK)
    np.testing.assert_array_equal(values, np.arange(8.0))


# Time limits.


def test_values_and_errors_within_the_time_limit_are_passed_on():
    assert with_timeout(10.0, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        with_timeout(10.0, lambda: 1 / 0)
    assert with_timeout(None, threading.get_ident) == threading.get_ident()


def test_numpy_error_settings_hold_within_a_time_limit():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        with_timeout(10.0, lambda: np.ones(1) / np.zeros(1))


def test_a_call_that_hangs_fails_and_all_others_have_values():
    release = threading.Event()
    hung = []

    def game(rows):
        if 5 in to_ids(rows):
            hung.append(len(rows))
            release.wait()
        return ids(rows)

    policy = CallPolicy(retries=1, timeout=0.05, backoff=0.0)
    values, ((row, error),) = evaluate(game, from_ids(np.arange(8), 3), policy)
    release.set()
    assert hung == [8, 8, 4, 2, 1, 1]
    assert row == 5
    assert isinstance(error, TimeoutError)
    assert "within 0.05 s" in str(error)
    assert np.flatnonzero(np.isnan(values)).tolist() == [5]


def test_a_game_that_always_hangs_is_given_up_within_the_maximal_time():
    release = threading.Event()
    calls = []

    def game(rows):
        calls.append(1)
        release.wait()

    policy = CallPolicy(retries=2, timeout=0.02, backoff=0.01)
    _, failures = evaluate(game, from_ids(np.arange(256), 8), policy)
    release.set()
    assert len(failures) == MAX_HANGS
    assert len(calls) * 0.02 <= policy.max_seconds(256)
    assert len(calls) < 20


# Errors.


def test_the_error_names_the_coalition_by_its_players_and_counts_the_attempts():
    policy = CallPolicy(retries=3, player_names=("age", "sex", "bmi"))
    error = error_for(np.array([True, False, True]), ConnectionError("no answer"), policy)
    assert isinstance(error, EvaluationError)
    assert str(error) == ("The coalition {age, bmi} could not be evaluated in 4 attempts: ConnectionError: no answer")
    assert error.coalition.tolist() == [True, False, True]


class UnreadableError(Exception):
    def __str__(self):
        raise RuntimeError("no message")


def test_an_error_whose_message_cannot_be_read_is_named_by_its_type():
    def fails(coalitions):
        raise UnreadableError

    error = error_for(np.array([True, False]), UnreadableError(), CallPolicy(retries=0))
    assert str(error) == "The coalition {0} could not be evaluated in 1 attempt: UnreadableError"
    assert str(picklable_error(UnreadableError())) == "UnreadableError"
    with pytest.raises(EvaluationError, match="UnreadableError"):
        topshap.identify(fails, 3, k=1)


def test_without_retries_the_error_counts_one_attempt():
    error = error_for(np.array([True]), ConnectionError("no answer"), CallPolicy(retries=0))
    assert "in 1 attempt: " in str(error)


def test_an_error_of_topshap_is_raised_unchanged():
    error = ParameterError("no")
    assert error_for(np.array([True]), error, QUICK) is error


class AwkwardError(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@pytest.mark.parametrize("error", [ValueError("bad"), AwkwardError(1, 2), EvaluationError("x", np.array([True]))])
def test_every_error_can_be_pickled_with_its_message_and_traceback(error):
    def game(rows):
        raise error

    _, ((_, raised),) = evaluate(game, from_ids(np.arange(1), 3), CallPolicy(retries=0))
    sent = pickle.loads(pickle.dumps(picklable_error(raised)))
    assert str(error) in str(sent)
    if not isinstance(error, EvaluationError):
        assert "test_call.py" in sent.__notes__[0]


@pytest.mark.parametrize(
    "mistake",
    [
        TypeError("unsupported operand"),
        AttributeError("no attribute"),
        IndexError("out of bounds"),
        KeyError("age"),
        ZeroDivisionError("division by zero"),
        AssertionError("not sorted"),
        UnboundLocalError("no value"),
    ],
    ids=repr,
)
def test_a_programming_error_is_not_retried(mistake):
    calls = []

    def game(rows):
        calls.append(len(rows))
        raise mistake

    with pytest.raises(topshap.EvaluationError, match="in 1 attempt: ") as raised:
        topshap.identify(topshap.Oracle(game, backoff=0.0), n_players=5, k=2)
    assert raised.value.__cause__ is mistake
    assert calls == [2, 1, 1]


@pytest.mark.parametrize(
    "error",
    [ConnectionError("reset"), TimeoutError("late"), OSError("busy"), RuntimeError("503"), ValueError("no JSON")],
)
def test_an_error_that_may_be_temporary_is_retried(error):
    calls = []

    def game(rows):
        calls.append(len(rows))
        if len(calls) == 1:
            raise error
        return rows.sum(axis=1)

    assert topshap.identify(topshap.Oracle(game, backoff=0.0), n_players=5, k=2).stopped == "exact"
    assert calls[:2] == [2, 2]


class Opaque:
    """An object that raises an exception whatever is asked of it."""

    def _fail(self, *arguments, **options):
        raise RuntimeError("not this way")

    __repr__ = __float__ = __len__ = __array__ = __iter__ = _fail


@pytest.mark.parametrize("options", [{}, {"timeout": 30.0}, {"batch_size": 1}])
@pytest.mark.parametrize("answer", [lambda rows: Opaque(), lambda rows: [Opaque() for _ in rows]])
def test_an_answer_that_cannot_be_read_is_not_the_loss_of_a_worker(answer, options):
    with pytest.raises(GameError, match=r"A game must return one number per coalition.*which cannot be converted"):
        topshap.identify(topshap.Oracle(answer, n_players=3, **options), k=1)


def test_a_function_that_returns_an_object_without_a_number_is_named_with_its_coalition():
    game = topshap.games.per_coalition(lambda coalition: Opaque(), player_names=["age", "bmi"])
    with pytest.raises(GameError, match=r"must return one number.*<Opaque object> of type Opaque for .* \{\}"):
        topshap.identify(topshap.Oracle(game, timeout=30.0), k=1)


def test_a_mistake_without_workers_is_raised_as_it_is(monkeypatch):
    def broken(*arguments):
        raise RuntimeError("a mistake in topshap")

    monkeypatch.setattr("topshap.evaluation.bisection.split_valid", broken)
    with pytest.raises(RuntimeError, match=r"^a mistake in topshap$"):
        topshap.Oracle(ids, n_players=3, timeout=30.0)(from_ids(np.arange(8), 3))
