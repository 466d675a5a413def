"""Killed workers: the run finishes, no value is lost, and a coalition that always kills its worker is named."""

import os
import signal
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap import Oracle, Store
from topshap.core.errors import EvaluationError
from topshap.evaluation.call import CallPolicy
from topshap.evaluation.executors import Job
from topshap.evaluation.pickling import PickledGame
from topshap.evaluation.recovery import MAX_KILLERS, ClusterError, gather
from topshap.evaluation.results import BatchResult
from topshap.games import per_coalition

ROWS = 200


class Mortal:
    """Workers that are lost at certain rows, a given number of times, one by one or all together."""

    has_workers = True
    separate_processes = False

    def __init__(self, deadly, *, n_workers=2, attempts_alone=2, together=False, last=False):
        self.deadly = dict(deadly)
        self.n_workers, self.attempts_alone, self.together, self.last = n_workers, attempts_alone, together, last
        self.deaths = 0

    def run(self, job, batches):
        for at in range(0, len(batches), self.n_workers):
            running = batches[at : at + self.n_workers]
            for batch in running:
                if any(self._kills(int(row)) for row in batch):
                    self.deaths += 1
                    if self.last:
                        raise ClusterError("The cluster has no workers.")
                    if self.together:
                        raise ChildProcessError("worker died")
                    yield batch, None
                else:
                    yield batch, BatchResult(np.array([float(row) for row in batch]), [])

    def _kills(self, row):
        left = self.deadly.get(row, 0)
        self.deadly[row] = left - 1
        return left > 0


def gathered(workers, size):
    back = {}

    def take(batch, result):
        for row, value in zip(batch.tolist(), result.values.tolist(), strict=True):
            assert row not in back
            back[row] = value

    batches = np.array_split(np.arange(ROWS), ROWS // size)
    job = Job(PickledGame(lambda rows: rows), np.zeros((ROWS, 3), dtype=bool), CallPolicy)
    killers = gather(workers, job, batches, take)
    assert all(row == value for row, value in back.items())
    return back, {row for row, _ in killers}


for_ever = 10**9


@pytest.mark.parametrize("together", [True, False])
@given(
    deaths=st.dictionaries(st.integers(0, ROWS - 1), st.integers(1, 2), max_size=3),
    size=st.sampled_from([1, 5, 100]),
    n_workers=st.integers(1, 5),
)
def test_no_value_is_lost_with_workers_that_are_killed_from_outside(together, deaths, size, n_workers):
    back, killers = gathered(Mortal(deaths, together=together, n_workers=n_workers, attempts_alone=3), size)
    assert len(back) == ROWS
    assert not killers


@pytest.mark.parametrize(("together", "attempts_alone"), [(True, 2), (False, 2), (False, 1)])
@given(
    poison=st.sets(st.integers(0, ROWS - 1), min_size=1, max_size=MAX_KILLERS - 1),
    size=st.sampled_from([1, 5, 100]),
    n_workers=st.integers(1, 5),
)
def test_a_coalition_that_always_kills_its_worker_is_found_and_all_others_have_values(
    together, attempts_alone, poison, size, n_workers
):
    workers = Mortal(
        dict.fromkeys(poison, for_ever), together=together, attempts_alone=attempts_alone, n_workers=n_workers
    )
    back, killers = gathered(workers, size)
    assert killers == poison
    assert back.keys() == set(range(ROWS)) - poison
    assert workers.deaths < 40


@pytest.mark.parametrize("together", [True, False])
def test_a_game_that_kills_every_worker_is_given_up_after_a_limited_number_of_deaths(together):
    workers = Mortal(dict.fromkeys(range(ROWS), for_ever), together=together)
    back, killers = gathered(workers, 100)
    assert not back
    assert killers
    assert workers.deaths < 150


class Claiming(Mortal):
    """Workers of a run that evaluates the claimed rows of each batch only."""

    def run(self, job, batches):
        yield from super().run(job, list(job.claimed(batches)))


@pytest.mark.parametrize(("together", "attempts_alone"), [(True, 2), (False, 2), (False, 1)])
def test_a_batch_that_was_claimed_in_part_is_not_evaluated_twice(together, attempts_alone):
    workers = Claiming({42: for_ever}, together=together, attempts_alone=attempts_alone)
    counts = np.zeros(ROWS, dtype=int)

    def take(batch, result):
        counts[batch] += 1

    batches = np.array_split(np.arange(ROWS), ROWS // 5)
    coalitions = np.zeros((ROWS, 3), dtype=bool)
    job = Job(PickledGame(lambda rows: rows), coalitions, CallPolicy, lambda rows: rows[rows % 5 > 0])
    assert [row for row, _ in gather(workers, job, batches, take)] == [42]
    expected = (np.arange(ROWS) % 5 > 0).astype(int)
    expected[42] = 0
    np.testing.assert_array_equal(counts, expected)


def test_without_any_workers_left_there_are_no_retries_and_no_coalition_is_named():
    workers = Mortal({0: for_ever}, last=True)
    with pytest.raises(ClusterError, match=r"^The cluster has no workers\.$") as raised:
        gathered(workers, 5)
    assert raised.value.coalition is None
    assert workers.deaths == 1


class Exhaustible(Mortal):
    """Workers of which so many can be lost; then there are none."""

    def __init__(self, deadly, *, supply):
        super().__init__(deadly, attempts_alone=1)
        self.supply = supply

    def run(self, job, batches):
        if self.deaths >= self.supply:
            raise ClusterError("The cluster has no workers.")
        yield from super().run(job, batches)


def test_a_coalition_that_killed_its_worker_alone_is_named_even_if_no_workers_are_left():
    _, killers = gathered(Exhaustible(dict.fromkeys((40, 50, 60), for_ever), supply=2), 1)
    assert killers == {40}


def test_a_coalition_that_was_not_evaluated_alone_is_not_blamed():
    with pytest.raises(ClusterError, match=r"has no workers\. Workers were lost before\. A coalition may have killed"):
        gathered(Exhaustible(dict.fromkeys((40, 50, 60), for_ever), supply=1), 1)


class Contagious(Mortal):
    """Workers that, like those of dask, take innocent batches with them when they are lost."""

    def run(self, job, batches):
        for batch, result in super().run(job, batches):
            yield batch, None if len(batches) > 1 and self.deaths else result


@pytest.mark.parametrize("attempts_alone", [1, 2])
def test_innocent_coalitions_that_lose_their_worker_to_others_are_not_named(attempts_alone):
    poison = {10, 11}
    back, killers = gathered(Contagious(dict.fromkeys(poison, for_ever), attempts_alone=attempts_alone), 1)
    assert killers == poison
    assert back.keys() == set(range(ROWS)) - poison


def test_workers_that_are_lost_again_and_again_are_given_up_without_blame(monkeypatch):
    monkeypatch.setattr("topshap.evaluation.recovery.MAX_CRASHES", 3)

    class Unlucky(Mortal):
        def run(self, job, batches):
            if len(batches) > 1:
                raise ChildProcessError("worker died")
            yield from super().run(job, batches)

    with pytest.raises(ClusterError, match=r"Workers were lost 4 times, and no coalition.*worker died") as raised:
        gathered(Unlucky({}), 1)
    assert raised.value.coalition is None


# With real processes.


def test_after_a_killed_process_only_the_evaluations_in_flight_are_repeated(tmp_path):
    flag, log = tmp_path / "killed", tmp_path / "log"

    def worth(row):
        time.sleep(0.02)
        with log.open("a") as file:
            file.write("x\n")
        if row.sum() == 5 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(np.arange(10) @ row)

    game = per_coalition(worth, n_players=10)
    options = {"k": 3, "budget": 120, "algorithm": "cmcs", "random_state": 0}
    top = topshap.identify(game, n_jobs=2, **options)
    assert flag.exists()
    expected = topshap.identify(game, **options)
    np.testing.assert_array_equal(top.estimates, expected.estimates)
    # The second run, in this process, has 120 evaluations. The first repeats those that two workers were busy with, and
    # those whose results were on the way back, which joblib drops.
    assert 240 < len(log.read_text().split()) <= 240 + 10


def test_a_coalition_that_kills_its_worker_is_named_and_all_other_values_are_stored(tmp_path):
    log = tmp_path / "killed"

    def worth(row):
        if row.tolist() == [True, True, False, False, True, False]:
            with log.open("a") as file:
                file.write("x\n")
            os.kill(os.getpid(), signal.SIGKILL)
        return float(row.sum())

    game = per_coalition(worth, player_names=list("abcdef"))
    store = Store(tmp_path / "run.db", game="poison-v1")
    with pytest.raises(EvaluationError, match=r"\{a, b, e\} could not be evaluated: its worker was lost every time"):
        topshap.identify(Oracle(game, n_jobs=2, store=store), k=2, budget=64)
    assert 1 < len(log.read_text().split()) < 10
    assert store.info().evaluations == 63
    store.close()


@pytest.mark.cluster
def test_a_stopped_worker_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr("topshap.evaluation.executors.GRACE_SECONDS", 2.0)
    flag = tmp_path / "stopped"

    def worth(row):
        if row.sum() == 3 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return float(row.sum())

    oracle = Oracle(per_coalition(worth, n_players=6), timeout=0.2, retries=0, n_jobs=2)
    top = topshap.identify(oracle, k=2, budget=64)
    assert flag.exists()
    assert top.stopped == "exact"
