"""A short version of every experiment, and its report."""

import numpy as np
import pytest
from scipy.stats import binomtest

import topshap
import topshap_bench as bench
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import ParameterError
from topshap.games import TableGame
from topshap_bench import goals, guarantee, paper, race, scaling, stability, summary
from topshap_bench.adversarial import KINDS


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
    whole = found.text.split("\nall games")[1]
    for rival in rivals:
        line = next(line for line in whole.splitlines() if line.startswith(rival))
        *_, wins, ties, losses, compared, failed = line.split()
        assert int(wins) + int(ties) + int(losses) == int(compared)
        assert (int(compared), int(failed)) == (6, 0)
    assert (tmp_path / "race.txt").read_text() == found.text + "\n"
    assert (tmp_path / "race.png").stat().st_size > 10_000
    assert len(bench.read_results(tmp_path / "race.csv")) == 3 * 3 * 2 * 2


def test_rivals_that_cannot_run_are_not_compared(games):
    settings = bench.fixed_budget_settings(games[:1], ["odd-gp", "shap:permutation"], ks=[3], budgets=[20], runs=2)
    lines = [line.split() for line in race.report(bench.run(settings)).splitlines()]
    assert ["shap:permutation", "cannot", "run", "0", "0"] in lines


def test_a_better_rival_counts_as_a_loss():
    good, bad = summary.Mean(0.1, 0.01), summary.Mean(0.2, 0.01)
    assert race.outcome_of(good, bad) == "win"
    assert race.outcome_of(bad, good) == "loss"
    assert race.outcome_of(good, summary.Mean(0.12, 0.01)) == "tie"
    assert race.outcome_of(summary.Mean(0.1, np.nan), summary.Mean(0.12, np.nan)) == "win"


def test_failures_are_counted_for_every_rule_and_delta(games, tmp_path):
    rules = [("odd-gp@k", "asymptotic"), ("odd-gp@k", "credible"), ("swap@k", "exact")]
    found = guarantee.guarantee(
        games[:1], tmp_path, kinds=["near-tie"], games=1, rules=rules, deltas=[0.1], budgets=[], runs=1
    )
    settings = summary.grouped(found.rows, "family", "epsilon", "algorithm", "guarantee", "delta")
    assert len(settings) == 3 * 3  # near ties with two epsilons, the real game
    assert found.kept
    exact = [row for row in found.rows if row.guarantee == "exact"]
    assert not any(guarantee.failed(row) for row in exact)
    assert (tmp_path / "guarantee.png").exists()


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        ({"rank_by": "magnitude", "ordered": True}, "k=4 by magnitude, in order;"),
        ({"rank_by": "magnitude", "order": 2}, "k=4 pairs by magnitude;"),
        ({"rank_by": "lowest", "players": 8}, "k=4 by lowest;"),
        ({"clear": True, "players": 8}, "the first clear gap by value;"),
    ],
)
def test_the_guarantee_of_other_goals_is_measured_and_resumed(tmp_path, goal, title):
    terms = {"kinds": ["additive"], "games": 1, "deltas": [0.1], "runs": 2}
    found = guarantee.guarantee([], tmp_path, **terms, **goal)
    assert title in found.text
    assert {(row.algorithm, row.guarantee) for row in found.rows} == set(guarantee.OF_OTHER_GOALS)
    assert {row.n_players for row in found.rows} == {goal.get("players", 12)}
    assert not any(guarantee.failed(row) for row in found.rows)
    assert guarantee.guarantee([], tmp_path, **terms, **goal).rows == found.rows


def test_a_clear_gap_that_is_not_there_is_a_failure():
    terms = {"epsilon": 0.1, "unit": "value", "deltas": [0.1], "runs": 1}
    pairs = bench.fixed_confidence_settings(
        [bench.Source("additive", "0")], [("odd-gp@k", "asymptotic")], ks=[0], **terms
    )
    (row,) = bench.run(pairs)
    assert (row.k, row.stopped) == (0, "confident")
    assert row.lead > 0.1
    assert not guarantee.failed(row)
    assert guarantee.failed(row._replace(lead=0.09))
    assert not guarantee.failed(row._replace(lead=0.09, stopped="exact"))  # which does not claim a gap
    assert guarantee.failed(row._replace(lead=0.0, epsilon=0.0))


def test_real_games_of_several_families_have_a_line_together(games, tmp_path):
    terms = {"kinds": ["additive"], "games": 1, "deltas": [0.1], "runs": 1, "rules": [("odd-gp@k", "asymptotic")]}
    found = guarantee.guarantee(games[:1], tmp_path, real_runs=3, budgets=[], **terms)
    assert guarantee.REAL not in found.text
    other = [row._replace(family="other") for row in found.rows if row.family not in KINDS]
    text = guarantee.report([*found.rows, *other])[0]
    line = next(line for line in text.splitlines() if line.startswith(guarantee.REAL))
    assert "0 of 6 " in line


def test_every_goal_has_a_table_with_its_kinds_and_the_real_games(games, tmp_path):
    terms = {"games": 1, "runs": 1, "real_runs": 1, "deltas": [0.1]}
    found = goals.goals(games[:1], tmp_path, **terms)
    *tables, last = found.text.split("Every guarantee was kept.")
    assert found.kept
    assert last == ""
    for table, goal in zip(tables, goals.GOALS.values(), strict=True):
        families = [line.split()[0] for line in table.splitlines() if "odd-gp@k" in line]
        real = [] if goal.epsilon_of_real_games is None else [games[0].family]
        assert families == [kind for kind, *_ in goal.games] + real
    assert goals.goals(games[:1], tmp_path, **terms).rows == found.rows  # resumed


def test_a_failure_rate_above_delta_is_reported(games):
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


def test_a_single_game_above_delta_is_marked_after_a_correction_for_the_number_of_games(games):
    terms = {"epsilon": 0.01, "unit": "range", "deltas": [0.05]}
    pairs = bench.fixed_confidence_settings(games[:1], [("odd-gp@k", "asymptotic")], ks=[4], runs=1, **terms)
    (row,) = bench.run(pairs)
    right, wrong = (row._replace(inclusion_exclusion_error=error) for error in (0.0, row.value_range))
    fair = [right._replace(game=str(game), run=run) for game in range(50) for run in range(20)]
    few = [wrong._replace(game="7", run=run) for run in range(5)]
    many = [wrong._replace(game="7", run=run) for run in range(8)]
    rest = [row for row in fair if row.game != "7"]
    for failing, marked in ((few, False), (many, True)):
        rows = rest + failing + [right._replace(game="7", run=run) for run in range(len(failing), 20)]
        worst = guarantee.worst_game(rows, 0.05)
        alone = binomtest(len(failing), 20, 0.05, alternative="greater").pvalue
        assert worst == ("7", (len(failing), 20), pytest.approx(50 * alone))
        text, kept = guarantee.report(rows)
        assert ("above in a game" in text) == marked
        assert kept  # over all games, failures are less frequent than delta
    assert guarantee.worst_game(fair, 0.05).p_value == 1.0


def test_epsilon_is_a_fraction_of_the_range_of_all_values_in_the_unit_range_of_v():
    source = bench.Source("synergy", "0")
    values = source.open().game.values
    terms = {"epsilon": 0.02, "unit": "range of v", "deltas": [0.1]}
    (row,) = bench.run(bench.fixed_confidence_settings([source], [("odd-gp@k", "credible")], ks=[4], runs=1, **terms))
    assert row.allowed_error == pytest.approx(0.02 * (values.max() - values.min()))
    with pytest.raises(ParameterError, match="'range of v' for a table"):
        bench.Source("synthetic", "airport-12").open().in_unit("range of v")


@pytest.fixture(scope="module")
def fixed_budget_row():
    pairs = bench.fixed_budget_settings([bench.Source("step", "0")], ["odd-gp"], ks=[4], budgets=[100], runs=1)
    return bench.run(pairs)[0]


def planted(row, *, confidence=0.95, right=0.95, coverage=0.95, rare=0, runs=200):
    """Return runs with this confidence, share of right sets and mean coverage."""
    shares = np.arange(runs) / runs
    known = {"confidence": confidence, "rare_contributions": rare}
    covered = coverage + 0.04 * np.where(np.arange(runs) % 2, 1.0, -1.0)
    return [
        row._replace(run=run, binary_precision=float(shares[run] < right), coverage=float(covered[run]), **known)
        for run in range(runs)
    ]


@pytest.mark.parametrize(
    ("planting", "marks"),
    [
        ({}, []),
        ({"right": 0.92}, []),
        ({"right": 0.75}, ["too confident"]),
        ({"confidence": 0.7, "right": 0.5}, ["too confident"]),
        ({"confidence": 0.4, "right": 0.0}, []),
        ({"confidence": None, "right": 0.0}, []),
        ({"coverage": 0.8}, ["too narrow"]),
        ({"right": 0.5, "coverage": 0.8}, ["too confident", "too narrow"]),
        ({"right": 0.5, "coverage": 0.8, "rare": 1}, []),
        ({"right": 0.5, "coverage": 0.8, "runs": 4}, []),
    ],
)
def test_wrong_confidence_and_narrow_intervals_are_marked_in_runs_without_a_warning(fixed_budget_row, planting, marks):
    text, kept = guarantee.report(planted(fixed_budget_row, **planting))
    line = next(line for line in text.splitlines() if line.startswith("step"))
    assert [mark for mark in ("too confident", "too narrow") if mark in line] == marks
    assert ("marked for: step" in text) == bool(marks)
    assert kept  # confidence and intervals are not guarantees


def test_runs_with_a_warning_count_as_warned_only(fixed_budget_row):
    warned = planted(fixed_budget_row, right=0.0, rare=1, runs=50)
    rows = planted(fixed_budget_row, right=1.0, runs=150) + warned
    line = next(line for line in guarantee.report(rows)[0].splitlines() if line.startswith("step"))
    assert line.split()[3:5] == ["200", "0.250"]
    assert "150 of 150" in line


def test_the_coverage_is_the_share_of_players_whose_value_is_in_the_interval(fixed_budget_row):
    opened = bench.Source("step", "0").open()
    seeds = fixed_budget_row.setting.seeds(0)
    top = topshap.identify(opened.game, k=4, budget=100, algorithm="odd-gp", random_state=np.random.default_rng(seeds))
    low, high = top.interval(0.95).T
    assert fixed_budget_row.coverage == np.mean((low <= opened.exact) & (opened.exact <= high))
    assert fixed_budget_row.confidence == top.confidence
    assert fixed_budget_row.rare_contributions == top.rare_contributions


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_lines_in_both_tables(kind, tmp_path):
    terms = {"rules": [("odd-gp@k", "asymptotic")], "deltas": [0.1], "budgets": [60]}
    found = guarantee.guarantee([], tmp_path, kinds=[kind], games=1, runs=1, **terms)
    failures, calibration = found.text.split("Calibration after a fixed budget")
    assert f"\n{kind} " in failures
    assert [line.split()[1:4] for line in calibration.splitlines() if line.startswith(f"{kind} ")] == [
        ["odd-gp", "60", "1"],
        ["cmcs", "60", "1"],
    ]
    assert guarantee.guarantee([], tmp_path, kinds=[kind], games=1, runs=1, **terms).rows == found.rows  # resumed


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
    counts = {"runs": 2, "runs_of_local_games": 1, "runs_of_table_1": 1}
    found = paper.paper(games, tmp_path, **counts, budgets=[50, 100], ks=[1, 3])
    written = {path.name for path in found.figures}
    assert written == {f"paper-{part}.png" for part in ("a", "b", "c", "d", "e-local", "e-global")}
    assert all((tmp_path / name).exists() for name in written)
    last = next(line for line in found.text.splitlines()[::-1] if line.startswith("diabetes"))
    assert last.split()[1] == paper.OURS
    table_1 = found.text[found.text.index("Table 1") :]
    assert "2976 ± 55" in table_1
    for row in found.rows:
        assert row.counting == ("distinct" if row.algorithm == paper.OURS else "calls")
        assert row.run == 0 or (row.family == "global" and row.epsilon is None)
    assert {row.run for row in found.rows} == {0, 1}


def test_the_cpu_time_of_a_race_counts_once_for_all_its_budgets(games):
    names = ["cmcs", "kernelshap"]  # kernelshap plans by the budget, so that each has a race of its own
    rows = bench.run(bench.fixed_budget_settings(games[:1], names, ks=[3], budgets=[40, 80], runs=1))
    rows = [row._replace(seconds=60.0 * row.budget / 40.0) for row in rows]
    assert paper.cpu_time(rows) == "3 races, 5.0 minutes of CPU time"


def test_curves_are_means_over_games_for_every_run(games):
    rows = bench.run(bench.fixed_budget_settings(games[1:], ["cmcs"], ks=[3], budgets=[40, 20], runs=2))
    points, table = summary.by_run(rows, "inclusion_exclusion_error", "budget")
    assert points == [20, 40]
    of_one = [row.inclusion_exclusion_error for row in rows if (row.run, row.budget) == (1, 40)]
    assert len(of_one) == 2
    assert table[1, 1] == np.mean(of_one)


SMALL = {"players": [10, 40], "budgets": [100, 200], "runs": 1}


def test_the_measured_growth_is_reported_for_every_algorithm_and_size(tmp_path):
    found = scaling.scale(tmp_path, algorithms=["cmcs", "kernelshap", "shapiq:permutation"], **SMALL)
    assert len(found.measured) == 3 * 4
    assert all(m.microseconds > 0 and m.megabytes > 0 and 0 < m.calls <= m.budget for m in found.measured)
    assert {path.name for path in tmp_path.iterdir()} == {"scale.csv", "scale.txt", "scale.png"}


def test_an_interrupted_benchmark_continues_without_repeating_measurements(tmp_path, monkeypatch):
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


def test_skipped_runs_are_in_the_table_with_a_reason(tmp_path):
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


def test_runs_that_need_too_much_memory_are_skipped():
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
def test_every_algorithm_claims_its_growth(algorithm):
    assert scaling.claimed_power(algorithm, "n") in (1, 2, 3)
    assert scaling.claimed_power(algorithm, "T") in (0, 1, 2)


@pytest.mark.parametrize("question", stability.QUESTIONS)
def test_stability_has_a_line_for_every_setting(question):
    text = stability.stability(questions=[question], kinds=["near-tie"], deltas=[0.1], games=1, runs=1, budget=60)
    assert text.count(f"\n{question} ") == 2
    assert "1 [" in text
