"""A complete table as a game."""

import pickle
import zipfile

import numpy as np
import pytest

from topshap.core.coalitions import from_ids
from topshap.core.errors import GameError, ParameterError
from topshap.core.tables import shapley_from_table
from topshap.games import TableGame
from topshap.reference.exact import value_table

VALUES = np.random.default_rng(0).normal(size=16)


def test_a_coalition_has_the_value_at_its_id():
    game = TableGame(VALUES)
    assert game.n_players == 4
    np.testing.assert_array_equal(game(from_ids(np.array([5, 0, 15, 5]), 4)), VALUES[[5, 0, 15, 5]])
    assert game(np.zeros((0, 4), dtype=bool)).shape == (0,)


def test_enumerating_the_game_returns_the_table():
    np.testing.assert_array_equal(value_table(TableGame(VALUES)), VALUES)


def test_the_exact_values_are_computed_once():
    game = TableGame(VALUES)
    np.testing.assert_array_equal(game.shapley_values(), shapley_from_table(VALUES))
    assert game.shapley_values() is game.shapley_values()


def test_the_table_is_copied_and_read_only():
    mine = VALUES.copy()
    game = TableGame(mine)
    mine[0] = 99.0
    assert game.values[0] == VALUES[0]
    for array in (game.values, game.shapley_values(), pickle.loads(pickle.dumps(game)).values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99.0


@pytest.mark.parametrize("names", [None, ("a", "b", "ç", "d e")])
def test_a_saved_game_is_loaded(tmp_path, names):
    for path in (tmp_path / "game.npz", str(tmp_path / "no-suffix")):
        TableGame(VALUES, names).save(path)
        loaded = TableGame.load(path)
        np.testing.assert_array_equal(loaded.values, VALUES)
        assert loaded.player_names == names


def test_an_archive_with_values_alone_is_a_game(tmp_path):
    np.savez(tmp_path / "plain.npz", values=[0, 1, 2, 5])
    game = TableGame.load(tmp_path / "plain.npz")
    assert game.shapley_values().tolist() == [2.0, 3.0]
    assert game.player_names is None


def test_a_pickle_is_never_loaded(tmp_path):
    np.savez(tmp_path / "objects.npz", values=np.array([{}, {}], dtype=object))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps([0.0, 1.0]))
    for name in ("objects.npz", "pickle.npz"):
        with pytest.raises(ParameterError, match=f"{name}' instead, which cannot be read"):
            TableGame.load(tmp_path / name)


@pytest.mark.parametrize("damaged", ["values", "player_names"])
def test_an_archive_with_a_member_that_is_not_an_array_is_refused(tmp_path, damaged):
    path = tmp_path / "damaged.npz"
    np.savez(path, values=[0, 1], player_names=["a"])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[f"{damaged}.npy"] = b"damaged"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ParameterError, match=r"damaged.npz' instead, which cannot be read"):
        TableGame.load(path)


def test_a_file_that_is_not_an_archive_is_refused(tmp_path):
    np.save(tmp_path / "array.npy", VALUES)
    (tmp_path / "empty.npz").write_bytes(b"")
    TableGame(VALUES).save(tmp_path / "cut.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "cut.npz").read_bytes()[:100])
    for name in ("array.npy", "empty.npz", "cut.npz"):
        with pytest.raises(ParameterError, match=f"must be an .npz archive with the array 'values'. Got .*{name}"):
            TableGame.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        TableGame.load(tmp_path / "nowhere.npz")


def test_a_small_archive_that_unpacks_to_more_than_the_limit_is_refused(tmp_path):
    path = tmp_path / "zeros.npz"
    TableGame(np.zeros(2**17)).save(path)
    assert path.stat().st_size < 2**13
    with pytest.raises(ParameterError, match=r"zeros.npz' holds 1048\d+ bytes .* limit is 524288.*'max_bytes'"):
        TableGame.load(path, max_bytes=2**19)
    assert TableGame.load(path, max_bytes=2**20).n_players == 17


def test_an_array_that_declares_more_values_than_memory_holds_is_refused(tmp_path):
    path = tmp_path / "declared.npz"
    header = str({"descr": "<f8", "fortran_order": False, "shape": (2**55,)}).encode().ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("values.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(ParameterError, match=r"declared.npz' instead, which cannot be read"):
        TableGame.load(path)


def test_the_error_about_an_archive_without_values_lists_its_content(tmp_path):
    np.savez(tmp_path / "other.npz", table=VALUES)
    with pytest.raises(ParameterError, match=r"with the array 'values'.* which contains \['table'\]"):
        TableGame.load(tmp_path / "other.npz")


def test_an_invalid_table_is_refused():
    with pytest.raises(ParameterError, match="The 'values' parameter of TableGame must be"):
        TableGame([1.0, 2.0, 3.0])
    with pytest.raises(GameError, match=r"inf for \{0\}"):
        TableGame([0.0, np.inf])


@pytest.mark.parametrize("names", [["a"], ["a", "a"], "ab", ["a", "b", "c"]])
def test_names_that_do_not_match_the_players_are_refused(names):
    with pytest.raises(ParameterError, match="The 'player_names' parameter of TableGame must be"):
        TableGame([0.0, 1.0, 2.0, 5.0], names)


@pytest.mark.parametrize("coalitions", [np.zeros((2, 3), bool), np.zeros(4, bool), np.zeros((2, 4), int)])
def test_invalid_coalitions_are_refused(coalitions):
    with pytest.raises(ParameterError, match=r"must be a bool array of shape \(m, 4\)"):
        TableGame(VALUES)(coalitions)


@pytest.mark.parametrize(
    ("record", "place", "value"),
    [
        (b"PK\x01\x02", 10, 99),  # an unknown compression: NotImplementedError
        (b"PK\x01\x02", 8, 0b1000001),  # an encrypted entry: NotImplementedError or RuntimeError
        (b"PK\x05\x06", 16, 255),  # a directory behind the end of the file: OSError
    ],
)
def test_an_archive_with_a_damaged_directory_is_refused(tmp_path, record, place, value):
    TableGame(VALUES).save(tmp_path / "game.npz")
    data = bytearray((tmp_path / "game.npz").read_bytes())
    data[data.index(record) + place] = value
    (tmp_path / "game.npz").write_bytes(data)
    with pytest.raises(ParameterError, match="cannot be read"):
        TableGame.load(tmp_path / "game.npz")


def test_a_missing_archive_is_an_error_of_the_file_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        TableGame.load(tmp_path / "missing.npz")
