"""topshap-bench clock: errors at equal CPU time, computed from the rows of a race."""

import numpy as np
import pytest
from typer.testing import CliRunner

import topshap_bench as bench
from topshap.core.errors import ParameterError
from topshap_bench import cli, clock

N_PLAYERS = 14


def row(algorithm, budget, *, error, seconds, evaluations=None, stopped="finished", game="wine", run=0, range_of_v=1.0):
    """Return a row of a race with a range of 1."""
    setting = bench.Setting("global", game, algorithm, k=3, budget=budget, run=run)
    cost = {"evaluations": evaluations or budget, "calls": budget, "seconds": seconds, "stopped": stopped}
    measures = {"binary_precision": 1.0, "ratio_precision": 1.0, "mean_squared_error": 0.0}
    named = {"seed": 0, "version": "", "n_players": N_PLAYERS, "value_range": 1.0, "range_of_v": range_of_v}
    return bench.Row(**setting._asdict(), **cost, **measures, **named, inclusion_exclusion_error=error)


def of_two(*, seconds=(1.0, 2.0), game="wine"):
    """Return runs of odd-gp, which takes some time, and of cmcs, which is free and needs ten times the evaluations."""
    ours = [row("odd-gp", b, error=10.0 / b, seconds=s, game=game) for b, s in zip((100, 1000), seconds, strict=True)]
    return ours + [row("cmcs", b, error=100.0 / b, seconds=1e-9, game=game) for b in (100, 1000, 10_000)]


def ratio(rows, name, cost):
    games = clock.curves_of(rows)
    return clock.ratio_of(clock.compare(games, [cost])[cost], name)


def test_at_expensive_evaluations_only_their_number_counts(monkeypatch):
    monkeypatch.setattr(clock, "ADDED", 0.0)
    assert np.exp(ratio(of_two(), "cmcs", 1e6).logarithm) == pytest.approx(0.1, rel=1e-4)


def test_the_time_of_the_algorithm_counts_in_full(monkeypatch):
    monkeypatch.setattr(clock, "ADDED", 0.0)
    monkeypatch.setattr(clock, "LIMITS", (100,))
    seconds = 100.0 * 0.001 + 1.0  # 100 evaluations and the algorithm itself
    affordable = seconds / 0.001
    assert np.exp(ratio(of_two(), "cmcs", 0.001).logarithm) == pytest.approx(0.1 / (100.0 / affordable), rel=1e-6)


def test_a_limit_beyond_the_largest_budget_is_not_compared():
    found = ratio(of_two(seconds=(1.0, 1e3)), "cmcs", 0.001)
    assert (found.compared, found.too_slow, found.total) == (1, 0, 2)
    assert np.isnan(ratio(of_two(seconds=(1e3, 1e4)), "cmcs", 0.001).logarithm)
    assert str(ratio(of_two(seconds=(1e3, 1e4)), "cmcs", 0.001)) == "not known"


def test_an_algorithm_that_spends_less_than_its_budget_is_known_up_to_its_budget():
    rows = [*of_two()[:2], row("cmcs", 100, error=0.4, seconds=1e-9, evaluations=80)]
    rows.append(row("cmcs", 1000, error=0.2, seconds=1e-9, evaluations=800))
    assert ratio(rows, "cmcs", 1e6).compared == 2


def test_an_algorithm_that_takes_longer_with_its_smallest_budget_is_too_slow():
    rows = [*of_two(), *(row("slow", budget, error=0.0, seconds=1e9) for budget in (100, 1000))]
    found = ratio(rows, "slow", 0.001)
    assert (str(found), found.too_slow) == ("too slow", 2)


def test_all_coalitions_are_an_algorithm_of_their_own_and_nothing_is_beyond_them():
    exact = row("cmcs", 20_000, error=0.0, seconds=0.01, evaluations=2**N_PLAYERS, stopped="exact")
    rows = [*of_two(seconds=(1.0, 1e3)), exact]
    (curves,) = clock.curves_of(rows).values()
    assert curves[clock.ALL].budgets == [20_000]
    assert curves[clock.ALL].is_complete
    assert curves["cmcs"].budgets == [100, 1000, 10_000, 20_000]
    assert ratio(rows, "cmcs", 0.001).compared == 2
    assert not curves["odd-gp"].is_complete


def test_the_time_is_the_median_and_the_error_the_mean_of_the_runs(monkeypatch):
    monkeypatch.setattr(clock, "ADDED", 0.0)
    runs = [
        row("odd-gp", 100, error=e, seconds=s, run=i) for i, (e, s) in enumerate([(0.1, 1.0), (0.3, 9.0), (0.2, 2.0)])
    ]
    (curves,) = clock.curves_of([*runs, row("odd-gp", 250, error=0.1, seconds=5.0)]).values()
    assert curves["odd-gp"].seconds.tolist() == [2.0, 5.0]
    assert np.exp(curves["odd-gp"].errors) == pytest.approx([0.2, 0.1])


def test_budgets_with_which_an_algorithm_cannot_run_are_left_out():
    rows = [*of_two(), row("shap:permutation", 100, error=float("nan"), seconds=0.0, stopped="refused")]
    rows += [row("shap:permutation", budget, error=0.1, seconds=0.1) for budget in (500, 1000)]
    (curves,) = clock.curves_of(rows).values()
    assert curves["shap:permutation"].budgets == [500, 1000]


def test_single_budgets_and_games_that_are_not_tables_are_left_out():
    rows = [*of_two(), row("slow", 100, error=0.1, seconds=1.0)]
    others = [other._replace(game="trees", range_of_v=None) for other in of_two()]
    assert list(clock.curves_of([*rows, *others])) == [("global", "wine")]
    assert "slow" not in clock.curves_of(rows)["global", "wine"]


@pytest.mark.parametrize(
    ("ratios", "text"),
    [
        ({1e-6: 4.0, 1e-4: 0.25, 1e-2: 0.25}, "10 us"),
        ({1e-6: 0.5, 1e-4: 2.0, 1e-2: 0.5}, "1 ms"),
        ({1e-6: np.nan, 1e-4: 0.5, 1e-2: 0.5}, "100 us or less"),
        ({1e-6: 0.5, 1e-4: 0.5, 1e-2: 2.0}, "never"),
        ({1e-6: np.nan}, "not known"),
        ({1e-6: 2.0, 1e-4: 0.0}, "1 us"),
    ],
)
def test_the_time_from_which_on_odd_gp_is_ahead(ratios, text):
    with np.errstate(divide="ignore"):
        errors = {cost: {"odd-gp": np.zeros((1, 1)), "it": -np.log([[value]])} for cost, value in ratios.items()}
    assert clock.ahead_from(errors, "it") == text


def test_the_best_algorithm_is_exact_without_doubt():
    exact = np.log([[clock.ADDED]])
    errors = {"odd-gp": exact + 1.0, "cmcs": exact, "it": np.array([[np.nan]])}
    assert clock.best(errors, 0) == "cmcs 2.72"
    assert clock.best(errors | {clock.ALL: exact}, 0) == "all coalitions 2.72"


def test_rows_and_games_are_reported_apart_and_drawn(tmp_path):
    rows = [*of_two(), *of_two(game="zoo")]
    options = {"largest": {"odd-gp": 250, "cmcs": 500}, "budgets": (100, 250, 400), "ks": (3,), "runs": 1, "n_jobs": 1}
    text = clock.clock(tmp_path, rows=rows, sources=bench.adversarial("step", 1), **options)
    assert "the race, global: 2 games, 2 limits\n" in text
    assert "large budgets, step: 1 games, 2 limits\n" in text
    assert {path.name for path in tmp_path.iterdir()} == {"clock.csv", "clock.txt", "clock.png"}
    assert (tmp_path / "clock.txt").read_text(encoding="utf-8") == text + "\n"


def test_rows_without_odd_gp_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="runs of odd-gp on tables with at least one of the budgets"):
        clock.clock(tmp_path, rows=[row("cmcs", 100, error=0.1, seconds=0.1)])
    with pytest.raises(ParameterError, match="the rows of a race, unless there are games"):
        clock.clock(tmp_path)


def test_the_command_reads_the_rows_of_a_race(tmp_path):
    with bench.ResultsFile(tmp_path / "race.csv", bench.Row) as results:
        results.add(of_two())
    arguments = ["clock", "--rows", str(tmp_path / "race.csv"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli.build(), arguments)
    assert result.exit_code == 0, result.output
    assert "an evaluation takes" in result.output
    assert (tmp_path / "out" / "clock.png").exists()
