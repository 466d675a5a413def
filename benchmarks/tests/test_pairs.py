import numpy as np
import pytest
from typer.testing import CliRunner

from topshap.games import TableGame
from topshap_bench.best_rival import error_of_best
from topshap_bench.cli import build
from topshap_bench.external import Answer
from topshap_bench.pairs import comparison
from topshap_bench.pairs.comparison import SLOW, Setting, compare_pairs, exact_interactions
from topshap_bench.pairs.costs import costs
from topshap_bench.pairs.model_games import _save
from topshap_bench.pairs.report import BEST, OURS, PairRow, errors_of_runs, ratio
from topshap_bench.sources import Source


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for family in ("global", "other"):
        (tmp_path / family).mkdir()
        for name in ("a", "b"):
            TableGame(rng.random(2**7)).save(tmp_path / family / f"{name}.npz")
    return tmp_path


def test_the_command_prints_errors_by_family_and_budget(folder):
    arguments = ["pairs", "--games", str(folder), "--budget", "40", "--k", "2", "--k", "3", "--seeds", "1"]
    result = CliRunner().invoke(build(), arguments)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert any(line.startswith("global (tuned)") for line in lines)
    assert any(line.startswith("other") for line in lines)
    assert "p@2" in result.output


def test_budgets_that_cover_all_coalitions_are_left_out(folder):
    text = compare_pairs(folder, budgets=[40, 128], ks=[2], seeds=1, n_jobs=1)
    assert " 128 " not in text


@pytest.fixture
def runs(monkeypatch):
    """The runs of rivals as (name, budget, seed); all rivals answer the same."""
    made = []

    def estimate(name, game, *, budget, seed):
        made.append((name, budget, seed))
        return Answer(np.arange(21.0), budget, budget)

    monkeypatch.setattr(comparison, "estimate_pairs", estimate)
    return made


def test_a_rival_runs_once_per_seed_for_all_k(folder, runs):
    source = Source("other", "a", folder / "other" / "a.npz")
    rows = comparison.run_setting(Setting(source, False, 40, "proxyshap", (2, 3, 5), 1))
    assert runs == [("proxyshap", 40, 1)]
    assert [row.k for row in rows] == [2, 3, 5]
    assert all(row.coverage is None for row in rows)
    assert exact_interactions(source).shape == (21,)


def test_slow_rivals_have_one_run_at_some_budgets(folder, runs, monkeypatch):
    monkeypatch.setitem(SLOW, "svarmiq", (40,))
    text = compare_pairs(
        folder, families=["other"], budgets=[40, 60], ks=[2], seeds=2, rivals=["proxyshap", "svarmiq"], n_jobs=1
    )
    assert {run[1:] for run in runs if run[0] == "svarmiq"} == {(40, 0)}
    assert {run[1:] for run in runs if run[0] == "proxyshap"} == {(40, 0), (40, 1), (60, 0), (60, 1)}
    assert "svarmiq with one run and at 40 only" in text
    assert "best rival" in text


def test_runs_in_the_results_file_are_not_repeated(folder, runs, tmp_path):
    options = {"families": ["other"], "budgets": [40], "ks": [2], "rivals": ["proxyshap"], "n_jobs": 1}
    out = tmp_path / "pairs.csv"
    first = compare_pairs(folder, seeds=1, out=out, **options)
    assert runs == [("proxyshap", 40, 0)] * 2  # two games
    again = compare_pairs(folder, seeds=1, out=out, **options)
    assert again.split("CPU seconds")[0] == first.split("CPU seconds")[0]
    compare_pairs(folder, seeds=2, out=out, **options)
    assert runs[2:] == [("proxyshap", 40, 1)] * 2


def test_the_best_rival_is_chosen_for_every_game_and_k():
    errors = {OURS: (0.0, 0.09), "proxyshap": (0.19, 0.09), "svarmiq": (0.09, 0.19)}
    rows = [
        PairRow("a", "b", 100, name, k, 0, 0, error, 1.0, 0.0, None, 0.0, 1.0)
        for name, both in errors.items()
        for k, error in zip((3, 5), both, strict=True)
    ]
    errors, rivals = errors_of_runs(rows), ["proxyshap", "svarmiq"]
    assert ratio(errors, rows, "proxyshap", rivals) == pytest.approx(np.sqrt(0.05 * 1.0))
    assert ratio(errors, rows, "proxyshap", rivals, perfect=True) == pytest.approx(np.sqrt(0.05 * 0.1))
    assert ratio(errors, rows, BEST, rivals) == pytest.approx(np.sqrt(0.1 * 1.0))
    assert np.isnan(ratio(errors, rows, "kernelshapiq", rivals))


def test_the_time_of_interactions_is_printed_next_to_that_of_the_run(folder):
    text = costs([Source("other", "a", folder / "other" / "a.npz")], [40, 128], runs=1)
    lines = text.splitlines()
    assert "(7 to 7 players)" in lines[0]
    assert [line.split()[:2] for line in lines[3:]] == [["40", "1"]]


def test_games_of_models_are_complete_tables(tmp_path):
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    X = rng.random((30, 5))
    _save(LinearRegression(), X, X @ np.arange(5.0), [tmp_path / "0.npz"], classes=False)
    game = TableGame.load(tmp_path / "0.npz")
    assert game.n_players == 5
    assert exact_interactions(Source("model", "0", tmp_path / "0.npz")) == pytest.approx(0.0, abs=1e-12)


def test_rivals_of_shapiq_spend_the_budget():
    pytest.importorskip("shapiq")
    from topshap_bench.pairs.rivals import estimate_pairs

    game = TableGame(np.random.default_rng(0).random(2**7))
    answer = estimate_pairs("kernelshapiq", game, budget=60, seed=0)
    assert answer.estimates.shape == (21,)
    assert 50 <= answer.evaluations <= 60


def test_the_best_rival_is_chosen_in_other_runs():
    lucky_once = {"steady": [0.3, 0.3, 0.3], "lucky": [0.0, 0.6, 0.6]}
    assert error_of_best(lucky_once) == pytest.approx(np.mean([0.3, 0.3, 0.3]))
    assert error_of_best({"steady": [0.3, 0.3], "slow": [0.1]}) == pytest.approx(0.3)
    assert error_of_best({"a": [0.2], "b": [0.1]}) == pytest.approx(0.1)
