"""Ratios to the best rival, and the list of rivals that are ahead, from rows with known errors."""

import topshap_bench as bench
from topshap_bench import race, race_ratios
from topshap_bench.settings import Row, Setting


def row(algorithm, error, *, game="a", run=0, k=3, budget=50, players=10, stopped="finished"):
    """Return a row with this error, whose square is the mean squared error, in a game of range 2."""
    setting = Setting(f"family-{players}", game, algorithm, k, budget=budget, run=run)
    return Row(
        **setting._asdict(),
        seed=0,
        version="",
        n_players=players,
        value_range=2.0,
        stopped=stopped,
        evaluations=budget,
        calls=budget,
        seconds=0.0,
        binary_precision=1.0,
        ratio_precision=1.0,
        inclusion_exclusion_error=2.0 * error,
        mean_squared_error=4.0 * error**2,
    )


def rows_of(**errors):
    return [
        row(name.replace("_", "-"), error, game=game, run=run, k=k)
        for name, error in errors.items()
        for game in "ab"
        for run in range(2)
        for k in (3, 5)
    ]


def test_measures_are_fractions_of_the_range():
    (cell,) = race_ratios.runs_of_cells([row("odd-gp", 0.1), row("odd-gp", 0.3, k=5)], "relative_error").values()
    assert cell == {"odd-gp": [0.2]}
    (cell,) = race_ratios.runs_of_cells([row("odd-gp", 0.1)], "relative_squared_error").values()
    assert abs(cell["odd-gp"][0] - 0.01) < 1e-12


def test_ratios_are_those_to_the_best_rival_and_none_is_ahead():
    text = race_ratios.tables(rows_of(odd_gp=0.099, cmcs=0.199, bus=0.999))
    first = next(line for line in text.splitlines() if line.startswith("family-10"))
    assert first.split()[:4] == ["family-10", "50", "2", "0.500"]
    assert first.split()[-1] == "cmcs"
    assert "Where rivals are ahead: in no family" in text


def test_a_rival_that_is_ahead_is_listed_with_its_ratio_and_relatives_are_not_rivals():
    text = race_ratios.tables(rows_of(odd_gp=0.199, cmcs=0.099, bus=0.4) + rows_of(**{"odd_gp@k": 0.0}))
    listed = text.partition("Where rivals are ahead")[2].partition("\n\n")[0]
    ahead = [line.split() for line in listed.splitlines()[2:]]
    assert [line[:5] for line in ahead] == [
        ["family-10", "50", "mse", "cmcs", "2"],
        ["family-10", "50", "error", "cmcs", "2"],
    ]
    assert ahead[1][5] == "2.000"
    assert "odd-gp@k" not in text


def test_a_rival_with_a_failed_run_is_not_compared():
    failed = [row("bus", float("nan"), game="a", stopped="failed: a message")]
    text = race_ratios.tables(rows_of(odd_gp=0.1, cmcs=0.2) + failed)
    assert "bus" not in text
    assert race_ratios.tables([row("odd-gp", 0.1)]) == "No rival could run."


def test_games_of_different_sizes_have_tables_panels_and_targets_of_their_own():
    rows = [row(name, 0.1, players=n, run=run) for name in ("odd-gp", "cmcs") for n in (10, 60, 500) for run in (0, 1)]
    text = race.report(rows)
    for size, players in (("small", 10), ("large", 60), ("very large", 500)):
        assert f"all {size} games: 1 games of {players} players, k in [3], budgets [50], 2 runs" in text
        assert f"\n{size} games: mse / best rival's" in text
    assert [panel.title for panel in race.panels(rows)] == ["family-10", "games of 60 players", "games of 500 players"]


def test_the_large_race_adds_games_with_budgets_of_their_own(tmp_path, monkeypatch):
    from topshap_bench import large_race

    monkeypatch.setattr(large_race, "BUDGETS", {30: (40,)})
    monkeypatch.setattr(
        race, "large_settings", lambda names, runs: large_race.large_settings(names, runs=runs, players=[30])
    )
    monkeypatch.setattr(large_race, "sized", lambda players: bench.sources.sized(players)[-1:])
    found = race.race(
        [bench.Source("tie", "0")], tmp_path, large=True, algorithms=["cmcs"], budgets=[20], ks=[3], runs=1
    )
    assert {(row.family, row.k, row.budget) for row in found.rows} == {("tie", 3, 20), ("sigmoid-30", 5, 40)}
    assert set(large_race.OF_TOPSHAP) <= set(large_race.large_rivals())


def test_slow_rivals_run_in_the_first_family_with_one_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(race, "slow_rivals", lambda: ["bus"])
    sources = [bench.Source("tie", "0"), bench.Source("voting", "0")]
    found = race.race(sources, tmp_path, slow=True, algorithms=["cmcs"], budgets=[20, 30, 40], ks=[3], runs=1)
    assert [(row.family, row.budget) for row in found.rows if row.algorithm == "bus"] == [("tie", 30)]
    by_family, _, of_all = found.text.partition("\nall games: ")
    assert "bus" in by_family
    assert "bus" not in of_all
