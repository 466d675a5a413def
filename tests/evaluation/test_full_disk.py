"""A disk that is full: it is reported as such, and what was paid for is used."""

import asyncio

import numpy as np
import pytest

import topshap
from topshap import Store, StoreError, StoreWarning
from topshap.evaluation.store.store import UnwrittenError

calls = []


def worth(row):
    calls.append(row)
    return float(np.arange(10.0) @ row)


async def async_worth(row):
    return worth(row)


GAME = topshap.games.per_coalition(worth, n_players=10)
OPTIONS = {"k": 3, "budget": 500, "algorithm": "cmcs", "random_state": 0}


@pytest.fixture(autouse=True)
def forget():
    calls.clear()


@pytest.mark.parametrize("free", [0, 8192])
def test_a_store_cannot_be_created_on_a_full_disk(disk, free):
    """It was reported as the file of another program."""
    (disk.path / "other").write_bytes(bytes(2**20 - free))
    with pytest.raises(StoreError, match=r"run\.db' cannot be used: .*disk"):
        topshap.identify(GAME, store=Store(disk.path / "run.db", game="sum-v1"), **OPTIONS)
    assert calls == []
    (disk.path / "other").unlink()
    with Store(disk.path / "run.db", game="sum-v1") as store:
        topshap.identify(GAME, store=store, **OPTIONS | {"budget": 3})
        assert len(store) == 3


def test_a_disk_that_becomes_full_ends_a_run_with_its_result(disk):
    (disk.path / "other").write_bytes(bytes(2**20 - 2**17))
    store = Store(disk.path / "run.db", game="sum-v1")
    with pytest.warns(StoreWarning, match=r"cannot be written: .*disk.* full.* not in the store: 1\."):
        top = topshap.identify(GAME, store=store, **OPTIONS)
    assert top.stopped == "interrupted"
    assert 2 < top.evaluations == len(calls) < 500
    assert len(store) == top.evaluations - 1
    assert store.check().intact
    store.close()


@pytest.fixture
def nearly_full(tmp_path, monkeypatch):
    """A store that takes 40 values."""
    add = Store.add

    def add_some(self, rows, values, draws=None):
        if len(self) + len(values) > 40:
            raise UnwrittenError("The store cannot be written: database or disk is full.")
        add(self, rows, values, draws)

    monkeypatch.setattr(Store, "add", add_some)
    return Store(tmp_path / "run.db", game="sum-v1")


def test_no_value_is_lost_if_the_store_cannot_be_written(nearly_full):
    with pytest.warns(StoreWarning, match=r"The run has ended early.* not in the store: 1\. Run it again"):
        top = topshap.identify(GAME, store=nearly_full, **OPTIONS)
    assert (top.stopped, top.evaluations, len(calls)) == ("interrupted", 41, 41)
    alone = topshap.identify(GAME, **OPTIONS | {"budget": 41})
    np.testing.assert_array_equal(top.estimates, alone.estimates)


def test_no_value_of_an_async_run_is_lost_if_the_store_cannot_be_written(nearly_full):
    game = topshap.games.per_coalition(async_worth, n_players=10)
    with pytest.warns(StoreWarning, match="not in the store: "):
        top = asyncio.run(topshap.aidentify(game, store=nearly_full, concurrency=1, **OPTIONS))
    assert (top.stopped, top.evaluations, len(calls)) == ("interrupted", 41, 41)


def test_an_error_is_raised_if_there_is_no_result_yet(nearly_full, monkeypatch):
    monkeypatch.setattr(Store, "__len__", lambda _: 40)
    with pytest.raises(StoreError, match="cannot be written"):
        topshap.identify(GAME, store=nearly_full, **OPTIONS)
    assert len(calls) == 1
