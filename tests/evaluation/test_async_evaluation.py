"""aidentify: concurrent coroutines, results in order, and an intact store after a cancellation."""

import asyncio
import sys

import numpy as np
import pytest

import topshap
from topshap import Oracle, Store
from topshap.core.errors import EvaluationError, GameError, ParameterError
from topshap.games import per_coalition

N = 8
OPTIONS = {"n_players": N, "k": 3, "budget": 80, "random_state": 0}


def additive(rows):
    return np.where(rows, np.arange(float(N)), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 3]


class Service:
    """An asynchronous game with random delays that records the largest number of concurrent calls."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.busy = self.most = self.calls = 0
        self.much_asked = asyncio.Event()

    async def __call__(self, rows):
        self.calls += len(rows)
        if self.calls >= 40:
            self.much_asked.set()
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await asyncio.sleep(self.rng.uniform(0.0, 0.003))
        finally:
            self.busy -= 1
        return additive(rows)


def arun(game, **options):
    return asyncio.run(topshap.aidentify(game, **(OPTIONS | options)))


@pytest.mark.parametrize("algorithm", ["auto", "cmcs"])
@pytest.mark.parametrize("concurrency", [1, 4, 1000])
def test_the_result_is_that_of_identify_for_any_concurrency(algorithm, concurrency):
    service = Service()
    top = arun(service, algorithm=algorithm, concurrency=concurrency)
    expected = topshap.identify(additive, algorithm=algorithm, **OPTIONS)
    assert top.estimates.tobytes() == expected.estimates.tobytes()
    assert service.calls == top.evaluations == 80
    assert service.most <= concurrency
    assert concurrency == 1 or service.most > 1


def test_coroutines_of_one_coalition_and_of_batches_give_the_same_result():
    async def worth(row):
        await asyncio.sleep(0)
        return additive(row[None])[0]

    sizes = []

    async def several(rows):
        sizes.append(len(rows))
        return additive(rows)

    expected = topshap.identify(additive, **OPTIONS).estimates.tobytes()
    assert arun(per_coalition(worth, n_players=N)).estimates.tobytes() == expected
    assert arun(Oracle(several, batch_size=10)).estimates.tobytes() == expected
    assert 1 < max(sizes) <= 10


def test_calls_are_in_flight_at_the_same_time():
    waiting = []
    all_waiting = asyncio.Event()

    async def worth(row):
        if 0 < row.sum() < N:
            waiting.append(1)
            if len(waiting) == 78:  # all but the first batch, the empty and the grand coalition
                all_waiting.set()
            await asyncio.wait_for(all_waiting.wait(), timeout=60.0)
        return float(row.sum())

    arun(per_coalition(worth, n_players=N), concurrency=80, algorithm="kernelshap")
    assert len(waiting) == 78


def test_no_stored_coalition_is_evaluated_twice(tmp_path):
    store = Store(tmp_path / "run.db", game="service-v1")
    first, again = Service(), Service(1)
    one, other = arun(first, store=store), arun(again, store=store)
    assert (first.calls, again.calls) == (80, 0)
    assert one.estimates.tobytes() == other.estimates.tobytes()


def test_a_cancelled_run_leaves_the_store_intact_and_no_running_calls(tmp_path):
    store = Store(tmp_path / "run.db", game="service-v1")
    service = Service()

    async def cancelled():
        task = asyncio.create_task(topshap.aidentify(service, store=store, concurrency=3, **OPTIONS))
        await service.much_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert service.busy == 0
        return service.calls

    paid = asyncio.run(cancelled())
    assert paid - 3 <= store.info().evaluations <= paid
    stored = store.info().evaluations
    rest = Service(2)
    top = arun(rest, store=store)
    assert top.estimates.tobytes() == topshap.identify(additive, **OPTIONS).estimates.tobytes()
    assert rest.calls == 80 - stored
    store.close()


class Stuck:
    """A game of one or several coalitions that no longer answers after 40 values, and counts those it has given."""

    def __init__(self):
        self.answered = 0
        self.stuck = asyncio.Event()

    async def worth(self, row):
        return (await self(row[None]))[0]

    async def __call__(self, rows):
        if self.answered >= 40:
            self.stuck.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.answered += len(rows)
        return additive(rows)

    async def one_at_a_time(self, rows):
        """Refuse several coalitions after the first two values."""
        if len(rows) > 1 and self.answered >= 2:
            raise ConnectionError
        return await self(rows)


async def by_cancel(run, stuck):
    task = asyncio.create_task(run)
    await stuck.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def by_timeout(run, stuck):
    async def within_limit():
        async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as group:
            group.create_task(expire(limit))
            await run

    async def expire(limit):
        await stuck.wait()
        limit.reschedule(asyncio.get_running_loop().time())

    with pytest.raises(TimeoutError):
        await within_limit()


GAMES = {
    "one": lambda stuck: Oracle(per_coalition(stuck.worth, n_players=N)),
    "one, in batches": lambda stuck: Oracle(per_coalition(stuck.worth, n_players=N), batch_size=20),
    "several": lambda stuck: Oracle(stuck, batch_size=5),
    "several that fail together": lambda stuck: Oracle(stuck.one_at_a_time, batch_size=20, retries=0),
}


@pytest.mark.parametrize("ended", [by_cancel, by_timeout])
@pytest.mark.parametrize("game", GAMES)
def test_no_value_is_paid_for_again_after_a_cancellation(tmp_path, game, ended):
    store = Store(tmp_path / "run.db", game="service-v1")
    stuck = Stuck()
    asyncio.run(ended(topshap.aidentify(GAMES[game](stuck), store=store, concurrency=3, **OPTIONS), stuck.stuck))
    assert stuck.answered >= 40
    assert store.info().evaluations == stuck.answered
    rest = Service()
    top = arun(rest, store=store)
    assert rest.calls == 80 - stuck.answered
    assert top.estimates.tobytes() == topshap.identify(additive, **OPTIONS).estimates.tobytes()
    store.close()


@pytest.mark.parametrize("finishes", [False, True])
def test_no_call_is_made_after_a_cancellation(tmp_path, finishes):
    store = Store(tmp_path / "run.db", game="service-v1")
    calls, waiting = [], asyncio.Event()

    async def stubborn(rows):
        calls.append(1)
        if len(calls) == 40:
            waiting.set()
            try:
                await asyncio.sleep(60.0)
            except asyncio.CancelledError:
                if not finishes:
                    raise ConnectionError from None
        return additive(rows)

    asyncio.run(by_cancel(topshap.aidentify(stubborn, store=store, concurrency=1, **OPTIONS), waiting))
    assert len(calls) == 40
    assert store.info().evaluations == 39 + finishes
    store.close()


def test_failed_calls_are_retried():
    calls = []

    async def worth(row):
        calls.append(1)
        if len(calls) % 3 == 0:
            raise ConnectionError
        return additive(row[None])[0]

    top = arun(Oracle(per_coalition(worth, n_players=N), backoff=0.0))
    assert top.evaluations == 80 < len(calls)


def test_three_retries_are_four_attempts_without_tenacity(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "tenacity", None)
    waits, sleep = [], asyncio.sleep

    def quick(seconds):
        waits.append(seconds)
        return sleep(0)

    monkeypatch.setattr("topshap.evaluation.async_evaluation.asyncio.sleep", quick)
    calls = []

    async def worth(row):
        calls.append(1)
        raise ConnectionError("no answer")

    with pytest.raises(EvaluationError, match="in 4 attempts: ConnectionError: no answer"):
        arun(Oracle(per_coalition(worth, n_players=N), retries=3, backoff=1.0), concurrency=1)
    assert len(calls) == 4 + 1  # the second coalition has one attempt, since the first has failed
    assert [int(np.log2(wait)) for wait in waits] == [0, 1, 2]
    assert [message[:14] for message in caplog.messages] == ["attempt 1 of 4", "attempt 2 of 4", "attempt 3 of 4"]


def test_a_permanent_failure_is_reported_after_all_other_values_are_stored(tmp_path):
    store = Store(tmp_path / "run.db", game="service-v1")

    async def worth(row):
        if row.all():
            await asyncio.sleep(60.0)
        return float(row.sum())

    oracle = Oracle(per_coalition(worth, n_players=N), timeout=0.05, retries=1, backoff=0.0, store=store)
    with pytest.raises(EvaluationError, match=r"\{0, 1, .*7\} .* 2 attempts: TimeoutError: no answer within 0.05 s"):
        arun(oracle)
    assert store.info().evaluations == 1
    store.close()


@pytest.mark.parametrize("answer", [float("nan"), "text", None])
def test_the_error_about_a_value_that_is_not_a_number_names_the_coalition(answer):
    async def worth(row):
        return answer

    with pytest.raises(GameError, match=r"\{\}"):
        arun(per_coalition(worth, n_players=N))


@pytest.mark.parametrize("game", [additive, per_coalition(lambda row: 1.0, n_players=N)])
def test_a_game_that_is_not_async_is_refused(game):
    with pytest.raises(ParameterError, match="'game' parameter of aidentify must be an async function"):
        arun(game)


def test_coalitions_that_fail_together_are_evaluated_one_by_one():
    async def several(rows):
        if len(rows) > 1:
            raise ConnectionError
        return additive(rows)

    oracle = Oracle(several, batch_size=20, retries=0)
    assert arun(oracle).estimates.tobytes() == topshap.identify(additive, **OPTIONS).estimates.tobytes()


def test_a_callback_may_end_the_run_and_progress_is_shown(capsys):
    top = arun(Service(), callback=lambda race: race.evaluations > 2, progress=True)
    assert top.stopped == "interrupted"
    assert top.evaluations < 80
    assert "evaluations" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"callback": 3}, {"k": 0}, {"store": "run.db"}])
def test_the_error_about_an_invalid_parameter_names_it(wrong):
    with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}' parameter of aidentify"):
        arun(Service(), **wrong)


def test_a_coroutine_that_raises_stop_iteration_is_described_by_it():
    async def game(coalition):
        raise StopIteration("no more answers")

    oracle = topshap.Oracle(game, n_players=3, batch_size=1)
    with pytest.raises(topshap.EvaluationError, match="StopIteration: no more answers"):
        asyncio.run(topshap.aidentify(oracle, k=1, budget=8))
