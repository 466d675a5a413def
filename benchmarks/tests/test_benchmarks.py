"""A short version of every experiment, and its report."""

import numpy as np
import pytest

import topshap_bench as bench
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import ParameterError
from topshap.games import TableGame
from topshap_bench import guarantee, paper, race, scaling, summary


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A folder with a global game that has the name of one in the paper, and two local games."""
    folder = tmp_path_factory.mktemp("games")
    for family, name, seed in (("global", "diabetes", 0), ("local-text", "a", 1), ("local-text", "b", 2)):
        (folder / family).mkdir(exist_ok=True)
        table = bench.Source("near-tie", str(seed)).open().game.values
        TableGame(0.001 * table).save(folder / family / f"{name}.npz")
    return bench.from_folder(folder)


def test_the_race_counts_wins_and_losses_for_every_rival(games, tmp_path):
    rivals = ["cmcs", "shapiq:kernelshap"]
    found = race.race(games, tmp_path, algorithms=rivals, budgets=[20, 60], ks=[3], runs=2)
    whole = found.text.split("all games")[1]
    for rival in rivals:
        *_, wins, ties, losses, compared = next(line for line in whole.splitlines() if line.startswith(rival)).split()
        assert int(wins) + int(ties) + int(losses) == int(compared)
        assert int(compared) == 6
    assert (tmp_path / "race.txt").read_text() == found.text + "\n"
    assert (tmp_path / "race.png").stat().st_size > 10_000
    assert len(bench.read_results(tmp_path / "race.csv")) == 3 * 3 * 2 * 2


def test_where_a_rival_cannot_run_nothing_is_compared(games):
    settings = bench.fixed_budget_settings(games[:1], [race.OURS, "shap:permutation"], ks=[3], budgets=[20], runs=2)
    line = race.report(bench.run(settings)).splitlines()[-1]
    assert line.split() == ["shap:permutation", "cannot", "run", "0"]


def test_a_comparison_is_a_win_a_tie_or_a_loss():
    good, bad = summary.Mean(0.1, 0.01), summary.Mean(0.2, 0.01)
    assert race.outcome_of(good, bad) == "win"
    assert race.outcome_of(bad, good) == "loss"
    assert race.outcome_of(good, summary.Mean(0.12, 0.01)) == "tie"
    assert race.outcome_of(summary.Mean(0.1, np.nan), summary.Mean(0.12, np.nan)) == "win"


def test_failures_are_counted_for_every_rule_and_delta(games, tmp_path):
    rules = [("odd-gp@k", "asymptotic"), ("odd-gp@k", "credible"), ("swap@k", "exact")]
    found = guarantee.guarantee(games[:1], tmp_path, kinds=["near-tie"], games=1, rules=rules, deltas=[0.1], runs=1)
    settings = summary.grouped(found.rows, "family", "epsilon", "algorithm", "guarantee", "delta")
    assert len(settings) == 3 * 3  # near ties with two epsilons, the real game
    assert found.kept
    exact = [row for row in found.rows if row.guarantee == "exact"]
    assert not any(guarantee.failed(row) for row in exact)
    assert (tmp_path / "guarantee.png").exists()


def test_a_broken_guarantee_is_reported(games):
    rows = bench.run(
        bench.fixed_confidence_settings(
            games[:1], [("odd-gp@k", "asymptotic")], ks=[4], epsilon=0.01, unit="range", deltas=[0.05], runs=10
        )
    )
    wrong = [row._replace(inclusion_exclusion_error=row.value_range) for row in rows]
    assert guarantee.report(rows)[1]
    text, kept = guarantee.report(wrong)
    assert not kept
    assert "10 of 10" in text
    assert "A guarantee was broken" in text
    only_credible = [row._replace(guarantee="credible") for row in wrong]
    assert guarantee.report(only_credible)[1]


def test_parts_of_the_paper_can_be_selected(games, tmp_path):
    found = paper.paper(games, tmp_path, parts="a", runs=1, budgets=[50, 100])
    assert [path.name for path in found.figures] == ["paper-a.png"]
    assert {row.algorithm for row in found.rows} == set(paper.STEPS)
    assert "Table 1" not in found.text
    table = paper.paper(games, tmp_path, parts="f", runs=1)
    assert table.figures == []
    assert {row.budget for row in table.rows} == {None}
    for wrong in ("", "xyz"):
        with pytest.raises(ParameterError, match="one or more of the letters 'abcdef'"):
            paper.paper(games, tmp_path, parts=wrong)


def test_the_paper_has_all_its_parts(games, tmp_path):
    found = paper.paper(games, tmp_path, runs=2, runs_of_table_1=1, budgets=[50, 100], ks=[1, 3])
    written = {path.name for path in found.figures}
    assert written == {f"paper-{part}.png" for part in ("a", "b", "c", "d", "e-local", "e-global")}
    assert all((tmp_path / name).exists() for name in written)
    last = next(line for line in found.text.splitlines()[::-1] if line.startswith("diabetes"))
    assert last.split()[1] == paper.OURS
    table_1 = found.text[found.text.index("Table 1") :]
    assert "2976 ± 55" in table_1
    for row in found.rows:
        assert row.counting == ("distinct" if row.algorithm == paper.OURS else "calls")


def test_curves_are_means_over_games_for_every_run(games):
    rows = bench.run(bench.fixed_budget_settings(games[1:], ["cmcs"], ks=[3], budgets=[40, 20], runs=2))
    points, table = summary.by_run(rows, "inclusion_exclusion_error", "budget")
    assert points == [20, 40]
    of_one = [row.inclusion_exclusion_error for row in rows if (row.run, row.budget) == (1, 40)]
    assert len(of_one) == 2
    assert table[1, 1] == np.mean(of_one)


SMALL = {"players": [10, 40], "budgets": [100, 200], "runs": 1}


def test_scale_measures_every_setting_and_writes_its_files(tmp_path):
    found = scaling.scale(tmp_path, algorithms=["cmcs", "kernelshap", "shapiq:permutation"], **SMALL)
    assert len(found.measured) == 3 * 4
    assert all(m.microseconds > 0 and m.megabytes > 0 and 0 < m.calls <= m.budget for m in found.measured)
    assert {path.name for path in tmp_path.iterdir()} == {"scale.csv", "scale.txt", "scale.png"}


def test_measurements_before_an_interruption_are_not_repeated(tmp_path, monkeypatch):
    measure, left, ran = scaling.measure, iter(range(5)), []

    def stop_after_five(setting, *of):
        if next(left, None) is None:
            raise KeyboardInterrupt
        ran.append(setting)
        return measure(setting, *of)

    monkeypatch.setattr(scaling, "measure", stop_after_five)
    with pytest.raises(KeyboardInterrupt):
        scaling.scale(tmp_path, algorithms=["cmcs", "bus"], **SMALL)
    monkeypatch.setattr(scaling, "measure", lambda setting, *of: ran.append(setting) or measure(setting, *of))
    first = scaling.scale(tmp_path, algorithms=["cmcs", "bus"], **SMALL)
    assert len(ran) == len(set(ran)) == len(first.measured) == 8
    again = scaling.scale(tmp_path, algorithms=["cmcs", "bus"], **SMALL)
    assert len(ran) == 8
    assert again.measured == first.measured


def test_settings_that_are_not_run_are_in_the_table_with_the_reason(tmp_path):
    names = ["cmcs", "odd-gp@k", "shap:permutation"]
    found = scaling.scale(tmp_path, algorithms=names, players=[10, 1000, 2000], budgets=[200], runs=1, limit=1e-9)
    outcomes = {(m.algorithm, m.n_players): m.outcome for m in found.measured if m.axis == "players"}
    assert outcomes["cmcs", 10] == outcomes["odd-gp@k", 10] == "measured"
    assert outcomes["cmcs", 1000] == outcomes["cmcs", 2000] == "too long"
    assert outcomes["odd-gp@k", 2000] == "not for n"
    assert all(outcome in found.text for outcome in outcomes.values() if outcome != "measured")
    measured = scaling.Measurement("players", "shap:permutation", 1000, 2000, "", "cannot run", 0, 0.0, np.nan, np.nan)
    assert scaling.why_not(("players", "shap:permutation", 3000, 2000, ""), [measured], limit=5.0) == "cannot run"
    assert scaling.why_not(("budget", "shap:permutation", 30, 4000, ""), [measured], limit=5.0) is None


def test_settings_that_need_too_much_memory_are_not_run():
    smaller = [
        scaling.Measurement("players", "cmcs", n, 2000, "", "measured", 1, 1e-3, 1.0, n**2 / 1e4) for n in (100, 1000)
    ]
    assert scaling.why_not(("players", "cmcs", 3000, 2000, ""), smaller, limit=5.0) is None
    assert scaling.why_not(("players", "cmcs", 10_000, 2000, ""), smaller, limit=5.0) == "too large"


def test_growth_beyond_the_claim_is_marked():
    def report(power):
        sizes = [("players", "cmcs", n, 100, "", "measured", 100, 0.1, 0.1 * n**power, 1.0) for n in (10, 30, 90)]
        return scaling.report([scaling.Measurement(*of) for of in sizes])

    assert "grows faster than claimed" in report(1.5)
    assert "grows faster than claimed" not in report(1.1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_claims_how_it_grows(algorithm):
    assert scaling.claimed_power(algorithm, "n") in (1, 2, 3)
    assert scaling.claimed_power(algorithm, "T") in (0, 1, 2)
