import numpy as np
import pytest
from typer.testing import CliRunner

from topshap.games import TableGame
from topshap_bench.cli import build
from topshap_bench.external import Answer
from topshap_bench.pairs import comparison
from topshap_bench.pairs.comparison import BEST, OURS, Outcome, Setting, compare_pairs, exact_interactions, ratio
from topshap_bench.pairs.model_games import _save
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


def test_a_rival_runs_once_per_seed_for_all_k(folder, monkeypatch):
    runs = []

    def estimate(name, game, *, budget, seed):
        runs.append(seed)
        return Answer(np.arange(21.0), budget, budget)

    monkeypatch.setattr(comparison, "estimate_pairs", estimate)
    source = Source("other", "a", folder / "other" / "a.npz")
    outcome = comparison.run_setting(Setting(source, False, 40, "proxyshap", (2, 3, 5), 2))
    assert runs == [0, 1]
    assert outcome.errors.shape == (3,)
    assert np.isnan(outcome.coverage)
    assert exact_interactions(source).shape == (21,)


def test_the_best_rival_is_chosen_for_every_game_and_k():
    settings = [Setting(Source("a", "b"), False, 100, name, (3, 5), 1) for name in (OURS, "proxyshap", "svarmiq")]
    errors = ([0.0, 0.09], [0.19, 0.09], [0.09, 0.19])
    results = {s: Outcome(np.array(e), np.ones(2), 0.0, 1.0, 0.0, 1.0) for s, e in zip(settings, errors, strict=True)}
    assert ratio(results, settings[:1], "proxyshap") == pytest.approx(np.sqrt(0.05 * 1.0))
    assert ratio(results, settings[:1], "proxyshap", perfect=True) == pytest.approx(np.sqrt(0.05 * 0.1))
    assert ratio(results, settings[:1], BEST) == pytest.approx(np.sqrt(0.1 * 1.0))


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
