"""The German credit game of Table 1, with a small dataset in its place: races with a store and an uncertain truth."""

import numpy as np
import pytest
from typer.testing import CliRunner

import topshap
from topshap_bench import cli, german_credit
from topshap_bench.datasets import Dataset, load_dataset

ALGORITHMS = ["cmcs@k", "odd-gp@k"]
OPTIONS = {"algorithms": ALGORITHMS, "runs": 2, "truth": 100, "n_jobs": 1}


@pytest.fixture
def small(monkeypatch):
    """Seven features of wine, and an epsilon that races reach soon."""
    X, y, task = load_dataset("wine")
    monkeypatch.setattr(german_credit, "load_dataset", lambda name, folder: Dataset(X.iloc[:, :7], y, task))
    monkeypatch.setattr(german_credit, "EPSILON", 0.05)
    german_credit.game_of.cache_clear()
    yield
    german_credit.game_of.cache_clear()


def race(players):
    return german_credit.Race("cmcs@k", 0, 0, "topshap 1", "", 10, 10, "confident", players)


def test_the_report_has_a_line_per_algorithm_and_the_error_of_the_truth(small, tmp_path):
    text = german_credit.german_credit(tmp_path, **OPTIONS)
    assert (tmp_path / "german-credit.txt").read_text() == text + "\n"
    lines = text.splitlines()
    for name in ALGORITHMS:
        (line,) = [line.split() for line in lines if line.split()[:1] == [name]]
        right, undecided, wrong, runs = map(int, line[-4:])
        assert right + undecided + wrong == runs == 2
    assert "standard error" in lines[-1]
    assert "kernelshap with 100 evaluations" in text


def test_an_interrupted_experiment_trains_no_model_twice(small, tmp_path, monkeypatch):
    first = german_credit.german_credit(tmp_path, **OPTIONS)
    (tmp_path / "german-credit.csv").unlink()
    german_credit.game_of.cache_clear()
    monkeypatch.setattr(topshap.games.RetrainingGame, "_score", lambda self, present: 1 / 0)
    assert german_credit.german_credit(tmp_path, **OPTIONS) == first


def test_finished_races_are_not_played_again(small, tmp_path, monkeypatch):
    options = {"datasets": None, "seed": 0, "n_jobs": 1}
    first = german_credit.play(tmp_path, [("cmcs@k", 0)], **options)
    monkeypatch.setattr(german_credit, "play_one", lambda *_args, **_options: 1 / 0)
    assert german_credit.play(tmp_path, [("cmcs@k", 0)], **options) == first


def test_a_run_is_judged_up_to_the_error_of_the_truth():
    exact = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0])
    certain, uncertain = (exact + np.random.default_rng(0).normal(0.0, s, (500, 7)) for s in (1e-6, 1.0))
    races = [race("0 1 2 3 4"), race("0 1 2 3 5")]
    assert german_credit.verdicts(german_credit.probability_right(races, certain)) == (1, 0, 1)
    assert german_credit.verdicts(german_credit.probability_right(races, uncertain)) == (0, 2, 0)


def test_the_truth_needs_enough_evaluations_for_an_error(small, tmp_path):
    with pytest.raises(topshap.ParameterError, match="need more than 3 evaluations"):
        german_credit.german_credit(tmp_path, **(OPTIONS | {"truth": 3}))


def test_the_command_names_its_files(small, tmp_path):
    options = ["--algorithm", "odd-gp@k", "--runs", "1", "--truth", "100", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(cli.build(), ["german-credit", *options], catch_exceptions=False)
    assert result.exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"german-credit.csv", "german-credit.txt", "german-credit.db"}
