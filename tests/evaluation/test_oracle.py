"""Oracle and identify: the way of evaluation does not change the result, and no value is lost or evaluated twice."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap import Oracle, Store
from topshap.core.coalitions import keys
from topshap.core.errors import EvaluationError, GameError, ParameterError, StoreError, TopshapError
from topshap.evaluation.batches import split_batch
from topshap.games import per_coalition

N = 10


def additive(rows):
    return np.where(rows, np.arange(float(N)), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 3]


class Paid:
    """A game that records the coalitions it evaluates."""

    n_players = N

    def __init__(self, game=additive):
        self.game = game
        self.asked = []
        self.sizes = []

    def __call__(self, rows):
        self.asked += keys(rows)
        self.sizes.append(len(rows))
        return self.game(rows)


def run(game=additive, **options):
    return topshap.identify(game, **({"n_players": N, "k": 3, "budget": 150, "random_state": 0} | options))


def same(one, other):
    assert one.players.tolist() == other.players.tolist()
    assert one.estimates.tobytes() == other.estimates.tobytes()
    assert one.std_errors.tobytes() == other.std_errors.tobytes()
    assert (one.evaluations, one.calls, one.stopped) == (other.evaluations, other.calls, other.stopped)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "run.db", game="additive-v1")


# Independence of batches and workers.


@pytest.mark.parametrize("algorithm", ["auto", "cmcs", "greedy-cmcs"])
@pytest.mark.parametrize("options", [{"batch_size": 1}, {"batch_size": 7}, {"max_batch_bytes": 1}, {"timeout": 60.0}])
def test_the_result_does_not_depend_on_how_batches_are_split(algorithm, options):
    same(run(Oracle(additive, **options), algorithm=algorithm), run(algorithm=algorithm))


@pytest.mark.parametrize(
    ("backend", "n_jobs"),
    [
        ("threading", 2),
        ("threading", 8),
        ("multiprocessing", 2),
        ("loky", 2),
        pytest.param("loky", 8, marks=pytest.mark.cluster),
    ],
)
def test_the_result_does_not_depend_on_workers(backend, n_jobs):
    def game(rows):
        return np.where(rows, np.arange(10.0), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 3]

    with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
        same(run(game), run(n_jobs=1))


def test_n_jobs_overrides_the_joblib_context():
    process = []

    def game(rows):
        process.append(threading.get_ident())
        return additive(rows)

    with joblib.parallel_config(backend="threading", n_jobs=4):
        run(game, n_jobs=1)
    assert set(process) == {threading.get_ident()}


def test_workers_are_busy_at_the_same_time():
    together = threading.Barrier(2, timeout=30)

    def game(rows):
        together.wait()
        return additive(rows)

    with joblib.parallel_config(backend="threading", n_jobs=2):
        same(run(game), run())


def test_a_game_that_cannot_be_pickled_is_refused_for_processes_and_runs_in_threads():
    lock = threading.Lock()

    def game(rows):
        with lock:
            return additive(rows)

    with pytest.raises(ParameterError, match=r"can be pickled.*backend='threading'"):
        run(game, n_jobs=2)
    with joblib.parallel_config(backend="threading"):
        same(run(game, n_jobs=2), run())


def test_a_worker_unpickles_a_game_once():
    class Game:
        n_players = N

        def __setstate__(self, state):
            self.made = time.monotonic_ns() % 2**40

        def __getstate__(self):
            return {}

        def __call__(self, rows):
            return np.full(len(rows), float(self.made))

    with joblib.parallel_config(backend="loky", n_jobs=2):
        values = Oracle(Game(), batch_size=1)(np.random.default_rng(0).random((12, N)) < 0.5)
    assert len(set(values)) <= 2


def test_a_large_game_is_sent_to_processes():
    payload = np.random.default_rng(0).random(500_000)  # 4 MB

    def game(rows):
        return np.where(rows, payload[:10], 0.0).sum(axis=1) + payload.sum()

    with joblib.parallel_config(backend="loky", n_jobs=2):
        same(run(Oracle(game, batch_size=10)), run(game, n_jobs=1))


# Batches.


@given(
    rows=st.integers(0, 500),
    n=st.integers(1, 50),
    workers=st.integers(1, 9),
    size=st.none() | st.integers(1, 100),
    most_bytes=st.integers(1, 5000),
)
def test_batches_are_in_order_within_the_limit_and_keep_all_workers_busy(rows, n, workers, size, most_bytes):
    batches = split_batch(rows, n, workers=workers, batch_size=size, max_batch_bytes=most_bytes)
    assert [row for batch in batches for row in batch] == list(range(rows))
    most = min(max(1, most_bytes // n), size or rows)
    assert all(1 <= len(batch) <= most for batch in batches)
    assert len(batches) >= min(workers, rows)


def test_a_vectorised_game_gets_whole_batches_and_a_function_of_one_coalition_gets_single_ones():
    game = Paid()
    run(game, algorithm="cmcs", budget=100)  # larger batches may be split, so that a run can end within them
    race = topshap.Race(N, 3, budget=100, algorithm="cmcs", random_state=0)
    sizes = []
    while not race.done:
        rows = race.ask()
        sizes.append(len(rows))
        race.tell(additive(rows))
    assert game.sizes == sizes
    oracle = Oracle(per_coalition(lambda row: 1.0, n_players=N))
    assert oracle.options.batch_size == 1


def test_max_batch_bytes_limits_the_batches():
    game = Paid()
    run(Oracle(game, max_batch_bytes=N * 5))
    assert max(game.sizes) == 5


# The store.


def test_no_stored_coalition_is_evaluated_twice(store):
    first, again = Paid(), Paid()
    same(run(first, store=store), run(again, store=store))
    assert len(set(first.asked)) == len(first.asked) == 150
    assert again.asked == []


def test_the_store_does_not_change_the_result(store):
    same(run(store=store), run())


@pytest.mark.parametrize("algorithm", ["auto", "cmcs", "kernelshap"])
@pytest.mark.parametrize("after", [0, 1, 2, 30, 149])
def test_an_aborted_run_continues_where_it_ended(store, algorithm, after):
    calls = []

    def breaks(rows):
        calls.append(len(rows))
        if len(calls) > after:
            raise SystemExit
        return additive(rows)

    with pytest.raises(SystemExit):
        run(Oracle(breaks, batch_size=1), algorithm=algorithm, store=store)
    rest = Paid()
    same(run(rest, algorithm=algorithm, store=store), run(algorithm=algorithm))
    assert len(rest.asked) == 150 - after


@pytest.mark.parametrize("algorithm", ["cmcs", "approshapley"])
def test_a_larger_budget_evaluates_only_new_coalitions(store, algorithm):
    run(algorithm=algorithm, store=store)
    more = Paid()
    same(run(more, algorithm=algorithm, budget=400, store=store), run(algorithm=algorithm, budget=400))
    assert len(more.asked) == 250


def test_a_smaller_epsilon_evaluates_only_new_coalitions(store):
    game = topshap.games.TableGame(np.random.default_rng(0).normal(size=2**N))
    options = {"k": 2, "budget": None, "algorithm": "cmcs@k", "guarantee": "published"}
    loose = run(game, epsilon=1.0, store=store, **options)
    more = Paid(game)
    tight = run(more, epsilon=0.1, store=store, **options)
    assert len(more.asked) == tight.evaluations - loose.evaluations > 0


def test_another_seed_uses_stored_values(store):
    run(store=store)
    other = Paid()
    same(run(other, store=store, random_state=1), run(random_state=1))
    assert len(other.asked) < 150


def test_a_path_is_enough_for_a_game_with_a_fingerprint(tmp_path):
    class Game(Paid):
        fingerprint = "abc"

    run(Game(), store=tmp_path / "run.db")
    again = Game()
    run(again, store=str(tmp_path / "run.db"))
    assert again.asked == []
    assert Store(tmp_path / "run.db").info().identity.fingerprint == "abc"
    assert Oracle(again).fingerprint == "abc"


def test_a_path_alone_is_refused_for_a_game_without_a_fingerprint(tmp_path):
    with pytest.raises(ParameterError, match=r"'store' parameter of identify .*Store\(path, game='my-game-v1'\)"):
        run(store=tmp_path / "run.db")
    assert not (tmp_path / "run.db").exists()


def test_the_store_of_another_game_is_refused_before_any_evaluation(tmp_path, store):
    run(store=store)
    with pytest.raises(StoreError, match="it is called 'additive-v1' there and 'additive-v2' here"):
        run(lambda rows: pytest.fail("called"), store=Store(tmp_path / "run.db", game="additive-v2"))


def test_equal_rows_are_evaluated_once(store):
    game = Paid()
    rows = np.repeat(np.eye(N, dtype=bool), 3, axis=0)
    oracle = Oracle(game, store=store)
    np.testing.assert_array_equal(oracle(rows), additive(rows))
    np.testing.assert_array_equal(oracle(rows[::-1]), additive(rows[::-1]))
    assert len(game.asked) == N
    store.close()


# Noise.


class Noisy:
    deterministic = False
    n_players = N

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.calls = 0

    def __call__(self, rows):
        self.calls += len(rows)
        return additive(rows) + self.rng.normal(size=len(rows))


def test_repeated_evaluations_of_a_noisy_game_count_and_the_result_mentions_the_noise():
    game = Noisy(0)
    top = topshap.identify(game, k=3, budget=3000, algorithm="cmcs", random_state=0)
    assert game.calls == top.evaluations == 3000  # of 1024 coalitions
    assert not top.deterministic
    assert "values vary" in str(top)


def test_an_oracle_can_declare_that_values_vary():
    top = run(Oracle(additive, deterministic=False), budget=1500, algorithm="cmcs")
    assert (top.deterministic, top.evaluations) == (False, 1500)


def test_a_resumed_noisy_run_reads_the_same_values_again(store):
    first = Noisy(0)
    options = {"k": 3, "budget": 1200, "algorithm": "cmcs", "random_state": 0, "store": store}

    def breaks(race):
        return race.evaluations > 700

    partial = topshap.identify(Oracle(first, batch_size=40), callback=breaks, **options)
    assert partial.stopped == "interrupted"
    paid = first.calls
    rest = topshap.identify(first, **options)
    assert first.calls == 1200
    assert paid < 1200
    again = topshap.identify(Noisy(99), **options)
    same(rest, again)
    assert store.info().evaluations == 1200 > store.info().coalitions
    store.close()


def test_a_store_of_exact_values_is_not_used_for_noisy_ones(store):
    run(store=store)
    with pytest.raises(StoreError, match="do not vary from call to call there and vary"):
        run(Oracle(additive, deterministic=False), store=store)


# Ctrl-C and callbacks.


def interrupting(after):
    calls = []

    def game(rows):
        calls.append(1)
        if len(calls) == after:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.0)
        return additive(rows)

    return Oracle(game, batch_size=1)


def test_ctrl_c_returns_the_current_result_and_leaves_the_store_intact(store, caplog):
    with caplog.at_level(logging.WARNING, "topshap"):
        top = run(interrupting(100), store=store)
    assert top.stopped == "interrupted"
    assert 2 <= top.evaluations < 100
    assert "interrupted after" in caplog.text
    assert store.info().evaluations == 99
    rest = Paid()
    same(run(rest, store=store), run())
    assert len(rest.asked) == 51


def test_ctrl_c_raises_with_on_interrupt_raise_or_before_the_first_values(store):
    with pytest.raises(KeyboardInterrupt):
        run(interrupting(100), store=store, on_interrupt="raise")
    assert store.info().evaluations == 99
    store.close()
    with pytest.raises(KeyboardInterrupt):
        run(interrupting(2))


def test_ctrl_c_while_workers_are_busy_returns_the_current_result():
    def game(rows):
        time.sleep(0.01 * len(rows))
        return np.where(rows, np.arange(10.0), 0.0).sum(axis=1)

    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        Oracle(game)(np.eye(N, dtype=bool))  # the workers are up
        timer.start()
        top = run(Oracle(game, batch_size=5), budget=900, algorithm="cmcs")
    assert top.stopped == "interrupted"
    assert 2 <= top.evaluations < 900


def test_the_callback_gets_the_race_after_every_batch_and_may_end_it():
    seen = []

    def callback(race):
        seen.append(race.evaluations)
        return race.evaluations >= 60

    top = run(callback=callback)
    assert seen == sorted(seen)
    assert seen[0] == 2
    assert (top.evaluations, top.stopped) == (seen[-1], "interrupted")
    same(run(callback=lambda race: None), run())
    same(run(callback=lambda race: 1), run())


def test_an_error_in_a_callback_is_raised():
    with pytest.raises(ZeroDivisionError):
        run(callback=lambda race: 1 / 0)


# Options.


def test_options_of_the_call_are_added_to_those_of_the_oracle(store):
    oracle = Oracle(additive, retries=7)
    changed = oracle.with_options(n_jobs=2, store=store)
    assert (changed.options.retries, changed.options.n_jobs, changed.options.store) == (7, 2, store)
    run(oracle, store=store)
    assert store.info().evaluations == 150
    store.close()


def test_results_show_the_names_given_to_the_oracle():
    names = [f"p{i}" for i in range(N)]
    for oracle in (Oracle(additive, player_names=names), Oracle(additive, n_players=N, player_names=names)):
        assert oracle.player_names == tuple(names)
        assert run(oracle).player_names == tuple(names)
        other = [name.upper() for name in names]
        assert run(oracle, player_names=other).player_names == tuple(other)
    with pytest.raises(
        ParameterError, match="'player_names' parameter of identify must be one name for each of the 10"
    ):
        run(Oracle(additive, player_names=names[:3]))
    with pytest.raises(ParameterError, match=r"'player_names' parameter .*must be one name for each of the 10"):
        Oracle(additive, player_names=names[:3])(np.eye(N, dtype=bool))


def test_the_batch_size_of_a_game_limits_its_batches():
    game = Paid()
    game.batch_size = 7  # type: ignore[attr-defined]
    same(run(game), run())
    assert max(game.sizes) == 7
    assert Oracle(game, batch_size=3).options.batch_size == 3
    game.batch_size = "auto"  # type: ignore[attr-defined]
    assert Oracle(game).options.batch_size is None


WRONG = [
    ({"player_names": 3}, "one name per player"),
    ({"player_names": ["a", "a"]}, "distinct names"),
    ({"retries": -1}, "an int of at least 0"),
    ({"timeout": 0}, "a finite number above 0"),
    ({"backoff": -1.0}, "a finite number of at least 0"),
    ({"n_jobs": 0}, "an int other than 0"),
    ({"n_jobs": True}, "an int other than 0"),
    ({"batch_size": 0}, "an int of at least 1"),
    ({"max_batch_bytes": 0}, "an int of at least 1"),
    ({"n_players": 0}, "an int of at least 1"),
    ({"n_players": 3, "player_names": ["a"]}, "one name for each of the 3 players"),
    ({"store": 3}, "a path, a Store or None"),
]


@pytest.mark.parametrize(("wrong", "right"), WRONG, ids=[str(case[0]) for case in WRONG])
def test_the_error_about_an_invalid_option_names_it(wrong, right):
    with pytest.raises(ParameterError, match=f"parameter of Oracle must be .*{right}"):
        Oracle(additive, **wrong)


def test_an_oracle_is_a_game():
    game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    oracle = Oracle(game, retries=5)
    assert (oracle.n_players, oracle.player_names, oracle.deterministic) == (3, None, True)
    np.testing.assert_allclose(topshap.exact.shapley_values(oracle), [3.0, 1.0, 2.0])
    assert pickle.loads(pickle.dumps(oracle)).options.retries == 5


def test_importing_topshap_imports_no_joblib_and_no_asyncio():
    heavy = "{'joblib', 'cloudpickle', 'tqdm', 'pandas', 'asyncio', 'typer'}"
    code = f"import sys, topshap; found = {heavy} & sys.modules.keys(); assert not found, found"
    subprocess.run([sys.executable, "-c", code], check=True)


# Failures.


def test_a_failing_coalition_is_named_after_all_other_values_are_stored(store):
    bad = np.arange(N) < 4

    def game(rows):
        if (rows == bad).all(axis=1).any():
            raise ConnectionError("no answer")
        return additive(rows)

    rows = np.concatenate([np.eye(N, dtype=bool), bad[None], ~np.eye(N, dtype=bool)])
    names = [f"p{i}" for i in range(N)]
    oracle = Oracle(game, n_players=N, player_names=names, store=store, retries=1, backoff=0.0)
    with pytest.raises(EvaluationError, match=r"\{p0, p1, p2, p3\} could not be evaluated in 2 attempts") as raised:
        oracle(rows)
    assert isinstance(raised.value.__cause__, ConnectionError)
    np.testing.assert_array_equal(raised.value.coalition, bad)
    assert store.info().evaluations == 2 * N
    store.close()


class Broken:
    """A game that misbehaves at random and records the values it returned correctly."""

    n_players = 6

    def __init__(self, kind, chance, seed):
        self.kind, self.chance = kind, chance
        self.rng = np.random.default_rng(seed)
        self.given = {}
        self.calls = 0

    def __call__(self, rows):
        self.calls += 1
        values = np.where(rows, np.arange(6.0), 0.0).sum(axis=1)
        if self.rng.random() >= self.chance:
            self.given |= dict(zip(keys(rows), values.tolist(), strict=True))
            return values
        if self.kind == "raise":
            raise self.rng.choice([ValueError, ConnectionError, MemoryError, TimeoutError])("broken")
        if self.kind == "hang":
            time.sleep(0.05)
            return values
        spoiled = values.astype(object)
        spoiled[self.rng.integers(len(rows))] = {"nan": np.nan, "text": "x", "none": None, "complex": 1j}.get(self.kind)
        answers = {"short": values[1:], "column": values[:, None], "nothing": None, "dict": {}}
        return answers.get(self.kind, spoiled.tolist())


KINDS = ["raise", "hang", "nan", "text", "none", "complex", "short", "column", "nothing", "dict"]


@settings(max_examples=60)
@given(
    kind=st.sampled_from(KINDS),
    chance=st.sampled_from([0.02, 0.3, 1.0]),
    seed=st.integers(0, 99),
    batch_size=st.sampled_from([None, 1, 5]),
    retries=st.integers(0, 3),
)
def test_a_broken_game_never_hangs_and_never_gives_wrong_values(
    tmp_path_factory, *, kind, chance, seed, batch_size, retries
):
    game = Broken(kind, chance, seed)
    store = Store(tmp_path_factory.mktemp("fuzz") / "run.db", game="broken")
    oracle = Oracle(game, batch_size=batch_size, retries=retries, backoff=0.0, timeout=0.02, store=store)
    options = {"k": 2, "budget": 40, "random_state": seed}
    top = error = None
    with suppress(TopshapError):
        try:
            top = topshap.identify(oracle, **options)
        except TopshapError as raised:
            error = raised
            raise
    assert game.calls <= 40 * 2 * (retries + 2)  # at most 40 batches: all attempts, then bisection
    if top is not None:
        same(top, topshap.identify(Broken("none", 0.0, 0), **options))
    else:
        assert isinstance(error, EvaluationError if kind in ("raise", "hang") else GameError)
        assert "{" in str(error)
    if store.path.exists():
        stored = {
            key: value
            for rows, _, values in store.read()
            for key, value in zip(keys(rows), values.tolist(), strict=True)
        }
        store.close()
        right = {key: float(np.arange(6) @ np.frombuffer(key, dtype=bool)) for key in stored}
        assert stored == right
        assert game.given.keys() <= stored.keys() or kind == "hang"
