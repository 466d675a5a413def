"""The history of a race."""

import numpy as np
import pytest

import topshap
from topshap.algorithms import ALGORITHMS


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_last_moment_is_the_result(random_game, algorithm):
    top = topshap.identify(random_game(8), k=3, budget=150, algorithm=algorithm, random_state=0)
    history = top.history
    assert np.all(np.diff(history.evaluations) > 0)
    assert history.evaluations[-1] == top.evaluations
    np.testing.assert_array_equal(history.estimates[-1], top.estimates)
    np.testing.assert_array_equal(history.std_errors[-1], top.std_errors)


def test_the_history_of_a_long_race_has_few_moments(random_game):
    top = topshap.identify(random_game(11), k=3, budget=2000, algorithm="greedy-cmcs", random_state=0)
    assert 40 < len(top.history.evaluations) < 130


def test_continuing_a_race_does_not_change_an_earlier_history(random_game):
    race = topshap.Race(6, 2, budget=60, algorithm="greedy-cmcs", random_state=0)
    game = random_game(6)
    for _ in range(3):
        race.tell(game(race.ask()))
    early = race.result().history
    kept = early.estimates.copy()
    while not race.done:
        race.tell(game(race.ask()))
    np.testing.assert_array_equal(early.estimates, kept)
    assert race.result().history.evaluations[-1] == 60
    with pytest.raises(ValueError, match="read-only"):
        early.estimates[0, 0] = 1.0
