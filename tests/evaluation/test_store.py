"""The store: values are read as written, other games and files are refused, and damage loses little."""

import json
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import warnings
from contextlib import closing
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap import Store, StoreError, StoreWarning
from topshap.core.coalitions import from_ids
from topshap.evaluation.store import repair, schema
from topshap.evaluation.store.check import StoreCheck
from topshap.evaluation.store.identity import Identity

GAME = Identity("a" * 64, 10)


def coalitions(count, n=10):
    return from_ids(np.arange(count), n)


def filled(path, count=300, identity=GAME):
    """A closed store with the values 0.1 * id."""
    with Store(path) as store:
        store.open(identity)
        for start in range(0, count, 50):
            rows = coalitions(count)[start : start + 50]
            store.add(rows, 0.1 * np.arange(start, start + len(rows)))
    return Store(path)


def test_only_added_values_are_found(tmp_path):
    store = filled(tmp_path / "run.db")
    values, known = store.look_up(coalitions(400))
    np.testing.assert_array_equal(known, np.arange(400) < 300)
    np.testing.assert_array_equal(values[:300], 0.1 * np.arange(300))
    assert np.isnan(values[300:]).all()
    assert len(store) == 300


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 2000])
def test_a_store_takes_any_number_of_players(tmp_path, n):
    rng = np.random.default_rng(n)
    rows = np.unique(rng.random((50, n)) < 0.5, axis=0)
    numbers = rng.normal(size=len(rows))
    with Store(tmp_path / "run.db") as store:
        store.open(Identity("f", n))
        store.add(rows, numbers)
        np.testing.assert_array_equal(store.look_up(rows)[0], numbers)
        ((read, draws, values),) = store.read()
    np.testing.assert_array_equal(read, rows)
    np.testing.assert_array_equal(values, numbers)
    assert set(draws) == {0}


@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_every_finite_number_is_read_back_bit_identically(tmp_path_factory, numbers):
    told = np.array(numbers) + 0.0  # the sign of a zero is not kept
    with Store(tmp_path_factory.mktemp("store") / "run.db") as store:
        store.open(GAME)
        store.add(coalitions(len(told)), told)
        store.close()
        assert store.look_up(coalitions(len(told)))[0].tobytes() == told.tobytes()


def test_the_first_value_of_a_coalition_is_kept(tmp_path):
    store = filled(tmp_path / "run.db", 10)
    store.add(coalitions(20), np.full(20, 7.0))
    np.testing.assert_array_equal(store.look_up(coalitions(20))[0], [*(0.1 * np.arange(10)), *[7.0] * 10])
    assert len(store) == 20


def test_a_closed_store_reopens_when_used(tmp_path):
    store = filled(tmp_path / "run.db", 10)
    store.close()
    assert len(store) == 10
    store.close()
    assert store.info().evaluations == 10


def test_a_store_can_be_pickled(tmp_path):
    store = filled(tmp_path / "run.db", 10)
    assert len(store) == 10
    assert len(pickle.loads(pickle.dumps(store))) == 10


def test_a_forked_process_reopens_the_file(tmp_path):
    store = filled(tmp_path / "run.db", 10)
    assert len(store) == 10
    child = os.fork()
    if child == 0:
        try:
            store.add(coalitions(11)[10:], np.ones(1))
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(store) == 11


def test_info_has_the_game_and_the_number_of_values(tmp_path):
    info = filled(tmp_path / "run.db", 30).info()
    assert (info.identity, info.evaluations, info.coalitions) == (GAME, 30, 30)
    assert info.size > 0
    assert info.created.startswith("20")


def test_repeated_values_of_a_coalition_are_all_kept_in_order(tmp_path):
    rows = np.repeat(coalitions(2), 3, axis=0)
    store = Store(tmp_path / "run.db")
    store.open(Identity("noisy", 10, deterministic=False))
    store.add(rows, np.arange(6.0), [0, 1, 2, 0, 1, 2])
    store.add(rows[:1], [9.0], [1])  # another process has added this one already
    values, known = store.look_up(rows[[0, 0, 0, 0, 0]], [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(values[:4], [0.0, 1.0, 2.0, 9.0])
    assert known.tolist() == [True] * 4 + [False]


# The game of a store.


REFUSED = {
    "another fingerprint": (Identity("b" * 64, 10), "it has the fingerprint 'aaa.*' there and 'bbb.*' here"),
    "other players": (Identity("a" * 64, 11), "it has 10 players there and 11 here"),
    "noise": (Identity("a" * 64, 10, deterministic=False), "do not vary .* there and vary .* here"),
    "a name": (Identity("my-game", 10, named=True), "it is called 'aaa.*' there and 'my-game' here"),
}


def test_other_data_under_the_same_fingerprint_is_another_game(tmp_path):
    """A fingerprint given by the user does not replace those of documents, data and options."""

    def game(question):
        texts = {"a": "to be", "b": "or not", "question": question}
        return topshap.games.TextGame(
            lambda texts: [len(text) for text in texts], texts, always=["question"], fingerprint="my-model-v1"
        )

    path = tmp_path / "run.db"
    topshap.identify(game("Where?"), k=1, store=path)
    with pytest.raises(StoreError, match="function is called 'my-model-v1' in both, but its documents, data, options"):
        topshap.identify(game("When?"), k=1, store=path)


def test_the_error_about_a_fingerprint_of_an_earlier_version_explains_it(tmp_path):
    game = topshap.games.TextGame(lambda texts: [len(text) for text in texts], "to be", fingerprint="my-model-v1")
    with Store(tmp_path / "run.db") as store:
        store.open(Identity("my-model-v1", 2, player_names=("to", "be")))
    with pytest.raises(StoreError, match="earlier version of topshap identified it there by the fingerprint 'my-model"):
        topshap.identify(game, k=1, store=tmp_path / "run.db")


@pytest.mark.parametrize("kind", REFUSED)
def test_the_error_about_the_store_of_another_game_says_how_the_games_differ(tmp_path, kind):
    identity, how = REFUSED[kind]
    store = filled(tmp_path / "run.db", 10)
    store.close()
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(StoreError, match=f"belongs to another game: .*{how}"):
        store.open(identity)
    assert (tmp_path / "run.db").read_bytes() == before


def test_a_named_game_with_other_player_names_is_another_game(tmp_path):
    def game(rows):
        return rows.sum(axis=1)

    store = Store(tmp_path / "run.db", game="sum-v1")
    topshap.identify(game, 3, k=1, store=store, player_names=["a", "b", "c"])
    topshap.identify(game, 3, k=1, store=store)
    with pytest.raises(StoreError, match="player 1 is 'b' there and 'x' here"):
        topshap.identify(game, 3, k=1, store=store, player_names=["a", "x", "c"])


# Files that are not stores.


def test_a_file_that_is_not_a_database_is_refused_and_left_unchanged(tmp_path):
    path = tmp_path / "run.db"
    path.write_bytes(b"import os; os.system('true')")
    with pytest.raises(StoreError, match="not an SQLite file"):
        Store(path).open(GAME)
    assert path.read_bytes() == b"import os; os.system('true')"


def test_a_database_of_another_program_is_refused(tmp_path):
    path = tmp_path / "run.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE evaluations (x)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Store(path).open(GAME)


def meddle(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_store_of_a_later_version_is_refused(tmp_path):
    filled(tmp_path / "run.db", 10).close()
    meddle(tmp_path / "run.db", "PRAGMA user_version = 3")
    with pytest.raises(StoreError, match="later topshap: its format is 3, and this version reads up to 2"):
        Store(tmp_path / "run.db").open(GAME)


@pytest.mark.parametrize(
    "trap",
    [
        "CREATE TRIGGER trap AFTER INSERT ON evaluations BEGIN DELETE FROM evaluations; END",
        "CREATE VIEW trap AS SELECT load_extension('evil')",
        "CREATE TABLE more (x)",
        "ALTER TABLE evaluations ADD COLUMN x",
    ],
)
def test_a_store_with_other_tables_columns_views_or_triggers_is_refused(tmp_path, trap):
    filled(tmp_path / "run.db", 10).close()
    meddle(tmp_path / "run.db", trap)
    with pytest.raises(StoreError, match="other tables"):
        Store(tmp_path / "run.db").open(GAME)


HOSTILE = [
    "x",
    "[]",
    "null",
    '{"fingerprint": 1}',
    "[" * 100_000,
    json.dumps({"fingerprint": "f", "n_players": 1e9, "deterministic": True, "player_names": None, "named": False}),
    json.dumps({"fingerprint": "f", "n_players": 3, "deterministic": True, "player_names": ["a"], "named": False}),
    json.dumps({"fingerprint": "f", "n_players": 3, "deterministic": True, "player_names": None, "named": 1}),
    pickle.dumps(print).decode("latin1"),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_description_of_the_game_is_refused(tmp_path, text):
    filled(tmp_path / "run.db", 10).close()
    connection = sqlite3.connect(tmp_path / "run.db")
    connection.execute("UPDATE about SET text = ? WHERE name = 'game'", (text,))
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"run\.db' does not say which game"):
        Store(tmp_path / "run.db").open()


def test_nothing_that_could_execute_code_is_imported_to_read_a_store():
    """The modules that read a store do not import pickle."""
    for module in (
        schema,
        sys.modules["topshap.evaluation.store.store"],
        sys.modules["topshap.evaluation.store.repair"],
    ):
        assert not {"pickle", "marshal", "shelve", "cloudpickle"} & vars(module).keys()


def test_a_folder_or_a_file_in_a_missing_folder_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "run.db"):
        with pytest.raises(StoreError, match="cannot be"):
            Store(path).open(GAME)


def test_a_missing_store_has_no_info(tmp_path):
    with pytest.raises(StoreError, match="There is no store"):
        Store(tmp_path / "run.db").info()
    assert not (tmp_path / "run.db").exists()


@pytest.mark.parametrize("wrong", [{"path": 3}, {"path": ""}, {"path": "run.db", "game": 3}, {"path": "a", "game": ""}])
def test_a_wrong_path_or_name_is_refused(wrong):
    with pytest.raises(topshap.ParameterError, match="parameter of Store must be"):
        Store(**wrong)


# Damage.


def right_as_far_as_it_goes(store):
    """Look up all values, check those that are known, and return their number."""
    values, known = store.look_up(coalitions(300))
    np.testing.assert_array_equal(values[known], (0.1 * np.arange(300))[known])
    return int(known.sum())


def test_a_damaged_value_is_detected_and_skipped(tmp_path):
    filled(tmp_path / "run.db").close()
    meddle(tmp_path / "run.db", "UPDATE evaluations SET value = value + 1 WHERE id IN (5, 250)")
    with Store(tmp_path / "run.db") as store:
        store.open(GAME)
        with pytest.warns(StoreWarning, match=r"2 damaged values in the store .*run\.db' were removed"):
            assert right_as_far_as_it_goes(store) == 298
        store.add(coalitions(300), 0.1 * np.arange(300))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert right_as_far_as_it_goes(store) == 300


def test_a_run_evaluates_a_damaged_value_again(tmp_path):
    calls = []

    def game(rows):
        calls.append(len(rows))
        return rows @ np.array([3.0, 1.0, 2.0])

    store = Store(tmp_path / "run.db", game="sum-v1")
    first = topshap.identify(game, 3, k=1, store=store)
    meddle(tmp_path / "run.db", "UPDATE evaluations SET value = 100 WHERE id IN (4, 6)")
    calls.clear()
    with pytest.warns(StoreWarning, match="will be evaluated again"):
        again = topshap.identify(game, 3, k=1, store=store)
    assert sum(calls) == 2
    np.testing.assert_array_equal(again.estimates, first.estimates)
    calls.clear()
    topshap.identify(game, 3, k=1, store=store)
    assert calls == []


def test_a_damaged_value_is_not_read(tmp_path):
    filled(tmp_path / "run.db").close()
    meddle(tmp_path / "run.db", "UPDATE evaluations SET value = value + 1 WHERE id IN (5, 250)")
    with pytest.warns(StoreWarning, match="2 damaged values in the store .* were left out"):
        ((rows, _, values),) = Store(tmp_path / "run.db").read()
    assert len(rows) == 298
    np.testing.assert_array_equal(values, 0.1 * (rows @ 2 ** np.arange(10)))


@pytest.mark.parametrize("hostile", ["'text'", "9e999", "x'00'"])
def test_a_value_that_is_not_a_number_is_skipped(tmp_path, hostile):
    filled(tmp_path / "run.db").close()
    meddle(tmp_path / "run.db", f"UPDATE evaluations SET value = {hostile} WHERE id = 7")
    with Store(tmp_path / "run.db") as store:
        store.open(GAME)
        with pytest.warns(StoreWarning, match="1 damaged values"):
            assert right_as_far_as_it_goes(store) == 299


def test_opening_a_store_does_not_read_its_values(tmp_path, monkeypatch):
    """The time to open a store does not depend on the number of values."""
    path = tmp_path / "run.db"
    filled(path).close()
    statements = []
    connect = schema.connect

    def traced(path):
        connection = connect(path)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(schema, "connect", traced)
    for identity in (GAME, None):
        with Store(path) as store:
            store.open(identity)
    assert any("FROM about" in statement for statement in statements)
    assert not [statement for statement in statements if "evaluations" in statement or "check(" in statement]


def test_damaged_pages_are_recovered_when_they_are_read(tmp_path):
    path = tmp_path / "run.db"
    filled(path).close()
    content = bytearray(path.read_bytes())
    (leaf,) = [page for page in range(4096, len(content), 4096) if content[page] == 0x0D][-1:]
    content[leaf : leaf + 4096] = b"\xff" * 4096
    path.write_bytes(bytes(content))
    with Store(path) as store:
        store.open(GAME)
        with pytest.warns(StoreWarning, match=r"was damaged\. \d+ intact values are used"):
            known = right_as_far_as_it_goes(store)
        assert 0 < known < 300
        store.add(coalitions(300), 0.1 * np.arange(300))
        assert right_as_far_as_it_goes(store) == 300
        assert store.check().intact
    assert (tmp_path / "run.db.damaged-1").exists()


def pages_of(path, kind):
    """Return the numbers of the pages of a kind: 5 and 13 are of tables, inner and leaf, and 2 and 10 of indexes."""
    content = path.read_bytes()
    return [i for i in range(1, len(content) // 4096) if content[4096 * i] == kind]


@pytest.mark.parametrize("kind", [2, 5, 10])
@pytest.mark.parametrize("damage", [b"\0" * 4096, b"\xff" * 4096, np.random.default_rng(0).bytes(4096)], ids=range(3))
def test_no_intact_value_is_lost_if_an_index_or_an_inner_page_is_damaged(tmp_path, kind, damage):
    """Stores with a damaged index of the table that names their game could not be opened or repaired."""
    path = tmp_path / "run.db"
    filled(path, 900).close()
    content = path.read_bytes()
    pages = pages_of(path, kind)
    assert pages
    for i, page in enumerate(pages):
        copy = tmp_path / f"copy-{i}.db"
        copy.write_bytes(content[: 4096 * page] + damage + content[4096 * page + 4096 :])
        with Store(copy) as store, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            store.open(GAME)
            values, _ = store.look_up(coalitions(900))
            np.testing.assert_array_equal(values, 0.1 * np.arange(900))
            assert all("900 intact values are used, and 0 damaged ones were dropped" in str(w.message) for w in said)
        repaired = Store(copy).check(repair=True)
        assert repaired.values == 900
        assert Store(copy).check() == StoreCheck(values=900)


@pytest.mark.parametrize("n", [10, 40_000])
def test_rows_are_read_from_pages_as_sqlite_reads_them(tmp_path, n):
    """The coalitions of 40,000 players need overflow pages."""
    path = tmp_path / "run.db"
    rng = np.random.default_rng(0)
    rows = np.unique(rng.random((200, n)) < 0.5, axis=0)
    numbers = np.where(np.arange(len(rows)) % 3, rng.normal(size=len(rows)), np.arange(len(rows)))
    with Store(path) as store:
        store.open(Identity("f", n))
        store.add(rows, numbers)
    with closing(schema.connect(path)) as connection:
        (expected,) = schema.read(connection)
    assert [columns for _, columns in sorted(repair.readable(path))] == expected


def test_a_damaged_store_is_not_replaced_while_another_process_uses_it(tmp_path):
    """The values that the other process writes would go to the damaged file."""
    path = tmp_path / "run.db"
    filled(path, 900).close()
    content = bytearray(path.read_bytes())
    index = 4096 * pages_of(path, 10)[-1]
    content[index : index + 4096] = bytes(4096)
    path.write_bytes(bytes(content))
    command = [sys.executable, "-c", HOLDER, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with Store(path) as store:
            store.open(GAME)
            with pytest.raises(StoreError, match="is damaged and in use"):
                store.look_up(coalitions(900))
        other.communicate("end\n")
    with Store(path) as store:
        store.open(GAME)
        with pytest.warns(StoreWarning, match="900 intact values are used"):
            assert store.look_up(coalitions(900))[1].all()


HOLDER = """
import sys
from topshap import Store
store = Store(sys.argv[1])
store.open()
print("open", flush=True)
sys.stdin.readline()
"""


def test_the_warning_says_how_many_values_were_dropped(tmp_path):
    path = tmp_path / "run.db"
    filled(path, 900).close()
    content = bytearray(path.read_bytes())
    leaf = 4096 * pages_of(path, 13)[2]
    lost = int.from_bytes(content[leaf + 3 : leaf + 5], "big")
    content[leaf : leaf + 4096] = bytes(4096)
    path.write_bytes(bytes(content))
    with Store(path) as store:
        store.open(GAME)
        with pytest.warns(StoreWarning, match=f"{900 - lost} intact values are used, and {lost} damaged ones were dro"):
            store.look_up(coalitions(900))


def test_a_store_that_has_lost_the_name_of_its_game_is_refused(tmp_path):
    path = tmp_path / "run.db"
    filled(path).close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(4096) + content[8192:])
    for attempt in (lambda: Store(path).open(GAME), lambda: Store(path).check(repair=True)):
        with pytest.raises(StoreError, match="damaged where it says which game it belongs to"):
            attempt()
    assert path.read_bytes()[8192:] == content[8192:]


def test_a_check_finds_every_damaged_value_and_changes_nothing(tmp_path):
    path = tmp_path / "run.db"
    filled(path).close()
    assert Store(path).check() == StoreCheck(values=300)
    meddle(path, "UPDATE evaluations SET value = value + 1 WHERE id IN (5, 250)")
    before = path.read_bytes()
    report = Store(path).check()
    assert (report.values, report.damaged, report.intact) == (298, 2, False)
    assert path.read_bytes() == before
    repaired = Store(path).check(repair=True)
    assert (repaired.values, repaired.damaged_file) == (298, tmp_path / "run.db.damaged-1")
    assert repaired.damaged_file.read_bytes() == before
    assert Store(path).check() == StoreCheck(values=298)


def test_a_check_finds_a_truncated_file(tmp_path):
    path = tmp_path / "run.db"
    filled(path).close()
    path.write_bytes(path.read_bytes()[:-4096])
    report = Store(path).check()
    assert report.problem is not None
    assert not report.intact
    assert Store(path).check(repair=True).values == report.values
    assert Store(path).check() == StoreCheck(values=report.values)


def test_a_missing_store_cannot_be_checked(tmp_path):
    with pytest.raises(StoreError, match="There is no store"):
        Store(tmp_path / "run.db").check()
    assert not (tmp_path / "run.db").exists()


def test_a_truncated_file_keeps_the_values_before_the_cut(tmp_path):
    path = tmp_path / "run.db"
    filled(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 4096])
    with Store(path) as store:
        with pytest.warns(StoreWarning, match="was damaged"):
            store.open(GAME)
        assert right_as_far_as_it_goes(store) >= 150
        store.add(coalitions(300), 0.1 * np.arange(300))
        assert right_as_far_as_it_goes(store) == 300


@pytest.mark.parametrize("missing", [3000, 5120, 7000])
def test_reading_a_file_truncated_within_a_page_ends(tmp_path, missing):
    """A search for rows after the cut returns rows before it, which must not lead to an endless loop."""
    path = tmp_path / "run.db"
    filled(path).close()
    path.write_bytes(path.read_bytes()[:-missing])
    assert len(list(islice(repair.readable(path), 10_000))) < 10_000
    with Store(path) as store:
        assert not store.check().intact
        with pytest.warns(StoreWarning, match="damaged"):
            assert right_as_far_as_it_goes(store) > 30


@settings(max_examples=60)
@given(data=st.data())
def test_random_damage_never_gives_a_wrong_value_and_is_always_reported(tmp_path_factory, data):
    """Damage to the index alone may lose a value without a warning: it is evaluated again, and a check finds it."""
    path = tmp_path_factory.mktemp("store") / "run.db"
    filled(path).close()
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with Store(path) as store, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            store.open(GAME)
            known = right_as_far_as_it_goes(store)
            intact = store.check().intact
        except StoreError:
            return
    assert known == 300 or not intact or any(issubclass(warning.category, StoreWarning) for warning in said)


WRITER = """
import os, sys, numpy as np
from topshap import Store
from topshap.core.coalitions import from_ids
from topshap.evaluation.store.identity import Identity
store = Store(sys.argv[1])
store.open(Identity("a" * 64, 10))
for start in range(0, 300, 50):
    store.add(from_ids(np.arange(start, start + 50), 10), 0.1 * np.arange(start, start + 50))
os._exit(0)  # killed: nothing is closed
"""


@pytest.mark.parametrize(("torn", "lost"), [(0, 0), (100, 50), (4096 + 24 + 100, 50)])
def test_a_truncated_log_loses_only_its_last_batch_with_a_warning(tmp_path, torn, lost):
    path = tmp_path / "run.db"
    subprocess.run([sys.executable, "-c", WRITER, path], check=True)
    log = tmp_path / "run.db-wal"
    log.write_bytes(log.read_bytes()[: log.stat().st_size - torn])
    with Store(path) as store:
        if lost:
            with pytest.warns(StoreWarning, match="last batch .* was cut short"):
                store.open(GAME)
        assert right_as_far_as_it_goes(store) == 300 - lost


# Several processes.


SHARER = textwrap.dedent("""
    import sys, numpy as np, topshap
    def game(rows):
        return np.where(rows, np.arange(12.0), 0.0).sum(axis=1)
    oracle = topshap.Oracle(game, batch_size=3)
    store = topshap.Store(sys.argv[1], game="shared-v1")
    top = topshap.identify(oracle, 12, k=3, budget=600, algorithm="cmcs", random_state=int(sys.argv[2]), store=store)
    print(top.estimates.tobytes().hex())
""")


def test_two_processes_share_a_store_without_losing_or_repeating_a_row(tmp_path):
    def start(seed):
        command = [sys.executable, "-c", SHARER, tmp_path / "run.db", str(seed)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    together = [start(0), start(1)]
    results = [process.communicate(timeout=120) for process in together]
    assert [process.returncode for process in together] == [0, 0], results
    game = topshap.Oracle(lambda rows: np.where(rows, np.arange(12.0), 0.0).sum(axis=1))
    asked = set()
    for seed in (0, 1):
        race = topshap.Race(12, 3, budget=600, algorithm="cmcs", random_state=seed)
        while not race.done:
            rows = race.ask()
            asked |= {row.tobytes() for row in rows}
            race.tell(game(rows))
        assert results[seed][0].strip() == race.result().estimates.tobytes().hex()
    with Store(tmp_path / "run.db") as store:
        ((rows, draws, values),) = store.read()
    assert sorted(row.tobytes() for row in rows) == sorted(asked)
    assert set(draws) == {0}
    np.testing.assert_array_equal(values, np.where(rows, np.arange(12.0), 0.0).sum(axis=1))


ADDER = """
import sys, numpy as np
from topshap import Store
from topshap.core.coalitions import from_ids
from topshap.evaluation.store.identity import Identity
with Store(sys.argv[1]) as store:
    store.open(Identity("a" * 64, 10))
    store.add(from_ids(np.arange(1, 2), 10), np.zeros(1))
"""


def test_closing_a_store_keeps_the_locks_of_another_connection(tmp_path):
    """Only SQLite may open the file: closing it in another way releases the locks that protect the log."""
    path = tmp_path / "run.db"
    with Store(path) as store, Store(path) as second:
        store.open(GAME)
        store.add(coalitions(1), np.zeros(1))
        second.open(GAME)
        subprocess.run([sys.executable, "-c", ADDER, path], check=True)
        store.add(coalitions(3)[2:], np.ones(1))
    assert Store(path).check() == StoreCheck(values=3)


def _open_at_once(path, gate):
    gate.wait()
    with Store(path) as store:
        store.open(GAME)
        store.add(coalitions(3), np.zeros(3))


def test_many_processes_can_create_the_same_store_at_the_same_time(tmp_path):
    context = multiprocessing.get_context("fork")
    gate = context.Event()
    processes = [context.Process(target=_open_at_once, args=(tmp_path / "run.db", gate)) for _ in range(8)]
    for process in processes:
        process.start()
    gate.set()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 8
    assert len(Store(tmp_path / "run.db")) == 3


def test_the_error_about_a_damaged_store_has_no_control_characters(tmp_path):
    path = tmp_path / "run.db"
    store = Store(path, game="sum-v1")
    topshap.identify(lambda rows: rows.sum(axis=1), 8, k=2, budget=20, random_state=0, store=store)
    store.close()
    content = bytearray(path.read_bytes())
    start = content.index(b"CREATE TABLE ") + len(b"CREATE TABLE ")
    content[start : start + 3] = b"\xff\n\x1b"
    path.write_bytes(content)
    with pytest.raises(StoreError) as raised:
        Store(path, game="sum-v1").info()
    assert str(raised.value).isprintable()
    assert "run.db" in str(raised.value)
