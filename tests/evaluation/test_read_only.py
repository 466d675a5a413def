"""A store that cannot be written: its values are read, and nothing is paid for that it could not keep."""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

import topshap
from topshap import Store, StoredRace, StoreError, StoreWarning
from topshap.evaluation.store.check import StoreCheck

calls = []


def worth(row):
    calls.append(row)
    return float(np.arange(10.0) @ row)


def run(path, budget=100, **options):
    """Return a result and the number of evaluations it has paid for."""
    calls.clear()
    game = topshap.games.per_coalition(worth, n_players=10)
    store = Store(path, game="sum-v1")
    return topshap.identify(game, k=3, budget=budget, algorithm="cmcs", random_state=0, store=store, **options)


def test_a_store_on_a_read_only_file_system_is_read(disk):
    path = disk.path / "run.db"
    top = run(path)
    disk.make_read_only()
    again = run(path)
    assert calls == []
    np.testing.assert_array_equal(again.estimates, top.estimates)
    with Store(path) as store:
        assert store.info().evaluations == 100
        assert store.check() == StoreCheck(values=100)
        assert sum(len(values) for _, _, values in store.read()) == 100


@pytest.mark.parametrize("left", [["-wal", "-shm"], ["-wal"]])
def test_values_in_the_log_of_a_killed_process_are_read_on_a_read_only_file_system(disk, tmp_path_factory, left):
    path, elsewhere = disk.path / "run.db", tmp_path_factory.mktemp("elsewhere") / "run.db"
    with Store(elsewhere, game="sum-v1") as writer:
        run(elsewhere)
        writer.open()
        writer.add(np.ones((1, 10), dtype=bool), np.zeros(1))
        run(elsewhere, budget=120)
        for end in ("", *left):
            shutil.copy(f"{elsewhere}{end}", f"{path}{end}")
    assert path.with_name("run.db-wal").stat().st_size > 0
    disk.make_read_only()
    assert run(path, budget=120).evaluations == 120
    assert calls == []


def test_a_run_that_needs_more_than_a_read_only_store_has_fails_before_it_pays(disk):
    path = disk.path / "run.db"
    run(path)
    disk.make_read_only()
    with pytest.raises(StoreError, match=r"is read-only and does not have the values of \d+ coalitions"):
        run(path, budget=150)
    assert calls == []
    with Store(path, game="sum-v1") as store, pytest.raises(StoreError, match="is read-only"):
        StoredRace(topshap.Race(10, 3, budget=150, algorithm="cmcs", random_state=0), store)


def test_a_damaged_value_of_a_read_only_store_is_left_out(disk):
    path = disk.path / "run.db"
    run(path)
    with Store(path) as store:
        store.open()
        store._connection.execute("UPDATE evaluations SET value = value + 1 WHERE id = 50")
    disk.make_read_only()
    with pytest.warns(StoreWarning, match="1 damaged values in the store .* were left out"):
        ((rows, _, _),) = Store(path).read()
    with pytest.warns(StoreWarning, match="were left out"), pytest.raises(StoreError, match="values of 1 coalitions"):
        run(path)
    assert len(rows) == 99
    assert calls == []


@pytest.fixture
def open_folder():
    """A folder that other users can read, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


@pytest.mark.parametrize("protected", ["file", "folder"])
def test_a_store_without_write_permission_is_read(open_folder, protected):
    """The child of a fork gives up the rights of root, which would ignore permissions."""
    path = open_folder / "run.db"
    run(path)
    path.chmod(0o444 if protected == "file" else 0o666)
    open_folder.chmod(0o777 if protected == "file" else 0o555)
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            assert run(path).evaluations == 100
            assert calls == []
            with pytest.raises(StoreError, match="is read-only"):
                run(path, budget=150)
            assert calls == []
        except BaseException as error:
            print(repr(error))
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0
