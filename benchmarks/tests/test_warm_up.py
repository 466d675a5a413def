"""topshap-bench warm-up: a small slice of the comparison of warm-ups."""

import numpy as np
import pytest

from topshap_bench import warm_up
from topshap_bench.adversarial import adversarial_game
from topshap_bench.sources import Source


@pytest.fixture
def games(tmp_path):
    (tmp_path / "games" / "global").mkdir(parents=True)
    for number in range(4):
        adversarial_game("step", number, 8).save(tmp_path / "games" / "global" / f"{number}.npz")
    return tmp_path / "games"


def test_the_report_shows_both_halves_apart_and_both_algorithms(games, tmp_path, monkeypatch):
    monkeypatch.setattr(warm_up, "EPSILON", 0.5)
    options = {"lengths": (2, 5), "budgets": (60, 40), "runs": 2, "confident_runs": 3, "n_jobs": 1}
    text = warm_up.warm_up(games, out=tmp_path / "out", **options)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"warm-up.txt", "warm-up.png"}
    assert (tmp_path / "out" / "warm-up.txt").read_text(encoding="utf-8") == text + "\n"
    table, failures = (part.splitlines() for part in text.split("\n\n") if part.startswith(("half", "warm-up")))
    assert [line.split()[:2] for line in table[1:]] == [
        [half, warm] for half in ("tune", "judge") for warm in ("2", "5", "auto")
    ]
    assert table[0].index("40 calls") < table[0].index("60 calls")
    assert "tune, 2 games: the error of auto is" in text
    assert "judge, 2 games: the error of auto is" in text
    assert all(" of 12 [" in line for line in failures[1:])  # 4 games, 3 runs


def test_a_race_that_is_extended_gives_the_errors_of_separate_races():
    source = Source("step", "0")
    together = warm_up.fixed_budget(warm_up.Setting(source, "auto", 3, (60, 120)))
    apart = [warm_up.fixed_budget(warm_up.Setting(source, "auto", 3, (budget,))) for budget in (60, 120)]
    np.testing.assert_array_equal(together, np.hstack(apart))


def test_the_ratio_is_that_to_the_best_fixed_length():
    table = np.log(np.array([[[0.4], [0.2], [0.1]], [[0.1], [0.2], [0.4]], [[0.4], [0.2], [0.2]]]))
    assert warm_up.conclusion("judge", table, (2, 8)).startswith("judge, 3 games: the error of auto is 1.000 [")
    assert warm_up.conclusion("judge", table, (2, 30)).count("length, 30") == 2


def test_the_figure_shows_the_geometric_means_of_the_report():
    drawn = warm_up.panel("judge", np.log(np.array([[[0.4], [0.2], [0.1]], [[0.1], [0.2], [0.9]]])), (2, 8))
    np.testing.assert_allclose(drawn.errors["fixed length"], [[0.2, 0.2]])
    np.testing.assert_allclose(drawn.errors['warm_up="auto"'], [[0.3, 0.3]])


def test_without_a_folder_the_halves_are_different_games():
    halves = warm_up.halves_of(None)
    assert len(halves["tune"]) == len(halves["judge"]) == len(warm_up.KINDS)
    assert not set(halves["tune"]) & set(halves["judge"])
