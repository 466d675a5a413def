"""Several outputs through every way of evaluation: workers, threads, async, stores, kill -9; the result is the same."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest

import topshap
from topshap import Oracle, Race, Store, StoredRace
from topshap.core.coalitions import from_ids, to_ids
from topshap.core.errors import EvaluationError, GameError, StoreError
from topshap.evaluation.bisection import evaluate
from topshap.evaluation.call import CallPolicy
from topshap.evaluation.store.export import export

OPTIONS = {"n_players": 8, "k": 3, "budget": 90, "algorithm": "kernelshap", "random_state": 3}
ROWS = from_ids(np.arange(16), 4)


def make_game():
    """Return a game with five outputs, whose values do not depend on the size of a batch, for workers too."""
    weights = np.random.default_rng(0).integers(-9, 10, size=(8, 5)).astype(float)

    def game(coalitions):
        sums = coalitions @ weights[: coalitions.shape[1]]
        return sums + np.sin(sums)

    return game


game = make_game()


@pytest.fixture(scope="module")
def expected():
    return topshap.identify(game, **OPTIONS)


def assert_same(tops, expected):
    assert isinstance(tops, topshap.TopKs)
    for name in ("players", "estimates", "std_errors", "empty", "grand", "covariance"):
        np.testing.assert_array_equal(getattr(tops, name), getattr(expected, name))
    assert (tops.evaluations, tops.stopped) == (expected.evaluations, expected.stopped)


class Recorded:
    """The game with a record of the coalitions that it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, coalitions):
        self.asked += to_ids(coalitions).tolist()
        return game(coalitions)


# Workers.


def test_workers_give_the_same_result(expected):
    assert_same(topshap.identify(game, n_jobs=2, **OPTIONS), expected)


def test_threads_give_the_same_result(expected):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_same(topshap.identify(game, **OPTIONS), expected)


def test_time_limits_and_small_batches_give_the_same_result(expected):
    assert_same(topshap.identify(Oracle(game, timeout=60.0, batch_size=7), **OPTIONS), expected)


def test_lists_give_the_same_result(expected):
    assert_same(topshap.identify(lambda coalitions: game(coalitions).tolist(), **OPTIONS), expected)


def test_retries_give_the_same_result(expected):
    failures = iter([True, False, True, True, False])

    def unreliable(coalitions):
        if next(failures, False):
            raise ConnectionError
        return game(coalitions)

    assert_same(topshap.identify(Oracle(unreliable, backoff=0.0), **OPTIONS), expected)


def test_a_game_of_one_coalition_at_a_time_gives_the_same_result(expected):
    one = topshap.games.per_coalition(lambda coalition: game(coalition[None])[0])
    assert_same(topshap.identify(one, **OPTIONS), expected)


def test_async_games_give_the_same_result(expected):
    async def answer(coalitions):
        await asyncio.sleep(0)
        return game(coalitions)

    assert_same(asyncio.run(topshap.aidentify(answer, check_deterministic=True, **OPTIONS)), expected)


def test_an_oracle_is_a_game_with_several_outputs():
    np.testing.assert_array_equal(Oracle(game)(ROWS), game(ROWS))
    np.testing.assert_array_equal(Oracle(game, n_jobs=2)(ROWS), game(ROWS))


# Failures.


def test_the_coalitions_that_fail_are_found():
    def fails(coalitions):
        if (to_ids(coalitions) == 5).any():
            raise KeyError
        return game(coalitions)

    values, failures = evaluate(fails, ROWS, CallPolicy(retries=0))
    assert [failure.row for failure in failures] == [5]
    np.testing.assert_array_equal(np.delete(values, 5, axis=0), np.delete(game(ROWS), 5, axis=0))
    assert np.isnan(values[5]).all()


@pytest.mark.parametrize("as_list", [False, True])
def test_a_coalition_with_nan_in_one_output_has_no_value(as_list):
    def answer(coalitions):
        values = game(coalitions)
        values[to_ids(coalitions) == 5, 2] = np.nan
        return values.tolist() if as_list else values

    values, failures = evaluate(answer, ROWS, CallPolicy(retries=0))
    assert [failure.row for failure in failures] == [5]
    assert "nan for {0, 2} in output 2" in str(failures[0].error)
    assert np.isnan(values[5]).all()
    assert np.isfinite(np.delete(values, 5, axis=0)).all()


def test_a_missing_row_in_a_list_is_a_failure_of_its_coalition():
    values, failures = evaluate(lambda rows: [[1.0, 2.0], None, [3.0, 4.0]], ROWS[:3], CallPolicy(retries=0))
    assert [failure.row for failure in failures] == [1]
    assert values[[0, 2]].tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    "answer", [[[1.0, 2.0], [3.0]], [[1.0, 2.0], []], [[], []], np.zeros((2, 0)), np.zeros((2, 1))]
)
def test_rows_of_the_wrong_length_are_refused_as_a_whole(answer):
    values, ((row, error),) = evaluate(lambda rows: answer, ROWS[:2], CallPolicy(retries=0))
    assert row == 0
    assert isinstance(error, GameError)
    assert np.isnan(values).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_number_of_outputs_that_depends_on_the_coalition_is_refused(n_jobs):
    def changing(coalitions):
        return game(coalitions)[:, : 3 if coalitions[0].sum() in (0, 8) else 4]

    with pytest.raises(GameError, match="numbers per coalition"):
        topshap.identify(changing, 8, k=2, budget=40, n_jobs=n_jobs)


def test_an_interrupted_run_returns_the_values_so_far():
    asked = []

    def slow(coalitions):
        asked.append(len(coalitions))
        if len(asked) == 20:
            raise KeyboardInterrupt
        return game(coalitions)

    tops = topshap.identify(Oracle(slow, batch_size=1, timeout=60.0), **OPTIONS)
    assert tops.stopped == "interrupted"
    assert tops.evaluations == 19
    assert tops.estimates.shape == (5, 8)


# Stores.


def test_a_store_answers_the_second_run(tmp_path, expected):
    first, second = Recorded(), Recorded()
    assert_same(topshap.identify(first, store=Store(tmp_path / "run.db", game="v1"), **OPTIONS), expected)
    assert_same(topshap.identify(second, store=Store(tmp_path / "run.db", game="v1"), **OPTIONS), expected)
    assert len(first.asked) == len(set(first.asked)) == 90
    assert second.asked == []


def test_workers_write_to_the_store(tmp_path, expected):
    path = tmp_path / "run.db"
    assert_same(topshap.identify(game, store=Store(path, game="v1"), n_jobs=2, **OPTIONS), expected)
    with Store(path) as store:
        assert (store.info().evaluations, store.info().identity.n_outputs) == (90, 5)
        assert store.check().values == 90


def test_async_runs_use_the_store(tmp_path, expected):
    async def answer(coalitions):
        return game(coalitions)

    store = Store(tmp_path / "run.db", game="v1")
    assert_same(asyncio.run(topshap.aidentify(answer, store=store, **OPTIONS)), expected)
    recorded = Recorded()
    assert_same(topshap.identify(recorded, store=store, **OPTIONS), expected)
    assert recorded.asked == []


def test_a_stored_race_asks_only_for_unknown_values(tmp_path, expected):
    def run():
        options = {name: value for name, value in OPTIONS.items() if name != "n_players"}
        race = StoredRace(Race(8, **options), Store(tmp_path / "run.db", game="v1"))
        asked = 0
        while not race.done:
            coalitions = race.ask()
            asked += len(coalitions)
            race.tell(game(coalitions))
        assert_same(race.result(), expected)
        return asked

    assert (run(), run()) == (90, 0)


def test_values_that_vary_are_stored_by_draw(tmp_path):
    def noisy(seed):
        rng = np.random.default_rng(seed)
        return Oracle(lambda rows: game(rows) + rng.normal(size=(len(rows), 5)), deterministic=False)

    options = OPTIONS | {"algorithm": "cmcs"}
    store = Store(tmp_path / "run.db", game="v1")
    first = topshap.identify(noisy(0), store=store, **options)
    assert_same(topshap.identify(noisy(1), store=store, **options), first)


OTHER_OUTPUTS = {
    "fewer": (lambda rows: game(rows)[:, :3], "5 outputs there and 3 outputs here"),
    "one number": (lambda rows: game(rows)[:, 0], "5 outputs there and one number per coalition here"),
}


@pytest.mark.parametrize("kind", OTHER_OUTPUTS)
def test_a_store_with_another_number_of_outputs_is_refused(tmp_path, kind):
    other, message = OTHER_OUTPUTS[kind]
    path = tmp_path / "run.db"
    topshap.identify(game, store=Store(path, game="v1"), **OPTIONS)
    with pytest.raises(StoreError, match=message):
        topshap.identify(other, store=Store(path, game="v1"), **(OPTIONS | {"random_state": 4}))
    with Store(path) as store:
        assert store.check().values == len(store) == 90


def test_a_store_of_one_number_per_coalition_refuses_several_outputs(tmp_path):
    path = tmp_path / "run.db"
    topshap.identify(lambda rows: game(rows)[:, 0], store=Store(path, game="v1"), **OPTIONS)
    with pytest.raises(StoreError, match="one number per coalition there and 5 outputs here"):
        topshap.identify(game, store=Store(path, game="v1"), **(OPTIONS | {"random_state": 4}))


def test_declared_outputs_are_refused_before_anything_is_evaluated(tmp_path):
    class Declared(Recorded):
        n_outputs = 5

    class Other(Recorded):
        output_names = ("a", "b")

    topshap.identify(Declared(), store=Store(tmp_path / "run.db", game="v1"), **OPTIONS)
    other = Other()
    with pytest.raises(StoreError, match="5 outputs there and 2 outputs here"):
        topshap.identify(other, store=Store(tmp_path / "run.db", game="v1"), **OPTIONS)
    assert other.asked == []


def version_of(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_only_stores_of_several_outputs_have_the_new_format(tmp_path):
    topshap.identify(game, store=Store(tmp_path / "several.db", game="v1"), **OPTIONS)
    topshap.identify(lambda rows: game(rows)[:, 0], store=Store(tmp_path / "one.db", game="v1"), **OPTIONS)
    assert (version_of(tmp_path / "one.db"), version_of(tmp_path / "several.db")) == (1, 2)


def test_a_damaged_value_is_evaluated_again(tmp_path, expected):
    path = tmp_path / "run.db"
    topshap.identify(game, store=Store(path, game="v1"), **OPTIONS)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE evaluations SET value = zeroblob(40) WHERE id IN (7, 8)")
        connection.execute("UPDATE evaluations SET value = zeroblob(39) WHERE id = 9")
    with Store(path) as store:
        assert store.check().damaged == 3
    recorded = Recorded()
    with pytest.warns(topshap.StoreWarning, match="3 damaged values"):
        assert_same(topshap.identify(recorded, store=Store(path, game="v1"), **OPTIONS), expected)
    assert len(recorded.asked) == 3


def test_a_damaged_file_is_repaired(tmp_path):
    path = tmp_path / "run.db"
    topshap.identify(game, store=Store(path, game="v1"), **OPTIONS)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE evaluations SET value = zeroblob(40) WHERE id = 7")
    assert Store(path).check(repair=True).values == 89
    with Store(path) as store:
        assert (len(store), store.info().identity.n_outputs, version_of(path)) == (89, 5, 2)
        blocks = list(store.read())
    np.testing.assert_array_equal(blocks[0][2], game(blocks[0][0]))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_export_has_a_column_per_output(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    store = Store(tmp_path / "run.db", game="v1")
    topshap.identify(game, store=store, **OPTIONS)
    assert export(store, tmp_path / f"run{suffix}") == 90
    table = (pandas.read_csv if suffix == ".csv" else pandas.read_parquet)(tmp_path / f"run{suffix}")
    assert list(table.columns) == [*(f"in_{i}" for i in range(8)), "draw", *(f"value_{r}" for r in range(5))]
    np.testing.assert_array_equal(table.iloc[:, 9:].to_numpy(), game(table.iloc[:, :8].to_numpy().astype(bool)))


SCRIPT = """
import sys, time, numpy as np, topshap
def worth(row):
    with open(sys.argv[2], "a") as log:
        log.write(row.tobytes().hex() + "\\n")
    time.sleep(0.005)
    return np.where(row, np.arange(10.0), 0.0).sum() * np.array([1.0, -1.0, 0.5])
game = topshap.games.per_coalition(worth, n_players=10)
store = topshap.Store(sys.argv[1], game="slow-v1")
print("start", flush=True)
tops = topshap.identify(game, k=3, budget=120, random_state=0, store=store)
print(tops.estimates.tobytes().hex(), tops.players.tolist(), tops.evaluations, flush=True)
"""


@pytest.mark.parametrize("evaluated", [3, 60])
def test_a_killed_run_continues_where_it_stopped(tmp_path, evaluated):
    log, command = tmp_path / "log", [sys.executable, "-c", SCRIPT, str(tmp_path / "run.db"), str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not log.exists() or len(log.read_text().split()) < evaluated:
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    resumed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert len(log.read_text().split()) <= 121  # at most the one in flight is repeated
    command[3] = str(tmp_path / "other.db")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == resumed


def test_an_error_of_the_game_names_its_coalition():
    def fails(coalitions):
        if (coalitions.sum(axis=1) == 4).any():
            raise ValueError("no answer")
        return game(coalitions)

    with pytest.raises(EvaluationError, match="no answer"):
        topshap.identify(Oracle(fails, retries=0), **OPTIONS)
