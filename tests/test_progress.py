"""The progress bar: it ends full, never goes back, and says what it needs."""

import sys

import pytest

import topshap
from topshap.progress import progress_bar

GAME = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=12)


@pytest.mark.parametrize("ends", [{"budget": 300}, {"epsilon": 0.3}, {"stop": topshap.stopping.TimeLimit(1e-9)}])
def test_the_bar_is_full_in_the_end_and_shows_what_was_spent(capsys, ends):
    top = topshap.identify(GAME, k=2, progress=True, random_state=0, **ends)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "100%" in last
    assert f"{top.evaluations} evaluations" in last


def test_without_a_bar_nothing_is_shown(capsys):
    topshap.identify(GAME, k=2, random_state=0)
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_the_bar_changes_nothing_about_the_answer():
    with_bar, without = (topshap.identify(GAME, k=2, progress=p, random_state=0) for p in (True, False))
    assert with_bar.estimates.tolist() == without.estimates.tolist()


class HesitantRace:
    """A race that seems further at first than it turns out to be."""

    evaluations = 7

    def __init__(self, *steps):
        self.steps = list(steps)
        self.done = False

    @property
    def completion(self):
        return self.steps.pop(0)


def test_the_bar_never_goes_back(capsys):
    seconds = iter(range(100))
    race = HesitantRace(0.5, 0.2, 0.8)
    with progress_bar(race, clock=lambda: next(seconds)) as show:
        for percent in ("50%", "50%", "80%"):
            show()
            assert percent in capsys.readouterr().err.split("\r")[-1]


def test_the_bar_is_not_asked_for_more_often_than_anybody_can_see(capsys):
    race = HesitantRace(0.5)
    with progress_bar(race, clock=lambda: 0.0) as show:
        for _ in range(1000):
            show()
    assert race.steps == [0.5]


def test_a_missing_tqdm_is_named_with_the_extra_to_install_before_anything_is_spent(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"topshap\[progress\]"):
        topshap.identify(lambda coalitions: pytest.fail("called"), 4, k=2, progress=True)
