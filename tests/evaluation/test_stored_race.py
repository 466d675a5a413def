"""StoredRace: only unknown values are asked for, and every told value is stored."""

import numpy as np
import pytest

import topshap
from topshap import Race, Store, StoredRace
from topshap.core.errors import GameError, ParameterError, RaceError

N = 10
OPTIONS = {"budget": 150, "algorithm": "cmcs", "random_state": 0}


def additive(rows):
    return np.where(rows, np.arange(float(N)), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 3]


def run(**options):
    return topshap.identify(additive, N, 3, **(OPTIONS | options))


def stored(store, **options):
    return StoredRace(Race(N, 3, **(OPTIONS | options)), store)


def finish(race, game=additive):
    """Run a race to its end and return the number of evaluations."""
    asked = 0
    while not race.done:
        rows = race.ask()
        asked += len(rows)
        race.tell(game(rows))
    return asked


def same(one, other):
    assert one.players.tolist() == other.players.tolist()
    assert one.estimates.tobytes() == other.estimates.tobytes()
    assert (one.evaluations, one.calls, one.stopped) == (other.evaluations, other.calls, other.stopped)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "run.db", game="additive-v1") as store:
        yield store


def test_a_race_of_your_own_asks_only_for_what_the_store_does_not_know(store):
    run(store=store, budget=100)
    race = stored(store)
    assert finish(race) == 50
    same(race.result(), run())
    assert stored(store).done


@pytest.mark.parametrize("algorithm", ["auto", "greedy-cmcs", "cmcs@k", "kernelshap"])
def test_a_stored_race_is_the_same_race(store, algorithm):
    for paid in (150, 0):
        race = stored(store, algorithm=algorithm)
        assert finish(race) == paid
        same(race.result(), run(algorithm=algorithm))


def test_what_was_told_is_stored_before_the_race_is_over(store):
    race = stored(store, algorithm="greedy-cmcs", budget=500)
    race.tell(additive(race.ask()))
    rows = race.ask()
    race.tell(additive(rows))
    assert len(store) == 2 + len(rows)
    assert race.result().stopped == "interrupted"


def test_what_a_store_knows_is_held_to_the_value_range_too(store):
    run(store=store)
    with pytest.raises(GameError, match="must lie in the stated value_range"):
        stored(store, value_range=(0.0, 1.0))
    with pytest.raises(GameError, match="must lie in the stated value_range"):
        run(store=store, value_range=(0.0, 1.0))


@pytest.mark.parametrize("wrong", [[0.0, 7.0], [0.0, np.nan], [0.0], "text"])
def test_an_invalid_value_is_not_stored(store, wrong):
    race = stored(store, value_range=(0.0, 1.0))
    with pytest.raises(GameError):
        race.tell(wrong)
    assert len(store) == 0
    race.tell([0.0, -0.0])
    assert len(store) == 2


def test_values_that_vary_are_met_again_in_the_same_order(store):
    rng = np.random.default_rng(0)

    def noisy(rows):
        return additive(rows) + rng.normal(size=len(rows))

    first = stored(store, deterministic=False, budget=1200)
    assert finish(first, noisy) == 1200
    again = stored(store, deterministic=False, budget=1200)
    assert again.done
    same(again.result(), first.result())


def test_a_larger_budget_goes_on_where_the_race_ended(store):
    race = stored(store)
    finish(race)
    race.extend(400)
    assert finish(race) == 250
    same(race.result(), run(budget=400))
    again = stored(store)
    again.extend(400)
    assert again.done
    with pytest.raises(ParameterError, match="'budget' parameter of extend"):
        again.extend(3)


def test_a_race_that_is_over_says_so(store):
    race = stored(store)
    finish(race)
    with pytest.raises(RaceError, match="nothing left to ask"):
        race.ask()
    with pytest.raises(RaceError, match="nothing left to tell"):
        race.tell([])


@pytest.mark.parametrize("wrong", ["run.db", 3, Store("run.db")])
def test_a_race_needs_a_store_with_a_name(wrong):
    with pytest.raises(ParameterError, match="'store' parameter of StoredRace must be a Store with a name"):
        StoredRace(Race(4, 2), wrong)
