"""Direct calls of a vectorised game: few frames, one copy, one validation, and the same errors."""

import sys
import threading

import joblib
import numpy as np
import pytest

import topshap
from topshap import Oracle
from topshap.core import race as race_module
from topshap.core.errors import EvaluationError, GameError, TopshapError
from topshap.core.race import Race

N = 10
OPTIONS = {"n_players": N, "k": 3, "budget": 400, "random_state": 0, "algorithm": "greedy-cmcs"}
CAREFUL = [{"batch_size": 5}, {"timeout": 60.0}]
"""Options that prevent direct calls."""


def additive(rows):
    return np.where(rows, np.arange(float(N)), 0.0).sum(axis=1)


def frames_up_to(name):
    """Return the names of the functions on the stack, from the caller's caller up to the one with this name."""
    names, frame = [], sys._getframe(1)
    while frame is not None:
        names.append(frame.f_code.co_name)
        if names[-1] == name:
            return names
        frame = frame.f_back
    raise AssertionError(f"{name} is not on the stack")


@pytest.mark.parametrize("options", [{}, {"progress": True}, {"callback": lambda race: None}])
def test_at_most_five_frames_from_the_loop_to_the_game(options):
    stacks = []

    def game(rows):
        stacks.append(frames_up_to("drive"))
        return additive(rows)

    topshap.identify(game, **OPTIONS, **options)
    assert {tuple(stack) for stack in stacks} == {("game", "__call__", "drive")}
    assert max(map(len, stacks)) <= 5


def test_a_batch_is_copied_once_and_the_game_may_modify_its_copy(monkeypatch):
    class Counted(np.ndarray):
        """Coalitions that count how often they are copied."""

        copies = 0

        def copy(self, order="C"):
            Counted.copies += 1
            return np.array(self, order=order, subok=False)

        def __getitem__(self, rows):
            selected = super().__getitem__(rows)
            Counted.copies += not np.shares_memory(selected, self)
            return selected

    pending = Race.pending.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Race, "pending", property(lambda self: pending(self).view(Counted)))
    batches, kept = [], []

    def game(rows):
        batches.append(rows)
        kept.append(rows.copy())
        values = additive(rows)
        rows[:] = False  # a game may modify its argument
        return values

    top = topshap.identify(game, **OPTIONS)
    assert Counted.copies == len(batches) > 2
    assert all(type(rows) is np.ndarray and rows.flags.owndata and rows.flags.writeable for rows in batches)
    assert sum(map(len, kept)) == top.evaluations
    assert top.estimates.tobytes() == topshap.identify(additive, **OPTIONS).estimates.tobytes()


def test_the_pending_coalitions_of_a_race_are_read_only():
    race = Race(4, 2)
    with pytest.raises(ValueError, match="read-only"):
        race.pending[0, 0] = True
    np.testing.assert_array_equal(race.pending, race.ask())
    assert race.ask().flags.writeable


@pytest.mark.parametrize("counted", ["topshap.core.values", "topshap.core.race", "topshap.evaluation.results"])
def test_values_are_validated_once(monkeypatch, counted):
    checks, calls = [], []
    check_values = race_module.check_values  # type: ignore[attr-defined]

    def counting(*args):
        checks.append(1)
        return check_values(*args)

    def game(rows):
        calls.append(1)
        return additive(rows)

    monkeypatch.setattr(f"{counted}.check_values", counting)
    topshap.identify(game, **OPTIONS)
    assert len(checks) == (len(calls) if counted == "topshap.core.race" else 0)


def test_the_executor_is_selected_once_per_run(monkeypatch):
    from topshap.evaluation import session

    chosen = []
    choose = session.choose_executor  # type: ignore[attr-defined]
    monkeypatch.setattr(session, "choose_executor", lambda n_jobs: chosen.append(n_jobs) or choose(n_jobs))
    topshap.identify(additive, **OPTIONS)
    assert chosen == [None]


@pytest.mark.parametrize(
    "call", [lambda oracle: oracle(np.eye(N, dtype=bool)), lambda oracle: topshap.identify(oracle, **OPTIONS)]
)
def test_every_call_of_an_oracle_uses_the_current_joblib_context(call):
    threads = set()

    def game(rows):
        threads.add(threading.get_ident())
        return additive(rows)

    oracle = Oracle(game)
    call(oracle)
    assert threads == {threading.get_ident()}
    with joblib.parallel_config(backend="threading", n_jobs=2):
        call(oracle)
    assert len(threads) > 1
    threads.clear()
    call(oracle)
    assert threads == {threading.get_ident()}


def raised_by(game, **options):
    with pytest.raises(TopshapError) as raised:
        topshap.identify(Oracle(game, backoff=0.0, **options), **OPTIONS)
    return raised.value


ANSWERS = {
    "nan": lambda rows: np.where(rows.sum(axis=1) == 3, np.nan, 1.0),
    "infinity": lambda rows: np.where(rows.all(axis=1), np.inf, 1.0),
    "huge": lambda rows: np.where(rows.all(axis=1), 1e305, 1.0),
    "text in a list": lambda rows: ["x" if row.all() else 1.0 for row in rows],
    "None in a list": lambda rows: [None if row.all() else 1.0 for row in rows],
    "complex in an array": lambda rows: np.where(rows.all(axis=1), 1j, 1.0),
    "objects in an array": lambda rows: np.array(["x" if row.all() else 1.0 for row in rows], dtype=object),
    "masked": lambda rows: np.ma.masked_array(np.ones(len(rows)), mask=rows.all(axis=1)),
    "a column": lambda rows: np.ones((len(rows), 1)),
    "one number": lambda rows: 1.0,
    "an array of one number": lambda rows: np.ones(()),
    "too few": lambda rows: np.ones(len(rows) - 1),
    "nothing": lambda rows: None,
    "a dict": lambda rows: dict.fromkeys(range(len(rows)), 1.0),
    "text": lambda rows: "x" * len(rows),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_invalid_values_raise_the_same_error_as_with_a_time_limit(answer):
    direct, careful = (raised_by(ANSWERS[answer], **options) for options in ({}, {"timeout": 60.0}))
    assert isinstance(direct, GameError)
    assert str(direct) == str(careful)


@pytest.mark.parametrize("retries", [0, 1, 3])
@pytest.mark.parametrize("error", [ConnectionError("no answer"), NameError("typo"), GameError("no value")])
def test_a_failing_game_has_the_same_calls_and_error_as_with_a_time_limit(error, retries, caplog, monkeypatch):
    monkeypatch.setattr("topshap.evaluation.session.next_rows", lambda *_: 1000)  # otherwise the time splits batches
    calls = {}

    def run(**options):
        sizes = calls.setdefault(str(options), [])

        def game(rows):
            sizes.append(len(rows))
            if rows.sum(axis=1).max() == 9:
                raise error
            return additive(rows)

        caplog.clear()
        raised = raised_by(game, retries=retries, **options)
        return str(raised), sizes, list(caplog.messages)

    assert run() == run(timeout=60.0)


def test_a_failed_direct_call_counts_as_the_first_attempt(caplog):
    calls = []

    def game(rows):
        calls.append(len(rows))
        if len(calls) <= 3:
            raise ConnectionError("no answer")
        return additive(rows)

    top = topshap.identify(Oracle(game, backoff=0.0), **OPTIONS)
    assert calls[:4] == [2, 2, 2, 2]
    assert calls[4] > 2
    assert [message[:14] for message in caplog.messages] == ["attempt 1 of 4", "attempt 2 of 4", "attempt 3 of 4"]
    assert top.estimates.tobytes() == topshap.identify(additive, **OPTIONS).estimates.tobytes()


def test_the_error_holds_a_copy_of_the_coalition():
    def game(rows):
        raise ConnectionError("no answer")

    error = raised_by(game, retries=0)
    assert isinstance(error, EvaluationError)
    assert isinstance(error.__cause__, ConnectionError)
    assert error.coalition.flags.owndata
    assert error.coalition.tolist() == [False] * N


@pytest.mark.parametrize("careful", CAREFUL)
@pytest.mark.parametrize("kind", [list, tuple, np.float32, np.int64])
def test_every_numeric_type_gives_the_same_result(careful, kind):
    def game(rows):
        values = additive(rows)
        return values.astype(kind) if isinstance(kind, type) and issubclass(kind, np.generic) else kind(values)

    expected = topshap.identify(additive, **OPTIONS).estimates.tobytes()
    assert topshap.identify(game, **OPTIONS).estimates.tobytes() == expected
    assert topshap.identify(Oracle(game, **careful), **OPTIONS).estimates.tobytes() == expected


def test_negative_zero_becomes_zero_with_and_without_a_store(tmp_path):
    def game(rows):
        return np.where(rows.any(axis=1), -1.0, -0.0)

    results = [topshap.identify(game, **OPTIONS, store=store) for store in (None, topshap.Store(tmp_path / "z", "z"))]
    assert not np.signbit([top.empty for top in results]).any()
    assert results[0].estimates.tobytes() == results[1].estimates.tobytes()
