"""The progress bar: it ends full and never goes back, and a missing tqdm is an error."""

import sys

import pytest

import topshap
from topshap.show.progress_bar import progress_bar

GAME = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=12)


@pytest.mark.parametrize("ends", [{"budget": 300}, {"epsilon": 0.3}, {"stop": topshap.stopping.TimeLimit(1e-9)}])
def test_the_bar_ends_full_and_shows_the_cost(capsys, ends):
    top = topshap.identify(GAME, k=2, progress=True, random_state=0, **ends)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "100%" in last
    spent = f"{top.evaluations}" if top.budget is None else f"{top.evaluations} of {top.budget}"
    assert f"{spent} evaluations" in last
    learned = "stop" not in ends  # the time ends after the empty and the grand coalition, which distinguish no players
    assert (f"top: {' '.join(top.names)}" in last) == learned
    assert ("sure" in last) == ("epsilon" in ends)


def test_the_bar_says_how_the_run_ended(capsys):
    interrupted = {"callback": lambda race: race.evaluations > 60}
    for options, ending in (({}, "the budget was spent"), (interrupted, "the race is not over")):
        topshap.identify(GAME, k=2, budget=300, progress=True, random_state=0, **options)
        assert ending in capsys.readouterr().err.split("\r")[-1]


class HesitantRace:
    """A race whose completion decreases."""

    evaluations = spent = 7
    rule = budget = usage = None
    counting = "distinct"

    def __init__(self, *steps):
        self.steps = list(steps)
        self.done = False

    @property
    def completion(self):
        return self.steps.pop(0)

    @property
    def standing(self):
        raise topshap.RaceError("not started")


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def last_line(capsys):
    return capsys.readouterr().err.split("\r")[-1]


def test_the_bar_names_no_top_before_anything_distinguishes_the_players(capsys):
    race = topshap.Race(12, 2, budget=100, random_state=0)
    with progress_bar(race, clock=Clock()) as bar:
        race.tell(GAME(race.ask()))  # the values of the empty and the grand coalition
        bar.draw()
        assert "top:" not in last_line(capsys)
        race.tell(GAME(race.ask()))
        bar.draw()
        assert "top:" in last_line(capsys)


def test_the_bar_never_goes_back(capsys):
    clock, race = Clock(), HesitantRace(0.5, 0.2, 0.8, 0.8)
    with progress_bar(race, clock=clock) as bar:
        for percent in ("50%", "50%", "80%"):
            clock.now += 1.0
            bar.told()
            assert percent in last_line(capsys)


def test_the_drawing_rate_of_the_bar_is_limited(capsys):
    race = HesitantRace(0.5, 0.6)
    with progress_bar(race, clock=Clock()) as bar:
        for _ in range(1000):
            bar.told()
        assert race.steps == [0.5, 0.6]
    assert race.steps == [0.6]  # once at the end


def test_the_bar_shows_the_time_left(capsys):
    clock, race = Clock(), HesitantRace(0.25, 0.25)
    with progress_bar(race, clock=clock) as bar:
        clock.now = 60.0
        bar.told()
        assert "3:00 left" in last_line(capsys)


def test_the_time_left_ignores_values_from_a_store(capsys):
    clock = Clock()
    race = topshap.Race(12, 2, budget=100, algorithm="approshapley", random_state=0)
    race.tell(GAME(race.ask()))
    with progress_bar(race, clock=clock) as bar:
        bar.arrived(48, fresh=False)
        clock.now = 1.0
        bar.arrived(1, fresh=True)
        clock.now = 11.0
        bar.arrived(9, fresh=True)
        # 10 evaluations took 10 s; 40 of 100 are left.
        assert "60 of 100 evaluations, 0:40 left" in last_line(capsys)


def test_the_bar_moves_within_a_batch(capsys):
    clock = Clock()
    race = topshap.Race(12, 2, budget=100, random_state=0)
    race.tell(GAME(race.ask()))
    with progress_bar(race, clock=clock) as bar:
        for arrived, shown in ((8, "10 of 100"), (40, "50 of 100")):
            clock.now += 1.0
            bar.arrived(arrived)
            line = last_line(capsys)
            assert f"{shown} evaluations" in line
            assert shown[:2] + "%" in line


def test_the_bar_moves_as_the_values_of_a_batch_arrive(capsys, monkeypatch):
    monkeypatch.setattr("topshap.show.progress_view.SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr("topshap.show.progress_view.SHARE", float("inf"))
    oracle = topshap.Oracle(GAME, batch_size=7)
    topshap.identify(oracle, k=2, budget=60, algorithm="approshapley", progress=True, random_state=0)
    lines = capsys.readouterr().err.split("\r")
    assert sum("evaluations" in line for line in lines) > 60 // 7


def test_the_bar_of_an_interrupted_run_shows_its_cost(capsys):
    topshap.identify(GAME, k=2, budget=300, progress=True, callback=lambda race: race.evaluations > 50, random_state=0)
    last = last_line(capsys)
    assert "of 300 evaluations" in last
    assert "100%" not in last


def test_a_missing_tqdm_is_named_with_the_extra_to_install_before_anything_is_spent(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"topshap\[progress\]"):
        topshap.identify(lambda coalitions: pytest.fail("called"), 4, k=2, progress=True)


def test_the_bar_counts_calls_if_the_budget_does(capsys):
    topshap.identify(GAME, k=2, budget=1200, counting="calls", algorithm="cmcs", progress=True, random_state=0)
    assert "1,200 of 1,200 calls" in last_line(capsys)
