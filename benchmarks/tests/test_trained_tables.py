"""Tables of trained models: known values are not trained again, and another game's file is refused."""

import numpy as np
import pytest

from topshap.core.errors import ParameterError
from topshap.games import RetrainingGame, TableGame
from topshap.reference.exact import value_table
from topshap_bench import sources, trained_tables


@pytest.fixture(scope="module")
def game():
    X, y = pytest.importorskip("sklearn.datasets").load_diabetes(return_X_y=True)
    return RetrainingGame.random_forest(X[:80, :3], y[:80], task="regression")


@pytest.mark.filterwarnings("ignore::tqdm.TqdmExperimentalWarning")
def test_a_table_is_complete_and_only_missing_values_are_trained(game, tmp_path, monkeypatch):
    path = tmp_path / "table.npz"
    table = trained_tables.complete_table(game, path, n_jobs=None, label="table")
    assert np.array_equal(table.values, value_table(game))
    assert np.array_equal(TableGame.load(path).values, table.values)
    unfinished = table.values.copy()
    unfinished[[2, 5]] = np.nan
    trained_tables.save_table(path, unfinished, game)
    trained = []
    monkeypatch.setattr(
        RetrainingGame, "__call__", lambda _, rows: trained.extend(rows.tolist()) or np.zeros(len(rows))
    )
    again = trained_tables.complete_table(game, path, n_jobs=None, label="table")
    assert trained == [[False, True, False], [True, False, True]]
    assert again.values[5] == 0.0


def test_a_file_of_another_game_is_refused(game, tmp_path):
    TableGame(np.zeros(8)).save(tmp_path / "table.npz")
    with pytest.raises(ParameterError, match="the values of another game"):
        trained_tables.complete_table(game, tmp_path / "table.npz", n_jobs=None, label="table")


def test_trained_tables_are_sources_of_the_family_global(tmp_path, monkeypatch):
    def made(name, folder, **_):
        folder.mkdir(parents=True, exist_ok=True)
        TableGame([0.0, 1.0, 2.0, 5.0]).save(folder / f"{name}.npz")
        return None, folder / f"{name}.npz"

    monkeypatch.setattr(sources, "trained_table", made)
    found = sources.trained(tmp_path)
    assert [(source.family, source.name) for source in found] == [("global", "diabetes"), ("global", "wine")]
    assert found == sources.from_folder(tmp_path)


def test_games_used_for_tuning_can_be_excluded(tmp_path):
    for family, names in (("a", "123"), ("b", "45")):
        (tmp_path / family).mkdir()
        for name in names:
            TableGame([0.0, 1.0]).save(tmp_path / family / f"{name}.npz")
    assert [source.name for source in sources.from_folder(tmp_path)] == ["1", "2", "3", "4", "5"]
    assert [source.name for source in sources.from_folder(tmp_path, half="judge")] == ["2", "5"]


def test_a_family_of_one_game_cannot_be_halved(tmp_path):
    (tmp_path / "a").mkdir()
    TableGame([0.0, 1.0]).save(tmp_path / "a" / "1.npz")
    with pytest.raises(ParameterError, match="at least two games of a family"):
        sources.from_folder(tmp_path, half="judge")


def test_an_unknown_name_is_refused():
    with pytest.raises(ParameterError, match="a synthetic game"):
        sources.Source("synthetic", "chess-12").open()


@pytest.mark.parametrize("source", sources.synthetic(), ids=lambda source: source.name)
def test_synthetic_games_are_the_same_in_every_process(source):
    opened = source.open()
    sources.forget_opened_games()
    assert source.open().fingerprint == opened.fingerprint
    assert source.open().in_unit("range") > 0.0
